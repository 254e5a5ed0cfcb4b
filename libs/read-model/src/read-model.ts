import type { Kysely, Transaction } from 'kysely';
import type { Position, RecordedEvent } from '@attestry/event-store';

/** Versioned tables, filled from the event store in batches. */
interface ProjectedTables<Tables> {
  /** Permanent: names the checkpoint and the lease. */
  readonly name: string;
  readonly version: number;
  /** Logical table names, as used in `Tables`; the library maps them to `<name>_v<version>`. */
  readonly tables: readonly (keyof Tables & string)[];
  /** Creates the tables (through the mapped Kysely instance). */
  create(db: Kysely<Tables>): Promise<void>;
  /**
   * Applies one batch, in order. Its rows are committed together with the checkpoint `to`, up to which every event has then been applied once.
   */
  project(trx: Transaction<Tables>, events: readonly RecordedEvent[], to: Position): Promise<void>;
}

/** A projection of some categories, all of whose event types it supports. */
export interface SelectiveProjection<Tables> extends ProjectedTables<Tables> {
  readonly raw?: undefined;
  /** Event categories of the projection. */
  readonly categories: readonly string[];
  /** Event types it supports; a newer, unknown type stops the projection until a newer release takes over (ADR 0057). */
  readonly types: readonly string[];
}

/** A projection of every event as stored: of all categories, also of types that this release does not know. */
export interface RawProjection<Tables> extends ProjectedTables<Tables> {
  readonly raw: true;
  readonly categories?: undefined;
  readonly types?: undefined;
}

/**
 * Rows and checkpoint are written in one transaction. Raising `version` makes the runner fill new tables beside the old ones and switch
 * when they have caught up.
 */
export type Projection<Tables> = SelectiveProjection<Tables> | RawProjection<Tables>;

export interface ProjectionHealth {
  name: string;
  /** False from a failure to the next success. Waiting for a newer release is healthy (ADR 0057). */
  healthy: boolean;
  /** Message of the last failure, or what it waits for; until the next success. */
  error?: string;
  /** Position of the last event projected. */
  position?: string;
  /** True once it has reached the position that was the head when it started, or while another process holds the lease. */
  caughtUp: boolean;
}

/** A running projection of one service. */
export interface RunningProjection<Tables> {
  /** Reads from the active version. */
  readonly db: Kysely<Tables>;
  readonly health: ProjectionHealth;
  /**
   * Up to here events are in the tables. Where another process fills them this is read, in one statement for all projections that ask at the
   * same moment.
   */
  progress(): Promise<string | undefined>;
  /** False while the tables of another release's version are read: columns that this release added may be absent. */
  readonly readsOwnVersion: boolean;
  /** Resolves `true` once the position is projected, `false` after `timeoutMs` or when the lag is known to be longer (ADR 0057). */
  waitFor(position: string | undefined, timeoutMs: number): Promise<boolean>;
  /** Resolves once everything stored when called is projected. For tests and readiness. */
  waitForHead(timeoutMs: number): Promise<boolean>;
  /** {@link waitFor} the caller's own write, for at most 250 ms (ADR 0057). */
  ownWrite(position: string | undefined): Promise<boolean>;
  /** {@link waitForHead}, for as long as a caller waits for its own write. */
  ownWrites(): Promise<boolean>;
  /** Fills a fresh copy of the tables beside the active ones from the first event, then switches. */
  rebuild(): Promise<void>;
  stop(): Promise<void>;
}

/** The database of the read models is unreachable or refused. The read or write may be retried. */
export class ReadModelUnavailable extends Error {
  override readonly name = 'ReadModelUnavailable';
  readonly code = 'ReadModelUnavailable';
}

export abstract class ReadModels {
  /** Starts a projection under a lease and resolves when its tables exist and reading is possible. */
  abstract start<Tables>(projection: Projection<Tables>): Promise<RunningProjection<Tables>>;
  abstract health(): ProjectionHealth[];
  /** Position of each projection with tables, whether or not it runs in this process. */
  abstract checkpoints(): Promise<{ name: string; position: string }[]>;
  abstract close(): Promise<void>;
}

/** `data` and `nextCursor` of every list operation. */
export interface Page<T> {
  data: T[];
  nextCursor?: string;
}
