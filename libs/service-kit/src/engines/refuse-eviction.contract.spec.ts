import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer, RedisServer, skipSuite, TEST_SETTINGS } from '@attestry/testing';
import { createClient } from '@redis/client';
import { ConfigError, parseConfig } from '../config/config.js';
import { inspectConfig } from '../config/load-config.js';
import { openProcessEngines } from './open-engines.js';

const program = findRedisServer();

if (program === undefined) {
  skipSuite('eviction of single-use values', 'redis-server is not installed (Debian: apt install redis-server)');
  it.skip('eviction of single-use values', () => undefined);
} else
  describe('a Redis server that may evict single-use values', () => {
    let server: RedisServer;
    let folder: string;
    beforeAll(async () => {
      server = await RedisServer.start(program);
      folder = mkdtempSync(join(tmpdir(), 'attestry-eviction-'));
    });
    afterAll(async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    });
    const setPolicy = async (policy: string) => {
      const client = await createClient({ url: server.url }).connect();
      await client.configSet('maxmemory-policy', policy);
      await client.close();
    };
    const open = () =>
      openProcessEngines(
        parseConfig({ ...TEST_SETTINGS, DATA_DIR: folder, REDIS_URL: server.url }),
        new Set(['replay-guard'] as const),
      );
    const inspect = (url = server.url) =>
      inspectConfig({
        NODE_ENV: 'production',
        SERVICE: 'issuance',
        PLAINTEXT_ENGINES: '127.0.0.1',
        REDIS_URL: url.replace('://', '://:word@'),
      });
    const TEXT =
      'REDIS_URL names a server with maxmemory-policy volatile-lru, which may evict used nonces and DPoP proofs before they expire: set maxmemory-policy to noeviction on the server';

    it('prevents the start, and doctor names it [T257]', async () => {
      await setPolicy('volatile-lru');
      await expect(open()).rejects.toEqual(new ConfigError([TEXT]));
      const client = await createClient({ url: server.url }).connect();
      await client.sendCommand(['CONFIG', 'SET', 'requirepass', 'word']);
      try {
        expect((await inspect()).faults).toContain(TEXT);
        await client.configSet('maxmemory-policy', 'noeviction');
        const { faults, passed } = await inspect();
        expect(faults.filter((fault) => fault.startsWith('REDIS_URL'))).toEqual([]);
        expect(passed).toContain('REDIS_URL: maxmemory-policy is noeviction');
      } finally {
        await client.sendCommand(['CONFIG', 'SET', 'requirepass', '']);
        await client.close();
      }
      await (await open()).close();
    });

    it('is not tested where it does not respond', async () => {
      const { skipped } = await inspect('redis://127.0.0.1:1');
      expect(skipped).toContain('REDIS_URL: the server did not respond to INFO; maxmemory-policy not tested');
    });
  });
