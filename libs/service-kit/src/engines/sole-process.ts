import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LeasedWorker, type Leases } from '@attestry/event-store';

/** Another process that does not share the bus uses the same database. */
export class AlreadyRunning extends Error {
  override readonly name = 'AlreadyRunning';
}

/** Held by a process that must be alone on its database. */
export const PLATFORM_LEASE = 'platform.sole-process';
/** The lease of a crashed process expires within this time. */
const CLAIM_MS = 8000;
const IDLE_MS = 60_000;

/**
 * A process with an embedded bus must be alone on its database: two would each publish into a feed that the other does not read. It is the
 * equivalent for a database of a data folder's lock. After an outage longer than the lease it is obtained again, unless another process was
 * faster.
 * @param onLost another process has obtained the lease since
 * @throws AlreadyRunning, or the error of the database
 */
export const claimDatabase = async (
  leases: Leases,
  onLost: (error: Error) => void,
  waitMs = CLAIM_MS,
): Promise<{ close(): Promise<void> }> => {
  const obtained = Promise.withResolvers<true>();
  let wasHeld = false;
  const worker = new LeasedWorker({
    name: PLATFORM_LEASE,
    lease: { leases, holder: randomUUID() },
    batch: async () => {
      wasHeld = true;
      obtained.resolve(true);
      return IDLE_MS;
    },
    standBy: () => {
      if (!wasHeld) return;
      worker.requestStop();
      onLost(new AlreadyRunning('another process took over this database'));
    },
    onError: obtained.reject,
  }).start();
  const given = new AbortController();
  try {
    const timeout = pause(waitMs, false as const, { signal: given.signal });
    if (!(await Promise.race([obtained.promise, timeout])))
      throw new AlreadyRunning('another process uses this database; set NATS_URL to run several processes');
  } catch (error) {
    await worker.stop();
    throw error;
  } finally {
    given.abort();
  }
  return { close: () => worker.stop() };
};
