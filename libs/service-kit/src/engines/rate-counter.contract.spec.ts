import { findRedisServer, RedisServer, skipSuite, waitUntil } from '@attestry/testing';
import { MemoryRateCounter } from './rate-counter.js';
import { describeRateCounter } from './rate-counter.contract.js';
import { RedisRateCounter } from './redis-rate-counter.js';

describeRateCounter('memory', async () => new MemoryRateCounter());

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
