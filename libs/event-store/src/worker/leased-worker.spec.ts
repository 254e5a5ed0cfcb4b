import { jest } from '@jest/globals';
import { UnknownEventType } from '../aggregate.js';
import { EventStoreUnavailable, Leases, type Lease } from '../event-store.js';
import { backOffMs } from './back-off.js';
import { HeldLease } from './held-lease.js';
import { LeasedWorker, type Term, type WorkerOptions } from './leased-worker.js';

const LEASE_MS = 6000;

/** Leases in memory, by the fake clock. */
class MemoryLeases extends Leases {
  readonly held = new Map<string, Lease>();
  /** Error with which calls reject. */
  away: Error | undefined;

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    if (this.away) throw this.away;
    const known = this.held.get(name);
    const isFree = !known || known.expiresAt <= performance.now();
    if (!isFree && known.holder !== holder) return undefined;
    const epoch = isFree ? (known?.epoch ?? 0) + 1 : known.epoch;
    const lease = { name, holder, epoch, expiresAt: performance.now() + ttlMs };
    this.held.set(name, lease);
    return lease;
  }
  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    if (this.away) throw this.away;
    return (await this.isHeld(lease)) ? this.acquire(lease.name, lease.holder, ttlMs) : undefined;
  }
  async release(lease: Lease): Promise<void> {
    if (await this.isHeld(lease)) this.held.set(lease.name, { ...lease, expiresAt: 0 });
  }
  async isHeld({ name, epoch }: Lease): Promise<boolean> {
    const known = this.held.get(name);
    return known?.epoch === epoch && known.expiresAt > performance.now();
  }
}

