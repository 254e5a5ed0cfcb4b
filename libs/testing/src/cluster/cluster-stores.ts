import { createHash } from 'node:crypto';
import type { EventStore, RecordedEvent } from '@attestry/event-store';
import { openProcessEngines, parseConfig, type ProcessEngines, type StateEngines } from '@attestry/service-kit';
import pg from 'pg';
import type { Cluster } from './cluster.js';

/** Data stored by a cluster, read through the platform's own ports. */
export type ClusterStores = ProcessEngines &
  Pick<StateEngines, 'events' | 'operationEvents' | 'leases' | 'checkpoints'>;

/** Opens the stores of a cluster, beside its processes. Close them with `close()`. */
export const openClusterStores = async ({ env }: Pick<Cluster, 'env'>): Promise<ClusterStores> =>
  (await openProcessEngines(
    parseConfig({ ...env, LOG_LEVEL: 'silent' }),
    new Set(['domain', 'operations'] as const),
  )) as ClusterStores;

export interface StoredEvent extends Omit<RecordedEvent, 'data'> {
  data: Record<string, unknown>;
}

/**
 * All events of a store, each checked on the way without the platform's own code: revisions without a gap, ids that occur
 * once, and the chain of each stream (SHA-256 over the previous value and the stored text of the event).
 */
export const readCheckedEvents = async (store: EventStore, faults: string[]): Promise<StoredEvent[]> => {
  const heads = new Map<string, { revision: number; chain: string }>();
  const ids = new Set<string>();
  const events: StoredEvent[] = [];
  for (let after: string | undefined, atEnd = false; !atEnd;) {
    const page = await store.readAll({ ...(after !== undefined && { after }), limit: 1000 });
    for (const event of page.events as StoredEvent[]) {
      const { stream, revision, id, type, schemaVersion, chain, text } = event;
      const head = heads.get(stream) ?? { revision: -1, chain: '' };
      if (revision !== head.revision + 1) faults.push(`${stream} goes from revision ${head.revision} to ${revision}`);
      const hashed = ['2', head.chain, id, type, schemaVersion, text.data, text.metadata.slice(55)].join('\n');
      const expected = createHash('sha256').update(hashed).digest('base64url');
      if (chain !== expected) faults.push(`the chain of ${stream} is broken at revision ${revision}`);
      if (ids.has(id)) faults.push(`event ${id} of ${stream} is stored twice`);
      ids.add(id);
      heads.set(stream, { revision, chain });
      events.push(event);
    }
    ({ atEnd } = page);
    after = page.next ?? after;
  }
  return events;
};

/** The read models of a cluster, as stored in PostgreSQL. */
export class ClusterTables {
  private readonly pool: pg.Pool;

  constructor(private readonly cluster: Cluster) {
    this.pool = new pg.Pool({ connectionString: cluster.env['DATABASE_URL'], max: 2 });
    // A restarted server takes its idle connections with it.
    this.pool.on('error', () => undefined);
  }

  private schema(of: 'read' | 'analytics'): string {
    return `${this.cluster.env['DATABASE_SCHEMA']}_${of}`;
  }

  /** The active tables of a projection, and their position. */
  async active(of: 'read' | 'analytics', projection: string): Promise<ActiveTables> {
    const schema = this.schema(of);
    const { rows } = await this.pool.query<{ v: string; g: string; tables: string; position: string; epoch: string }>(
      `SELECT p.active_version AS v, p.active_generation AS g, c.tables, c.position, c.epoch
       FROM ${schema}.projection p JOIN ${schema}.projection_checkpoint c
         ON c.name = p.name AND c.version = p.active_version AND c.generation = p.active_generation
       WHERE p.name = $1`,
      [projection],
    );
    const [row] = rows;
    if (!row) throw new Error(`${projection} has no tables`);
    const suffix = row.g === '1' ? `_v${row.v}` : `_v${row.v}_g${row.g}`;
    const tables = (JSON.parse(row.tables) as string[]).map((table) => `${schema}.${table}${suffix}`);
    return { generation: Number(row.g), tables, position: row.position, epoch: Number(row.epoch) };
  }

  /** Every row of the active tables, by the table's logical name, in a defined order. */
  async rows(of: 'read' | 'analytics', projection: string): Promise<Record<string, string[]>> {
    const { tables } = await this.active(of, projection);
    const found = await Promise.all(
      tables.map(async (table): Promise<[string, string[]]> => {
        const { rows } = await this.pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${table} t`);
        const name = table.slice(table.indexOf('.') + 1).replace(/_v\d+(_g\d+)?$/, '');
        return [name, rows.map(({ row }) => row).sort()];
      }),
    );
    return Object.fromEntries(found);
  }

  /** The lease as stored in the table; undefined when no process ever held it. */
  async lease(name: string, of: '' | '_operations' = ''): Promise<{ holder: string; epoch: number } | undefined> {
    const { rows } = await this.pool.query<{ holder: string; epoch: string }>(
      `SELECT holder, epoch FROM ${this.cluster.env['DATABASE_SCHEMA']}${of}.leases WHERE name = $1`,
      [name],
    );
    return rows[0] && { holder: rows[0].holder, epoch: Number(rows[0].epoch) };
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

export interface ActiveTables {
  generation: number;
  /** With schema and suffix. */
  tables: string[];
  position: string;
  epoch: number;
}
