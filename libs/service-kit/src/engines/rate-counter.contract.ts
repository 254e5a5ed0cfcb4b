import type { RateCounter } from './rate-counter.js';

/** Behavior of every {@link RateCounter}; `open` may be called twice for counters that share. Uses Jest's globals. */
export const describeRateCounter = (adapter: string, open: () => Promise<RateCounter>): void => {
  describe(`rate counter: ${adapter}`, () => {
    let counter: RateCounter;
    let keys = 0;
    const key = () => `key-${++keys}:${process.pid}`;
    beforeEach(async () => (counter = await open()));
    afterEach(() => counter.close());

    it('counts each key from one, within one minute', async () => {
      const [a, b] = [key(), key()];
      expect((await counter.count(a)).used).toBe(1);
      expect((await counter.count(a)).used).toBe(2);
      const { used, resetsInMs } = await counter.count(b);
      expect(used).toBe(1);
      expect(resetsInMs).toBeGreaterThan(50_000);
      expect(resetsInMs).toBeLessThanOrEqual(60_000);
    });

    it('counts several at once', async () => {
      const a = key();
      expect((await counter.count(a, 31)).used).toBe(31);
      expect((await counter.count(a)).used).toBe(32);
    });

    it('reads without counting', async () => {
      const a = key();
      expect(await counter.peek(a)).toEqual({ used: 0, resetsInMs: 60_000 });
      await counter.count(a);
      expect((await counter.peek(a)).used).toBe(1);
      expect((await counter.peek(a)).used).toBe(1);
    });

    it('loses no concurrent count', async () => {
      const a = key();
      const counted = await Promise.all(Array.from({ length: 200 }, async () => counter.count(a)));
      expect(counted.map(({ used }) => used).sort((x, y) => x - y)).toEqual(
        Array.from({ length: 200 }, (_, n) => n + 1),
      );
    });

    it('counts amounts, in windows of another length too', async () => {
      const a = key();
      expect((await counter.count(a, 5_000_000_000, 86_400)).used).toBe(5_000_000_000);
      const { used, resetsInMs } = await counter.count(a, 3_000_000_000, 86_400);
      expect(used).toBe(8_000_000_000);
      expect(resetsInMs).toBeGreaterThan(86_390_000);
      expect(resetsInMs).toBeLessThanOrEqual(86_400_000);
    });

    it('does not start a new window with each count', async () => {
      const a = key();
      const first = await counter.count(a);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect((await counter.count(a)).resetsInMs).toBeLessThanOrEqual(first.resetsInMs);
    });
  });
};
