import { findRedisServer, RedisServer, skipSuite, waitUntil } from '@attestry/testing';
import { MemoryRateCounter } from './rate-counter.js';
import { describeRateCounter } from './rate-counter.contract.js';
import { RedisRateCounter } from './redis-rate-counter.js';

describeRateCounter('memory', async () => new MemoryRateCounter());

describe('rate counter: memory', () => {
  it('starts a new window after a minute', () => {
    let now = 0;
    const counter = new MemoryRateCounter(() => now);
    expect([counter.count('a'), counter.count('a')].map(({ used }) => used)).toEqual([1, 2]);
    now = 59_999;
    expect(counter.count('a')).toEqual({ used: 3, resetsInMs: 1 });
    expect(counter.peek('a')).toEqual({ used: 3, resetsInMs: 1 });
    now = 60_000;
    expect(counter.peek('a')).toEqual({ used: 0, resetsInMs: 60_000 });
    expect(counter.count('a')).toEqual({ used: 1, resetsInMs: 60_000 });
  });

  it('removes ended windows as new ones begin, and only those', () => {
    let now = 0;
    const counter = new MemoryRateCounter(() => now);
    for (let key = 0; key < 100; key++) counter.count(`old ${key}`);
    now = 30_000;
    counter.count('young');
    now = 60_000;
    for (let key = 0; key < 10; key++) counter.count(`new ${key}`);
    expect(counter.size).toBe(11);
    expect([counter.peek('old 0').used, counter.peek('young').used]).toEqual([0, 1]);
  });
});

const program = findRedisServer();
if (program === undefined) {
  skipSuite('rate counter: Redis', 'redis-server is not installed (Debian: apt install redis-server)');
} else {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start(program);
  });
  afterAll(() => server.stop());
  const errors: Error[] = [];
  const open = (timeoutMs?: number) =>
    RedisRateCounter.connect({ url: server.url, timeoutMs, onError: (error) => void errors.push(error) });

  describeRateCounter('Redis', open);

  describe('rate counter: Redis', () => {
    it('counts for all gateways together', async () => {
      const [one, other] = [await open(), await open()];
      await one.count('both');
      expect((await other.count('both')).used).toBe(2);
      await Promise.all([one.close(), other.close()]);
    });

    it('counts per gateway as soon as the server is unreachable, and together again afterwards', async () => {
      const [one, other] = [await open(), await open()];
      await one.count('away');
      await server.kill();
      const begun = performance.now();
      expect((await one.count('alone')).used).toBe(1);
      expect((await one.count('alone')).used).toBe(2);
      expect((await one.peek('alone')).used).toBe(2);
      expect((await other.count('alone')).used).toBe(1);
      expect(performance.now() - begun).toBeLessThan(2500);
      expect(errors.length).toBeGreaterThan(0);
      await server.restart();
      await waitUntil(async () => {
        await one.count('back');
        return (await other.peek('back')).used > 0;
      });
      await Promise.all([one.close(), other.close()]);
    });

    it('does not wait for an unresponsive server', async () => {
      const counter = await open(100);
      await counter.count('hangs');
      server.pause();
      try {
        const begun = performance.now();
        expect((await counter.count('hangs')).used).toBe(1);
        expect(performance.now() - begun).toBeLessThan(1000);
      } finally {
        server.resume();
      }
      await counter.close();
    });
  });
}
