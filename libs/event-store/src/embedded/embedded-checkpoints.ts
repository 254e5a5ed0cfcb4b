import type { SqliteError, SqliteThread } from '@attestry/sqlite';
import type { Position } from '../event-store.js';
import type { ListedCheckpoints } from '../subscriptions.js';
import { StaleEpoch } from '../worker/leased-worker.js';

/** Checkpoints in the file of an embedded event store, fenced by its leases. */
export class EmbeddedCheckpoints implements ListedCheckpoints {
  constructor(private readonly thread: SqliteThread) {}

  read(name: string): Promise<Position | undefined> {
    return this.thread.call<Position | undefined>('readCheckpoint', name);
  }

  list(): Promise<{ name: string; position: Position }[]> {
    return this.thread.call('listCheckpoints');
  }

  async write(name: string, position: Position, epoch = 0): Promise<void> {
    try {
      await this.thread.call('writeCheckpoint', [name, position, epoch]);
    } catch (error) {
      if ((error as SqliteError).code === 'StaleEpoch')
        throw new StaleEpoch((error as Error).message, { cause: error });
      throw error;
    }
  }
}
