import type { Revision, StreamName } from './event-store.js';

/**
 * The state that a stream folds to at a revision (ADR 0055). It contains nothing beyond the events, so a lost one costs reads and never a
 * state.
 */
export interface Snapshot {
  /** Revision of the last event that is folded into the state. */
  revision: Revision;
  /** Chain value of that event. */
  chain: string;
  /** Version of the code that folded the state; a snapshot of any other is not used. */
  stateVersion: string;
  state: Uint8Array;
}

/** Stores at most one snapshot of each stream. */
export interface Snapshots {
  read(stream: StreamName): Promise<Snapshot | undefined>;
  /** Changes nothing where a snapshot of the same state version and an equal or higher revision is stored. */
  write(stream: StreamName, snapshot: Snapshot): Promise<void>;
}
