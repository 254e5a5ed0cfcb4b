import type { OnModuleInit } from '@nestjs/common';
import { StaleEpoch, type BackOff, type Clock, type Leases, type Term } from '@attestry/event-store';
import type { Projection, ReadModels, RunningProjection } from '@attestry/read-model';
import { sql, type Kysely, type Selectable } from 'kysely';
import type { Health } from '../process/health.js';
import type { Logger } from '../process/logger.js';
import { FailingRows } from './failing-rows.js';
import { PeriodicWork, type PeriodicWorkOptions } from './periodic-work.js';
import { startProjection } from './read-model.js';

/** `keep`: the projection changes or deletes the row. A time: the row is not due before it, measured as {@link DueRows.order}. */
export type RowOutcome = 'remove' | 'keep' | Date;

/** Rows of one table that are due, and what is done with each. */
export interface DueRows<Row> {
  table: string;
  /** Names a row, in statements and in the log. */
  key: readonly (keyof Row & string)[];
  /** Column by which rows are due, the first ones first: a time in RFC 3339, which a failed attempt moves. */
  order: keyof Row & string;
  /** Rows up to this time are due; undefined: none. */
  dueUpTo(now: Date): Date | undefined;
  /** A further condition: a column that is null, or that is not after the same time. */
  also?: { column: keyof Row & string; is: 'null' | 'due' };
  handle(row: Row, term: DueRowsTerm): Promise<RowOutcome>;
  /** Runs once for the due rows of a tenant, before each is handled. When it fails, it failed for each. */
  prepare?(tenantId: string, rows: readonly Row[]): Promise<void>;
  /** Log messages when a row begins to fail, and of its first success after that. */
  failure: string;
  recovery: string;
}

export type DueRowsTerm = Pick<Term, 'lease' | 'isHeld'>;

export interface DueRowsEngines {
  readModels: ReadModels;
  leases: Leases;
  health: Health;
  clock: Clock;
  logger: Logger;
}

type RowOf<Tables> = Selectable<Tables[keyof Tables]>;

export interface DueRowsOptions<Tables> extends PeriodicWorkOptions {
  /** It is started with the module. */
  projection: Projection<Tables>;
  /** A run begins once everything stored before it is projected, and does nothing if that takes longer. */
  catchUpMs?: number;
  rows: readonly DueRows<RowOf<Tables>>[];
}

/** Rows that are read at once. */
const PAGE = 500;
/** The longest time between two attempts at a row, in pauses of the job. */
const MOST_PAUSES = 15;

/**
 * A periodic job that handles the rows of a projection that are due, each once in a run. A row that fails is due again after a back-off of
 * its own and holds up no other; the process stays ready. The failure of an engine fails the run.
 */
export abstract class DueRowsJob<Tables> extends PeriodicWork implements OnModuleInit {
  private running!: RunningProjection<Tables>;
  private readonly failing: ReadonlyMap<DueRows<RowOf<Tables>>, FailingRows>;

  constructor(
    private readonly engines: DueRowsEngines,
    private readonly job: DueRowsOptions<Tables>,
  ) {
    super(engines.leases, engines.health, engines.logger, job);
    const backOff: BackOff = { firstMs: job.pauseMs, maxMs: MOST_PAUSES * job.pauseMs };
    const { logger } = engines;
    this.failing = new Map(
      job.rows.map((rows) => [
        rows,
        new FailingRows({ logger, failure: rows.failure, recovery: rows.recovery, backOff }),
      ]),
    );
  }

  async onModuleInit(): Promise<void> {
    this.running = await startProjection(this.engines.readModels, this.health, this.job.projection);
  }

  protected override get fault(): string | undefined {
    return [...this.failing.values()].map(({ error }) => error).find((error) => error !== undefined);
  }

  async runJob(term: DueRowsTerm): Promise<void> {
    await this.sweep(term);
  }

  /** One run. @returns the number of rows that were handled */
  async sweep(term: DueRowsTerm = { isHeld: true }): Promise<number> {
    const { catchUpMs, rows } = this.job;
    if (catchUpMs !== undefined && !(await this.running.waitForHead(catchUpMs))) return 0;
    // Rows of another version say nothing about what this one may end.
    if (!this.running.readsOwnVersion) return 0;
    const outages: unknown[] = [];
    let handled = 0;
    for (const each of rows) handled += await this.sweepRows(each, term, outages);
    if (outages.length) throw outages[0];
    return handled;
  }

  /** Rows that are due, the first ones first. */
  async due(now: Date, limit = PAGE): Promise<RowOf<Tables>[]> {
    const due: RowOf<Tables>[] = [];
    for (const rows of this.job.rows) {
      const upTo = rows.dueUpTo(now);
      if (upTo !== undefined) due.push(...(await this.page(rows, upTo, undefined, limit)));
    }
    return due;
  }