describe('a leased worker', () => {
  let leases: MemoryLeases;
  const started: LeasedWorker<never>[] = [];

  beforeEach(() => {
    jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    leases = new MemoryLeases();
  });
  afterEach(async () => {
    for (const worker of started.splice(0)) {
      const stopped = worker.stop();
      await pass(LEASE_MS);
      await stopped;
    }
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  /** Time in which this process does not run: no timer fires, the clock continues. */
  const pauseProcess = (ms: number) => {
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + ms);
  };
  const start = <Batch = void>(holder: string, options: Partial<WorkerOptions<Batch>>) => {
    const worker = new LeasedWorker<Batch>({
      name: 'work',
      lease: { leases, holder },
      batch: async () => 1000,
      random: () => 1,
      ...options,
    }).start();
    started.push(worker as unknown as LeasedWorker<never>);
    return worker;
  };

  it('handles its batches one after the other, with the pause that each requests', async () => {
    const at: number[] = [];
    const begun = performance.now();
    start('a', { batch: async () => (at.push(performance.now() - begun), at.length === 1 ? 200 : 1000) });
    await pass(2500);
    expect(at).toEqual([0, 200, 1200, 2200]);
  });

  it('runs in one process at a time; the other is a healthy standby, and takes over after expiry', async () => {
    const worked: string[] = [];
    const batch = (name: string) => async () => (worked.push(name), 1000);
    const reachable = { a: true };
    const ofFirst = new (class extends MemoryLeases {
      override acquire(...args: Parameters<Leases['acquire']>) {
        return reachable.a ? leases.acquire(...args) : Promise.reject(new Error('gone'));
      }
      override renew(...args: Parameters<Leases['renew']>) {
        return reachable.a ? leases.renew(...args) : Promise.reject(new Error('gone'));
      }
    })();
    const first = start('a', { lease: { leases: ofFirst, holder: 'a' }, batch: batch('a') });
    await pass(0);
    let looks = 0;
    const second = start('b', { batch: batch('b'), standBy: () => void looks++ });
    await pass(3000);
    expect(new Set(worked)).toEqual(new Set(['a']));
    expect([first.isLeading, second.isLeading]).toEqual([true, false]);
    expect(second.health).toEqual({ name: 'work', healthy: true });
    expect(looks).toBe(4);
    // Its process ends as if it were killed: it sends no further queries.
    reachable.a = false;
    await pass(LEASE_MS + 1000);
    expect([first.isLeading, second.isLeading]).toEqual([false, true]);
    expect(leases.held.get('work')).toMatchObject({ holder: 'b', epoch: 2 });
  });

  it('keeps the lease in a batch that takes longer than the lease', async () => {
    const ended = Promise.withResolvers<void>();
    let held: boolean | undefined;
    const long = start('a', {
      batch: async (_, term) => {
        await ended.promise;
        held = term.isHeld && !term.signal.aborted;
        return 1000;
      },
    });
    start('b', { batch: async () => Promise.reject(new Error('took over')) });
    await pass(10 * LEASE_MS);
    ended.resolve();
    await pass(0);
    expect(held).toBe(true);
    expect(long.isLeading).toBe(true);
    expect(leases.held.get('work')).toMatchObject({ holder: 'a' });
  });

  it('releases the lease when it is stopped, after the current batch', async () => {
    const ended = Promise.withResolvers<number>();
    const first = start('a', { batch: () => ended.promise });
    const second = start('b', {});
    await pass(100);
    const stopped = first.stop();
    await pass(2000);
    expect(second.isLeading).toBe(false);
    ended.resolve(0);
    await stopped;
    await pass(1000);
    expect(second.isLeading).toBe(true);
  });

  it('takes a released lease at once where releases are reported, and polls as often as leases are renewed [T832]', async () => {
    const onReleased = new Set<() => void>();
    let isLive = false;
    leases.watchReleases = (_, report) => {
      onReleased.add(report);
      return {
        get isLive() {
          return isLive;
        },
        close: () => void onReleased.delete(report),
      };
    };
    const report = () => onReleased.forEach((one) => one());
    let tries = 0;
    const first = start('a', {});
    await pass(0);
    const second = start('b', { standBy: () => void tries++ });
    await pass(3000);
    expect(tries).toBe(4);
    isLive = true;
    report();
    await pass(0);
    expect(tries).toBe(5);
    await pass(7200);
    expect(tries).toBe(8);
    await first.stop();
    report();
    await pass(0);
    expect(second.isLeading).toBe(true);
    await second.stop();
    expect(onReleased.size).toBe(0);
  });

  it('tries again when the lease was released during the try', async () => {
    const held = await leases.acquire('work', 'a', LEASE_MS);
    let report = () => undefined as void;
    leases.watchReleases = (_, onReleased) => ((report = onReleased), { isLive: true, close: () => undefined });
    const worker = start('b', {
      standBy: async () => {
        await leases.release(held!);
        report();
      },
    });
    await pass(0);
    expect(worker.isLeading).toBe(true);
  });

  it('releases the lease after a failure and waits twice as long after each further one', async () => {
    const at: number[] = [];
    const begun = performance.now();
    const reported: string[] = [];
    const worker = start('a', {
      batch: async () => {
        at.push(performance.now() - begun);
        if (at.length <= 8) throw new Error(`failure ${at.length}`);
        return 60_000;
      },
      onError: ({ message }, { healthy }) => void reported.push(`${message} ${healthy}`),
    });
    await pass(0);
    expect(worker.health).toEqual({ name: 'work', healthy: false, error: 'failure 1' });
    expect(leases.held.get('work')!.expiresAt).toBe(0);
    await pass(60_000);
    expect(at.slice(1).map((ms, index) => ms - at[index]!)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(reported.slice(0, 2)).toEqual(['failure 1 false', 'failure 2 false']);
    expect(worker.health).toEqual({ name: 'work', healthy: true });
  });

  it('retries an unreachable engine at least every two seconds', async () => {
    const at: number[] = [];
    start('a', {
      batch: async () => {
        at.push(performance.now());
        throw new EventStoreUnavailable('away');
      },
    });
    await pass(20_000);
    expect(at.at(-1)! - at.at(-2)!).toBe(2000);
  });

  it('leaves an unknown event type to a newer release, which is not a fault', async () => {
    const unknown = new UnknownEventType({ stream: 'thing-1', type: 'Renamed', schemaVersion: 1 });
    const older = start('old', { batch: () => Promise.reject(unknown) });
    await pass(0);
    const newer = start('new', {});
    await pass(1000);
    expect(older.health).toMatchObject({ healthy: true, error: unknown.message });
    expect(newer.isLeading).toBe(true);
  });

  it('does not start a batch that arrived after the expiry of its lease', async () => {
    const arrived = Promise.withResolvers<string>();
    const batches: string[] = [];
    const inputs: Promise<string | undefined>[] = [arrived.promise];
    start<string>('a', {
      openSource: async () => ({
        next: () => inputs.shift() ?? Promise.resolve(undefined),
        close: async () => undefined,
      }),
      batch: async (batch) => void batches.push(batch),
    });
    await pass(0);
    pauseProcess(LEASE_MS + 1);
    arrived.resolve('late');
    await pass(0);
    expect(batches).toEqual([]);
  });

  it('ends the term, visible to the batch, when the lease was lost', async () => {
    const terms: Term[] = [];
    const ended = Promise.withResolvers<number>();
    const worker = start('a', { batch: (_, term) => (terms.push(term), ended.promise) });
    await pass(0);
    leases.held.set('work', { ...leases.held.get('work')!, holder: 'b', epoch: 2, expiresAt: Infinity });
    expect(terms[0]!.isHeld).toBe(true);
    await pass(2400);
    expect([terms[0]!.isHeld, terms[0]!.signal.aborted]).toEqual([false, true]);
    ended.resolve(0);
    await pass(0);
    expect(worker.isLeading).toBe(false);
    expect(terms).toHaveLength(1);
  });

  it('is woken in the current or next pause between batches, not in a back-off', async () => {
    let batches = 0;
    const worker = start('a', {
      batch: async () => {
        batches += 1;
        if (batches === 2) worker.wake();
        if (batches === 4) throw new Error('away');
        return 60_000;
      },
    });
    await pass(10);
    worker.wake();
    await pass(10);
    expect(batches).toBe(3);
    worker.wake();
    await pass(10);
    expect(batches).toBe(4);
    worker.wake();
    await pass(10);
    expect(batches).toBe(4);
  });

  it('runs in every process without a lease', async () => {
    const worked: string[] = [];
    for (const name of ['a', 'b']) start(name, { lease: undefined, batch: async () => (worked.push(name), 1000) });
    await pass(0);
    expect(worked).toEqual(['a', 'b']);
  });

  it('runs within the term of another worker, with its epoch, and ends with it', async () => {
    const worked: number[] = [];
    let inner: LeasedWorker | undefined;
    const outer = start('a', {
      batch: async (_, within) => {
        const options = { name: 'part', batch: async (_: void, { epoch }: Term) => (worked.push(epoch), 100) };
        inner ??= start('a', { ...options, lease: undefined, within });
        return 60_000;
      },
    });
    await pass(250);
    expect([worked, inner!.isStopped]).toEqual([[1, 1, 1], false]);
    const stopped = outer.stop();
    await pass(250);
    await stopped;
    expect([worked.length, inner!.isStopped]).toEqual([3, true]);
  });

  it('keeps a lease during an outage shorter than the lease, and loses it in a longer one', async () => {
    const lease = (await HeldLease.acquire('work', { leases, holder: 'a' }))!;
    leases.away = new Error('away');
    await pass(LEASE_MS - 1000);
    leases.away = undefined;
    await pass(LEASE_MS);
    expect(lease.isHeld).toBe(true);
    leases.away = new Error('away');
    await pass(LEASE_MS);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
    leases.away = undefined;
    await lease.release();
  });
});

it('a back-off doubles up to its maximum, with the upper half random', () => {
  const backOff = { firstMs: 100, maxMs: 700 };
  expect([1, 2, 3, 4, 2000].map((failures) => backOffMs(failures, backOff, () => 1))).toEqual([
    100, 200, 400, 700, 700,
  ]);
  expect([1, 4].map((failures) => backOffMs(failures, backOff, () => 0))).toEqual([50, 350]);
});
