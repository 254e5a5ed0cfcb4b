import { SqliteThread } from '@attestry/sqlite';
import type { Lease } from '../event-store.js';
import { Leases } from '../event-store.js';
import { eventFileJobs } from './event-file.js';
import type { LeaseAnswer } from './lease.jobs.js';

/** Leases in a SQLite file: those of an {@link EmbeddedEventStore} in its own file, or in a file opened for them. */
export class EmbeddedLeases extends Leases {
  constructor(private readonly thread: SqliteThread) {
    super();
  }

  /** Leases in a separate file. `exclusive` as for the event store. */
  static async openFile(options: {
    file: string;
    exclusive?: boolean;
    onFailure?: (error: Error) => void;
  }): Promise<EmbeddedLeases> {
    return new EmbeddedLeases(
      await SqliteThread.spawn({
        file: options.file,
        ...eventFileJobs({ exclusive: options.exclusive ?? false }),
        onFailure: options.onFailure,
      }),
    );
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const granted = await this.thread.call<LeaseAnswer>('acquireLease', [name, holder, ttlMs]);
    return granted && { name, holder, epoch: granted[0], expiresAt: granted[1] };
  }

  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const { name, holder, epoch } = lease;
    const expiresAt = await this.thread.call<number | undefined>('renewLease', [name, holder, epoch, ttlMs]);
    return expiresAt === undefined ? undefined : { name, holder, epoch, expiresAt };
  }

  async release({ name, holder, epoch }: Lease): Promise<void> {
    await this.thread.call('releaseLease', [name, holder, epoch]);
  }

  isHeld({ name, holder, epoch }: Lease): Promise<boolean> {
    return this.thread.call<boolean>('isLeaseHeld', [name, holder, epoch]);
  }

  /** Closes the file of {@link openFile}; leases of an event store end with it. */
  close(): Promise<void> {
    return this.thread.close();
  }
}
