import type { SqliteThread } from '@attestry/sqlite';
import type { StreamName } from '../event-store.js';
import type { Snapshot, Snapshots } from '../snapshots.js';
import type { SnapshotRow } from './snapshot.jobs.js';

/** Snapshots in the file of an embedded event store. */
export class EmbeddedSnapshots implements Snapshots {
  constructor(private readonly thread: SqliteThread) {}

  async read(stream: StreamName): Promise<Snapshot | undefined> {
    const row = await this.thread.call<SnapshotRow | undefined>('readSnapshot', stream);
    if (!row) return undefined;
    const [revision, chain, stateVersion, state] = row;
    return { revision, chain, stateVersion, state };
  }

  async write(stream: StreamName, { revision, chain, stateVersion, state }: Snapshot): Promise<void> {
    const row: SnapshotRow = [revision, chain, stateVersion, state];
    await this.thread.call('writeSnapshot', [stream, ...row]);
  }
}
