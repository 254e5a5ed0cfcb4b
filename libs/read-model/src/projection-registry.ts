import type { Kysely, Transaction } from 'kysely';
import { StaleEpoch, type Position } from '@attestry/event-store';
import { migrate } from './migrate.js';
import type { Migration } from './migrate.js';
import type { Projection } from './read-model.js';
import { TableNames, tableSuffix } from './table-names.js';

export interface RegistryTables {
  /** One row per projection: the tables that are read. */
  projection: { name: string; active_version: number | null; active_generation: number | null };
  /** One row per set of tables. `retired_at` (milliseconds): no longer fed, dropped after a grace for readers. */
  projection_checkpoint: {
    name: string;
    version: number;
    generation: number;
    epoch: number;
    position: string | null;
    /** JSON array of logical names, so that a release that no longer declares them can still drop them. */
    tables: string;
    retired_at: number | null;
  };
}

export interface Generation {
  name: string;
  version: number;
  generation: number;
  position?: Position;
}

type Db = Kysely<RegistryTables>;
type Trx = Transaction<RegistryTables>;
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the registry handles projections of every kind of table
type AnyProjection = Projection<any>;

/** In SQLite; postgres/schema.ts has the same for PostgreSQL, where services may not create these. */
const migrations: Migration<RegistryTables>[] = [
  {
    name: '0001-projections',
    async up(trx) {
      await trx.schema
        .createTable('projection')
        .addColumn('name', 'text', (c) => c.primaryKey())
        .addColumn('active_version', 'integer')
        .addColumn('active_generation', 'integer')
        .execute();
      await trx.schema
        .createTable('projection_checkpoint')
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('version', 'integer', (c) => c.notNull())
        .addColumn('generation', 'integer', (c) => c.notNull())
        .addColumn('epoch', 'bigint', (c) => c.notNull())
        .addColumn('position', 'text')
        .addColumn('tables', 'text', (c) => c.notNull())
        .addColumn('retired_at', 'bigint')
        .addPrimaryKeyConstraint('projection_checkpoint_pk', ['name', 'version', 'generation'])
        .execute();
    },
  },
];

const toGeneration = (row: {
  name: string;
  version: number;
  generation: number;
  position: string | null;
}): Generation => ({
  name: row.name,
  version: row.version,
  generation: row.generation,
  position: row.position ?? undefined,
});

const keyOf = (g: Generation) => ({ name: g.name, version: g.version, generation: g.generation });

/** Everything stored, as one statement reads it. */
type Snapshot = { generation: Generation; isActive: boolean; retiredAt: number | undefined; tables: string }[];
/** Longest age of a snapshot, milliseconds: the runners of a process look at the same moments, so that they share one. */
const RECENT_MS = 250;

/** Metadata of projections: which tables exist, their positions, which are read. */
export class ProjectionRegistry {
  private recent: { at: number; snapshot: Promise<Snapshot> } | undefined;

  constructor(private readonly db: Db) {}

  migrate(): Promise<void> {
    return migrate(this.db, 'read-model', migrations);
  }

  /** Creates the first tables if missing. Returns the tables that are read. */
  openGeneration(projection: AnyProjection): Promise<Generation> {
    return this.change(async (trx) => {
      await this.lock(trx, projection.name);
      const active = await this.active(trx, projection.name);
      if (active) return active;
      const first = await this.create(trx, projection);
      await this.activate(trx, first);
      return first;
    });
  }

  async active(db: Db, name: string): Promise<Generation | undefined> {
    const row = await db
      .selectFrom('projection as p')
      .innerJoin('projection_checkpoint as c', (join) =>
        join
          .onRef('c.name', '=', 'p.name')
          .onRef('c.version', '=', 'p.active_version')
          .onRef('c.generation', '=', 'p.active_generation'),
      )
      .select(['c.name', 'c.version', 'c.generation', 'c.position'])
      .where('p.name', '=', name)
      .executeTakeFirst();
    return row && toGeneration(row);
  }

  /** Positions of the tables that are read, per projection. */
  async positions(): Promise<{ name: string; position: Position }[]> {
    const rows = await this.db.selectFrom('projection').select('name').orderBy('name').execute();
    const active = await Promise.all(rows.map(({ name }) => this.current(name)));
    return active.flatMap((found) =>
      found?.position === undefined ? [] : [{ name: found.name, position: found.position }],
    );
  }

  current(name: string): Promise<Generation | undefined> {
    return this.active(this.db, name);
  }