  private async sweepRows(rows: DueRows<RowOf<Tables>>, term: DueRowsTerm, outages: unknown[]): Promise<number> {
    const upTo = rows.dueUpTo(this.engines.clock.now());
    let handled = 0;
    for (let after: RowOf<Tables> | undefined; upTo !== undefined;) {
      const page = await this.page(rows, upTo, after);
      const failures = await this.prepare(rows, page);
      const [before, removed] = [outages.length, [] as RowOf<Tables>[]];
      try {
        for (const row of page) {
          if (!term.isHeld) return handled;
          const outcome = await this.handle(rows, row, term, failures.get(row), outages);
          if (outcome === 'remove') removed.push(row);
          else if (outcome instanceof Date) await this.postpone(rows, row, outcome);
          if (outcome !== undefined) handled++;
        }
      } finally {
        await this.remove(rows, removed);
      }
      // An outage may concern single rows, whose keys are elsewhere, but not a whole page.
      if (page.length < PAGE || outages.length - before === page.length) break;
      after = page.at(-1);
    }
    return handled;
  }

  private async prepare(rows: DueRows<RowOf<Tables>>, page: readonly RowOf<Tables>[]) {
    const failures = new Map<RowOf<Tables>, Error>();
    if (!rows.prepare) return failures;
    for (const [tenantId, ofTenant] of Map.groupBy(page, (row) => (row as { tenant_id: string }).tenant_id))
      try {
        await rows.prepare(tenantId, ofTenant);
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        for (const row of ofTenant) failures.set(row, failure);
      }
    return failures;
  }

  /** @returns undefined when it failed */
  private async handle(
    rows: DueRows<RowOf<Tables>>,
    row: RowOf<Tables>,
    term: DueRowsTerm,
    failure: Error | undefined,
    outages: unknown[],
  ): Promise<RowOutcome | undefined> {
    const failing = this.failing.get(rows)!;
    const fields = Object.fromEntries(
      rows.key.map((column) => [column === 'tenant_id' ? 'tenantId' : column, row[column]]),
    );
    const name = JSON.stringify(fields);
    try {
      if (failure) throw failure;
      const outcome = await rows.handle(row, term);
      failing.remove(name, fields);
      return outcome;
    } catch (error) {
      if (error instanceof StaleEpoch) throw error;
      const pauseMs = failing.add(name, error, fields);
      const upTo = rows.dueUpTo(this.engines.clock.now());
      if (pauseMs === undefined || upTo === undefined) outages.push(error);
      else await this.postpone(rows, row, new Date(upTo.getTime() + pauseMs));
      return undefined;
    }
  }

  private page(
    { table, key, order, also }: DueRows<RowOf<Tables>>,
    upTo: Date,
    after: RowOf<Tables> | undefined,
    limit = PAGE,
  ): Promise<RowOf<Tables>[]> {
    const columns = [order, ...key];
    const isUpTo = (column: string) => sql<boolean>`${sql.ref(column)} <= ${upTo.toISOString()}`;
    let query = this.tables.selectFrom(table).selectAll().where(isUpTo(order));
    if (also?.is === 'null') query = query.where(sql<boolean>`${sql.ref(also.column)} is null`);
    if (also?.is === 'due') query = query.where(isUpTo(also.column));
    if (after !== undefined) query = query.where(sql<boolean>`${namesOf(columns)} > ${valuesOf(after, columns)}`);
    for (const column of columns) query = query.orderBy(column);
    return query.limit(limit).execute() as Promise<RowOf<Tables>[]>;
  }

  /** Unless the projection changed them in the meantime. */
  private async remove({ table, key, order }: DueRows<RowOf<Tables>>, rows: readonly RowOf<Tables>[]): Promise<void> {
    if (!rows.length) return;
    const columns = [...key, order];
    const values = sql.join(rows.map((row) => valuesOf(row, columns)));
    await this.tables
      .deleteFrom(table)
      .where(sql<boolean>`${namesOf(columns)} in (values ${values})`)
      .execute();
  }

  /** Unless the projection changed it in the meantime. The times of events return with a rebuild. */
  private async postpone(
    { table, key, order }: DueRows<RowOf<Tables>>,
    row: RowOf<Tables>,
    until: Date,
  ): Promise<void> {
    const columns = [...key, order];
    await this.tables
      .updateTable(table)
      .set({ [order]: until.toISOString() })
      .where(sql<boolean>`${namesOf(columns)} = ${valuesOf(row, columns)}`)
      .execute();
  }

  private get tables(): Kysely<Record<string, Record<string, unknown>>> {
    return this.running.db as unknown as Kysely<Record<string, Record<string, unknown>>>;
  }
}

const namesOf = (columns: readonly string[]) => sql`(${sql.join(columns.map((column) => sql.ref(column)))})`;
const valuesOf = <Row>(row: Row, columns: readonly (keyof Row & string)[]) =>
  sql`(${sql.join(columns.map((column) => row[column]))})`;
