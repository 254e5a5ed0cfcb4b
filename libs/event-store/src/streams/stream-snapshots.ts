import { deserialize, serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { Aggregate, DomainEvent, Loaded } from '../aggregate.js';
import type { EventStore, Revision, StreamName } from '../event-store.js';
import { NO_STREAM } from '../event-store.js';
import type { Snapshots } from '../snapshots.js';
import { PAGE } from '../stream-pages.js';

export interface SnapshotOptions {
  /** Store of states of long streams, for other processes and restarts. Default: none. */
  snapshots?: Snapshots;
  /** By category, a version that changes whenever the code changes that folds it. Without one its states are not stored. */
  stateVersions?: Readonly<Record<string, string>>;
  /** A snapshot could not be read or written: the stream is folded from its events. */
  onSnapshotFailure?: (stream: StreamName, error: Error) => void;
}

/** Limit of a serialized state. A larger one is folded from its events: parsing it would block the thread. */
const MAX_SNAPSHOT_BYTES = 4 * 1024 * 1024;

/** Snapshots of long streams. One only saves time: the state can always be folded from the events. */
export class StreamSnapshots {
  /** Revision of the newest snapshot of a stream that this process has read or written. */
  private readonly revisions: LRUCache<StreamName, Revision> | undefined;

  constructor(
    private readonly events: EventStore,
    private readonly options: SnapshotOptions,
    max: number,
  ) {
    if (max > 0) this.revisions = new LRUCache({ max });
  }

  /** The state of the stream's snapshot, if it is newer than `start` and matches the stored stream. */
  async skipTo<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    start: Loaded<State>,
  ): Promise<{ loaded: Loaded<State>; size: number }> {
    const without = { loaded: start, size: 0 };
    const stateVersion = this.options.stateVersions?.[aggregate.category];
    if (stateVersion === undefined) return without;
    try {
      const snapshot = await this.options.snapshots?.read(stream);
      if (snapshot?.stateVersion !== stateVersion || snapshot.revision <= start.revision) return without;
      const { revision, chain } = snapshot;
      const [event] = await this.events.readStream(stream, { from: revision, limit: 1 });
      // The snapshot is of another history when events were restored from an older backup.
      if (event?.revision !== revision || event.chain !== chain) return without;
      const state = deserialize(snapshot.state) as State;
      this.revisions?.set(stream, revision);
      return { loaded: { state, revision, chain }, size: snapshot.state.length };
    } catch (error) {
      // A snapshot only saves time: the state can always be folded.
      this.options.onSnapshotFailure?.(stream, error as Error);
      return without;
    }
  }

  /** Stores the state of a long stream once per page of its events, in the background. */
  store(aggregate: Aggregate<never, never>, stream: StreamName, { state, revision, chain }: Loaded<unknown>) {
    const { snapshots, stateVersions, onSnapshotFailure } = this.options;
    const stateVersion = stateVersions?.[aggregate.category];
    if (!snapshots || stateVersion === undefined) return;
    if (revision - (this.revisions?.get(stream) ?? NO_STREAM) < PAGE) return;
    this.revisions?.set(stream, revision);
    setImmediate(() => {
      const bytes = serialize(state);
      if (bytes.length > MAX_SNAPSHOT_BYTES) return;
      // Retried with the next page of events.
      snapshots
        .write(stream, { revision, chain, stateVersion, state: bytes })
        .catch((error: unknown) => onSnapshotFailure?.(stream, error as Error));
    });
  }
}