  /** {@link current}, as it was a moment ago. */
  async recentlyCurrent(name: string): Promise<Generation | undefined> {
    return (await this.snapshot()).find((row) => row.generation.name === name && row.isActive)?.generation;
  }

  /**
   * Raises the epoch of every checkpoint, which fences former holders, and ensures tables of this version.
   * @throws StaleEpoch when a newer epoch exists
   */
  takeOver(projection: AnyProjection, epoch: number): Promise<void> {
    return this.change(async (trx) => {
      await this.lock(trx, projection.name);
      const newer = await trx
        .selectFrom('projection_checkpoint')
        .select((e) => e.fn.max('epoch').as('epoch'))
        .where('name', '=', projection.name)
        .executeTakeFirst();
      if (Number(newer?.epoch ?? 0) > epoch) {
        throw new StaleEpoch(`checkpoint of ${projection.name} has epoch ${newer!.epoch}, the lease only ${epoch}`);
      }
      await trx.updateTable('projection_checkpoint').set({ epoch }).where('name', '=', projection.name).execute();
      const live = await this.live(trx, projection.name, projection.version);
      if (!live.length) await this.create(trx, projection);
    });
  }

  /** Tables of this version that are fed: those that are read, and those filled beside them. */
  async live(db: Db, name: string, version: number): Promise<Generation[]> {
    const rows = await db
      .selectFrom('projection_checkpoint')
      .select(['name', 'version', 'generation', 'position'])
      .where('name', '=', name)
      .where('version', '=', version)
      .where('retired_at', 'is', null)
      .orderBy('generation')
      .execute();
    return rows.map(toGeneration);
  }

  /** The generations are those of a moment ago; what was written through this registry counts at once. */
  async fed({ name, version }: AnyProjection): Promise<Generation[]> {
    return (await this.snapshot()).flatMap(({ generation, retiredAt }) =>
      generation.name === name && generation.version === version && retiredAt === undefined ? [generation] : [],
    );
  }

  private snapshot(): Promise<Snapshot> {
    const at = performance.now();
    if (!this.recent || at - this.recent.at > RECENT_MS) {
      const snapshot = this.read();
      this.recent = { at, snapshot };
      snapshot.catch(() => (this.recent = undefined));
    }
    return this.recent.snapshot;
  }

  private async read(): Promise<Snapshot> {
    const rows = await this.db
      .selectFrom('projection_checkpoint as c')
      .innerJoin('projection as p', 'p.name', 'c.name')
      .select(['c.name', 'c.version', 'c.generation', 'c.position', 'c.retired_at', 'c.tables'])
      .select(['p.active_version', 'p.active_generation'])
      .orderBy('c.generation')
      .execute();
    return rows.map((row) => ({
      generation: toGeneration(row),
      isActive: row.version === row.active_version && row.generation === row.active_generation,
      retiredAt: row.retired_at === null ? undefined : Number(row.retired_at),
      tables: row.tables,
    }));
  }

