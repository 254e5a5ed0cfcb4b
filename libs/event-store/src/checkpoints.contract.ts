import type { Leases } from './event-store.js';
import type { ListedCheckpoints } from './subscriptions.js';

interface Opened {
  checkpoints: ListedCheckpoints;
  leases: Leases;
}

export interface CheckpointsUnderTest extends Opened {
  /** Closes them and opens the same ones again. */
  reopen(): Promise<Opened>;
  close(): Promise<void>;
}

const STALE = { name: 'StaleEpoch', code: 'StaleEpoch' };

/** Behavior of every adapter of the checkpoints of named consumers. */
export const describeCheckpoints = (adapter: string, open: () => Promise<CheckpointsUnderTest>): void =>
  describe(`checkpoints: ${adapter}`, () => {
    let subject: CheckpointsUnderTest;
    let checkpoints: ListedCheckpoints;
    let leases: Leases;
    beforeEach(async () => {
      subject = await open();
      ({ checkpoints, leases } = subject);
    }, 60_000);
    afterEach(() => subject?.close());

    const acquire = async (name: string, holder: string) => {
      const lease = await leases.acquire(name, holder, 60_000);
      if (!lease) throw new Error(`${name} is held`);
      return lease;
    };

    it('keeps the last position of each consumer, also when reopened', async () => {
      expect(await checkpoints.read('one')).toBeUndefined();
      expect(await checkpoints.list()).toEqual([]);
      await checkpoints.write('two', '3');
      await checkpoints.write('one', '17');
      await checkpoints.write('one', '18');
      ({ checkpoints } = await subject.reopen());
      expect(await checkpoints.read('one')).toBe('18');
      expect(await checkpoints.list()).toEqual([
        { name: 'one', position: '18' },
        { name: 'two', position: '3' },
      ]);
    });

    it('accepts an older position: a consumer may be reset', async () => {
      await checkpoints.write('one', '18');
      await checkpoints.write('one', '2');
      expect(await checkpoints.read('one')).toBe('2');
    });

    it('refuses a write under an older epoch than the last write', async () => {
      await checkpoints.write('one', '5', 2);
      await expect(checkpoints.write('one', '6', 1)).rejects.toMatchObject(STALE);
      await expect(checkpoints.write('one', '6')).rejects.toMatchObject(STALE);
      expect(await checkpoints.read('one')).toBe('5');
      await checkpoints.write('one', '6', 2);
      await checkpoints.write('one', '7', 3);
      await checkpoints.write('other', '1', 1);
      expect(await checkpoints.read('one')).toBe('7');
    });

    it('refuses a former lease holder, before the new one has written', async () => {
      const former = await acquire('one', 'a');
      await checkpoints.write('one', '5', former.epoch);
      await leases.release(former);
      const holder = await acquire('one', 'b');
      expect(holder.epoch).toBeGreaterThan(former.epoch);
      await expect(checkpoints.write('one', '6', former.epoch)).rejects.toMatchObject(STALE);
      expect(await checkpoints.read('one')).toBe('5');
      await checkpoints.write('one', '7', holder.epoch);
      expect(await checkpoints.read('one')).toBe('7');
    });

    it('has the position of the newest epoch after concurrent writes', async () => {
      const outcomes = await Promise.allSettled(
        [1, 2, 3, 4].map((epoch) => checkpoints.write('one', `of ${epoch}`, epoch)),
      );
      expect(outcomes[3]!.status).toBe('fulfilled');
      expect(await checkpoints.read('one')).toBe('of 4');
    });
  });
