import { setTimeout } from 'node:timers/promises';
import { until } from '../leases.contract.js';

/** A worker in a separate process, which counts: its batches are the numbers from 1. */
export interface WorkerProcess {
  /** It has started, with or without the lease. */
  readonly isReady: boolean;
  /** Whether it reports that it holds the lease. */
  readonly isHolding: boolean;
  /** Batches that it began. */
  readonly begun: readonly number[];
  /** Batches whose write went through, where the engine reports it to the writer. */
  readonly done: readonly number[];
  /** Messages of its failures. */
  readonly failures: readonly string[];
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<void>;
}

export interface WorkersUnderTest {
  /** @param options.batchMs how long a batch takes before it writes */
  start(options: { leaseMs: number; batchMs: number }): WorkerProcess;
  /** The last batch whose write is stored; 0 before the first. */
  position(): Promise<number>;
  /** Absent where writers never wait for each other: whether no process has the store locked. */
  isWritable?(): Promise<boolean>;
  /** A writer gets an error that its epoch is stale. Where acknowledgements are not answered, it is not. */
  reportsStaleWriters: boolean;
  /** All processes have ended by then. */
  close(): Promise<void>;
}

const LEASE_MS = 900;
const isConsecutive = (numbers: readonly number[]) => numbers.every((n, at) => at === 0 || n === numbers[at - 1]! + 1);

/** The contract of a leased worker between processes, for every engine that several of them can share. Uses Jest's globals. */
export const describeLeasedWorker = (name: string, setUp: () => Promise<WorkersUnderTest>): void => {
  describe(`a leased worker: ${name}`, () => {
    let under: WorkersUnderTest;
    let started: WorkerProcess[];
    /** Positions in the order in which they were seen. */
    let positions: number[];

    beforeEach(async () => {
      under = await setUp();
      started = [];
      positions = [];
    });
    afterEach(async () => {
      for (const worker of started) for (const signal of ['SIGCONT', 'SIGKILL'] as const) worker.signal(signal);
      await Promise.all(started.map(({ ended }) => ended));
      await under.close();
    });

    const start = (options: Partial<Parameters<WorkersUnderTest['start']>[0]> = {}) => {
      const worker = under.start({ leaseMs: LEASE_MS, batchMs: 60, ...options });
      started.push(worker);
      return worker;
    };
    /** One that runs, and one standby. */
    const pair = async (options?: Parameters<typeof start>[0]) => {
      const first = start(options);
      await until(() => first.begun.length > 0, 'the first worker');
      const second = start(options);
      await until(() => second.isReady, 'the second worker');
      return [first, second] as const;
    };
    const position = async () => {
      positions.push(await under.position());
      return positions.at(-1)!;
    };
    /** Between two transactions: in the middle of one it would keep the store locked, where engines lock it for one writer. */
    const pause = async (worker: WorkerProcess) => {
      for (;;) {
        worker.signal('SIGSTOP');
        if ((await under.isWritable?.()) ?? true) return;
        worker.signal('SIGCONT');
      }
    };
    const reaches = (least: number) => until(async () => (await position()) >= least, `position ${least}`);
    /** The fence held: no write of an older epoch took the position back, and no batch was stored twice. */
    const expectFenced = () => {
      expect(positions.filter((at, index) => index > 0 && at < positions[index - 1]!)).toEqual([]);
      const done = started.flatMap((worker) => worker.done);
      expect(new Set(done).size).toBe(done.length);
    };

    it('runs in one of two processes', async () => {
      const [first, second] = await pair();
      await reaches(5);
      expect([first.isHolding, second.isHolding]).toEqual([true, false]);
      expect(first.begun[0]).toBe(1);
      expect(isConsecutive(first.begun)).toBe(true);
      expect(second.begun).toEqual([]);
      expectFenced();
    });

    it('keeps the lease in a batch that takes three times as long as the lease', async () => {
      const [first, second] = await pair({ batchMs: 3 * LEASE_MS });
      await reaches(1);
      expect(first.begun.slice(0, 1)).toEqual([1]);
      expect([...second.begun, ...first.failures]).toEqual([]);
      expect(first.isHolding).toBe(true);
    });

    it('releases the lease when it is stopped, after the current batch', async () => {
      const [first, second] = await pair({ leaseMs: 6000 });
      await reaches(2);
      first.signal('SIGTERM');
      await first.ended;
      const ended = performance.now();
      const last = first.begun.at(-1)!;
      await until(() => second.begun.length > 0, 'the second worker to go on');
      expect(performance.now() - ended).toBeLessThan(4000);
      expect(second.begun[0]).toBe(last + 1);
      expect(await position()).toBeGreaterThanOrEqual(last);
    });

    it('is replaced after kill -9: the interrupted batch is handled again, and nothing is lost', async () => {
      // On a busy machine too, the position is read before the take-over.
      const [first, second] = await pair({ leaseMs: 3000 });
      await reaches(3);
      first.signal('SIGKILL');
      await first.ended;
      // The engine may still complete a write that the process had sent; the lease outlives this.
      await setTimeout(LEASE_MS / 4);
      const stored = await position();
      await until(() => second.begun.length > 0, 'the take-over');
      expect(second.begun[0]).toBe(stored + 1);
      await reaches(stored + 4);
      expect(isConsecutive(second.begun)).toBe(true);
      expectFenced();
    });

    it('writes nothing after a pause longer than the lease, detects it and stops', async () => {
      const [first, second] = await pair({ batchMs: 600 });
      const before = first.begun.length;
      await until(() => first.begun.length > before, 'a batch to begin');
      await pause(first);
      const current = first.begun.at(-1)!;
      await until(() => second.begun.length > 2, 'the take-over');
      expect(second.begun[0]).toBe(current);
      const done = [...first.done];
      const begun = first.begun.length;
      first.signal('SIGCONT');
      await until(() => !first.isHolding, 'the first worker to notice');
      if (under.reportsStaleWriters) await until(() => first.failures.length > 0, 'the refusal of its write');
      await reaches(second.begun.at(-1)! + 3);
      expect(first.begun).toHaveLength(begun);
      expect(first.done).toEqual(done);
      expect(first.failures).toEqual(under.reportsStaleWriters ? ['StaleEpoch'] : []);
      expect(isConsecutive(second.begun)).toBe(true);
      expectFenced();

      second.signal('SIGTERM');
      await second.ended;
      await until(() => first.begun.length > begun, 'the first worker to go on');
      expect(first.begun[begun]).toBe(second.begun.at(-1)! + 1);
      expectFenced();
    });
  });
};
