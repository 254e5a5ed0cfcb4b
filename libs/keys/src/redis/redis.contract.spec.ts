import { findRedisServer, RedisServer, skipSuite, waitUntil } from '@attestry/testing';
import { createClient } from '@redis/client';
import { EvictingReplayStore, ReplayGuardUnavailable } from '../vault/key-vault.js';
import { describeReplayGuard } from '../vault/keys.contract.js';
import { openRedisReplayGuard } from './load-redis.js';
import { inspectRedis, RedisReplayGuard, type RedisReplayGuardOptions } from './redis-replay-guard.js';

const program = findRedisServer();

if (program === undefined) {
  skipSuite('ReplayGuard: Redis', 'no redis-server or valkey-server is installed (Debian: apt install redis-server)');
  // Jest wants a test in each file.
  it.skip('ReplayGuard: Redis', () => undefined);
} else {
  let server: RedisServer;
  let tests = 0;
  beforeAll(async () => {
    server = await RedisServer.start(program);
  });
  afterAll(() => server.stop());

  const errors: Error[] = [];
  const open = (options: Partial<RedisReplayGuardOptions> = {}) =>
    RedisReplayGuard.connect({ url: server.url, onError: (error) => void errors.push(error), ...options });

  describeReplayGuard('Redis', async () => {
    const namespace = `test${++tests}`;
    const fail = (error: Error) => {
      throw error;
    };
    return {
      open: (clock) => openRedisReplayGuard({ url: server.url, onError: fail, namespace, clock }),
      remove: async () => undefined,
    };
  });

  describe('RedisReplayGuard', () => {
    let guard: RedisReplayGuard;
    const until = () => new Date(Date.now() + 300_000);
    const spend = (value: string) => guard.spendAll('t1', [{ scope: 'nonce', value, expiresAt: until() }]);
    beforeEach(async () => {
      errors.length = 0;
      guard = await open({ namespace: `own${++tests}`, timeoutMs: 500 });
    });
    afterEach(() => guard.close());

    it('fails closed while the server is unreachable, keeps its values over a restart of the server, and reconnects', async () => {
      expect(await spend('before')).toBe(true);
      await server.kill();
      const begun = performance.now();
      await expect(spend('amid')).rejects.toThrow(ReplayGuardUnavailable);
      expect(performance.now() - begun).toBeLessThan(1000);
      await server.restart();
      const spent = await waitUntil(async () => [await spend('before')]);
      expect(spent).toEqual([false]);
      expect(await spend('amid')).toBe(true);
      expect(errors.length).toBeGreaterThan(0);
    });

    it('fails closed when the server does not answer in time', async () => {
      server.pause();
      const begun = performance.now();
      try {
        await expect(spend('v')).rejects.toThrow(ReplayGuardUnavailable);
      } finally {
        server.resume();
      }
      expect(performance.now() - begun).toBeLessThan(2000);
    });

    it('lets the server delete a value some time after its expiry, and stores none in plain text', async () => {
      await spend('a-very-particular-value');
      const client = await createClient({ url: server.url }).connect();
      try {
        const keys = await client.keys(`own${tests}:*`);
        expect(keys).toHaveLength(1);
        const left = await client.pTTL(keys[0]!);
        expect(left).toBeGreaterThan(300_000);
        expect(left).toBeLessThanOrEqual(360_000);
        expect(keys[0]).not.toContain('particular');
        expect(await client.get(keys[0]!)).toMatch(/^\d+$/);
        expect(keys[0]).toMatch(new RegExp(`^own${tests}:replay:{t1}:[A-Za-z0-9_-]{22}$`));
      } finally {
        await client.close();
      }
    });

    it('refuses a server that may evict spent values, also where CONFIG is forbidden [T257]', async () => {
      const client = await createClient({ url: server.url }).connect();
      try {
        await client.sendCommand(['ACL', 'SETUSER', 'managed', 'on', '>secret', '~*', '&*', '+@all', '-config']);
        const managed = server.url.replace('://', '://managed:secret@');
        await expect(inspectRedis(managed)).resolves.toBeUndefined();
        await client.configSet('maxmemory-policy', 'allkeys-lru');
        const refused = new EvictingReplayStore('allkeys-lru');
        expect(refused.message).toContain('maxmemory-policy allkeys-lru');
        for (const url of [server.url, managed]) {
          await expect(open({ url })).rejects.toEqual(refused);
          await expect(inspectRedis(url)).rejects.toEqual(refused);
        }
      } finally {
        await client.configSet('maxmemory-policy', 'noeviction');
        await client.close();
      }
      await expect(inspectRedis('redis://127.0.0.1:1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    });

    it('spends nothing after a reconnection to a server that may evict, until it no longer does [T481]', async () => {
      const client = await createClient({ url: server.url }).connect();
      const refusal = async () => {
        const error: unknown = await spend('v').catch((refused: unknown) => refused);
        return error instanceof ReplayGuardUnavailable && error.cause instanceof EvictingReplayStore && error.message;
      };
      try {
        await client.configSet('maxmemory-policy', 'allkeys-lru');
        await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
        expect(await waitUntil(refusal)).toContain('maxmemory-policy allkeys-lru');
        expect(await refusal()).toBeTruthy();
        await client.configSet('maxmemory-policy', 'noeviction');
        expect(await spend('v')).toBe(true);
        expect(await spend('v')).toBe(false);
      } finally {
        await client.configSet('maxmemory-policy', 'noeviction');
        await client.close();
      }
    });
  });
}