  /** A transaction after which no earlier snapshot is used. */
  private async change<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
    try {
      return await this.db.transaction().execute(work);
    } finally {
      this.recent = undefined;
    }
  }

  /** Requests a fresh copy; one that is being filled already is used. The holder of the lease fills it. */
  requestRebuild(projection: AnyProjection): Promise<Generation> {
    return this.change(async (trx) => {
      await this.lock(trx, projection.name);
      const active = await this.active(trx, projection.name);
      const live = await this.live(trx, projection.name, projection.version);
      const filling = live.find((g) => g.version !== active?.version || g.generation !== active.generation);
      return filling ?? (await this.create(trx, projection));
    });
  }

  /** The checkpoint as stored; `undefined` when the tables are retired or dropped. */
  async checkpoint(g: Generation): Promise<Generation | undefined> {
    const row = await this.db
      .selectFrom('projection_checkpoint')
      .select(['name', 'version', 'generation', 'position'])
      .where((e) => e.and(keyOf(g)))
      .where('retired_at', 'is', null)
      .executeTakeFirst();
    return row && toGeneration(row);
  }

  /**
   * Moves the checkpoint inside the transaction of its rows. @throws StaleEpoch when epoch or position have been changed by another holder
   */
  async advance(trx: Trx, g: Generation, epoch: number, from: Position | undefined, to: Position): Promise<void> {
    const result = await trx
      .updateTable('projection_checkpoint')
      .set({ position: to })
      .where((e) => e.and(keyOf(g)))
      .where('epoch', '=', epoch)
      .where('position', from === undefined ? 'is' : '=', from ?? null)
      .where('retired_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (result.numUpdatedRows !== 1n) {
      throw new StaleEpoch(`checkpoint of ${g.name} version ${g.version} was moved by another process`);
    }
  }

  /**
   * Makes `g` the tables that are read and retires all others, unless tables of the same version are ahead of it. `covers`: whether the new
   * tables contain everything up to a position. Returns whether it switched. @throws StaleEpoch
   */
  async switchTo(
    g: Generation,
    epoch: number,
    now: number,
    covers: (position: Position | undefined) => Promise<boolean>,
  ): Promise<boolean> {
    return this.change(async (trx) => {
      await this.lock(trx, g.name);
      await this.lockCheckpoints(trx, g.name);
      const active = await this.active(trx, g.name);
      if (active?.version === g.version && active.generation === g.generation) return true;
      if (active?.version === g.version && !(await covers(active.position))) return false;
      const held = await trx
        .selectFrom('projection_checkpoint')
        .select('epoch')
        .where((e) => e.and(keyOf(g)))
        .where('retired_at', 'is', null)
        .executeTakeFirst();
      if (Number(held?.epoch) !== epoch) throw new StaleEpoch(`${g.name} is held by another process`);
      await trx
        .updateTable('projection_checkpoint')
        .set({ retired_at: now })
        .where('name', '=', g.name)
        .where('retired_at', 'is', null)
        .where((e) => e.or([e('version', '!=', g.version), e('generation', '!=', g.generation)]))
        .execute();
      await this.activate(trx, g);
      return true;
    });
  }

  /** Drops tables retired before `before` (milliseconds). */
  async dropRetired(name: string, before: number): Promise<void> {
    const all = await this.snapshot();
    const retired = all.filter(
      ({ generation, retiredAt }) => generation.name === name && retiredAt !== undefined && retiredAt <= before,
    );
    for (const { generation: g, tables: stored } of retired) {
      await this.change(async (trx) => {
        const tables = JSON.parse(stored) as string[];
        const old = trx.withPlugin(new TableNames(tables, tableSuffix(g.version, g.generation)));
        for (const table of tables.toReversed()) await old.schema.dropTable(table).ifExists().execute();
        await trx
          .deleteFrom('projection_checkpoint')
          .where((e) => e.and(keyOf(g)))
          .execute();
      });
    }
  }

  private async create(trx: Trx, projection: AnyProjection): Promise<Generation> {
    const { name, version } = projection;
    const last = await trx
      .selectFrom('projection_checkpoint')
      .select((e) => [e.fn.max('generation').as('generation'), e.fn.max('epoch').as('epoch')])
      .where('name', '=', name)
      .where('version', '=', version)
      .executeTakeFirst();
    const epoch = await trx
      .selectFrom('projection_checkpoint')
      .select((e) => e.fn.max('epoch').as('epoch'))
      .where('name', '=', name)
      .executeTakeFirst();
    const generation = Number(last?.generation ?? 0) + 1;
    await trx
      .insertInto('projection_checkpoint')
      .values({
        name,
        version,
        generation,
        epoch: Number(epoch?.epoch ?? 0),
        position: null,
        tables: JSON.stringify(projection.tables),
        retired_at: null,
      })
      .execute();
    await projection.create(trx.withPlugin(new TableNames(projection.tables, tableSuffix(version, generation))));
    return { name, version, generation };
  }

  private async activate(trx: Trx, g: Generation): Promise<void> {
    await trx
      .updateTable('projection')
      .set({ active_version: g.version, active_generation: g.generation })
      .where('name', '=', g.name)
      .execute();
  }

  /** Batches wait: no position changes between the comparison and the switch. */
  private async lockCheckpoints(trx: Trx, name: string): Promise<void> {
    await trx
      .updateTable('projection_checkpoint')
      .set((e) => ({ epoch: e.ref('epoch') }))
      .where('name', '=', name)
      .where('retired_at', 'is', null)
      .execute();
  }

  /** Concurrent creation, take-over or switch of the same projection waits here (SQLite: at BEGIN IMMEDIATE already). */
  private async lock(trx: Trx, name: string): Promise<void> {
    await trx
      .insertInto('projection')
      .values({ name, active_version: null, active_generation: null })
      .onConflict((c) => c.column('name').doUpdateSet({ name }))
      .execute();
  }
}
