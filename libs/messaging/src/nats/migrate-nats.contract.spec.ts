import { findNatsServer, freePort, NatsServer, skipSuite, waitUntil } from '@attestry/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { connectNats } from './connect-nats.js';
import { migrateNats } from './migrate-nats.js';

const program = findNatsServer();

if (program === undefined) {
  skipSuite('migration of a NATS cluster', 'nats-server is not installed (Debian: apt install nats-server)');
  // Jest wants a test in each file.
  it.skip('migration of a NATS cluster', () => undefined);
} else
  describe('migration of a NATS cluster of three servers', () => {
    let servers: NatsServer[];
    let connection: NatsConnection;
    let tests = 0;

    beforeAll(async () => {
      const ports = await Promise.all([1, 2, 3].map(() => freePort()));
      const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(', ');
      servers = await Promise.all(
        ports.map((port, n) => {
          const cluster = `cluster { name: test, listen: "127.0.0.1:${port}", routes: [${routes}] }`;
          return NatsServer.start(program, undefined, { lines: [`server_name: s${n}`, cluster] });
        }),
      );
      connection = await connectNats({ servers: servers.map(({ url }) => url) });
      const manager = await jetstreamManager(connection, { checkAPI: false });
      // A stream of three replicas needs a leader of the cluster, and all three servers in it.
      await waitUntil(
        async () => {
          try {
            await manager.streams.add({ name: 'ready', subjects: ['ready'], num_replicas: 3 });
            return true;
          } catch {
            return false;
          }
        },
        { timeoutMs: 60_000, what: 'the cluster to form' },
      );
    }, 90_000);
    afterAll(async () => {
      await connection.close();
      await Promise.all(servers.map((server) => server.stop()));
    });

    const streams = (name: string) => [`${name}_feed`, `KV_${name}_consumers`];
    const configOf = async (stream: string) => (await (await jetstreamManager(connection)).streams.info(stream)).config;
    const replicas = async (name: string) =>
      Promise.all(streams(name).map(async (stream) => (await configOf(stream)).num_replicas));
    const kept = (name: string, has: number, wanted: number | undefined) =>
      streams(name).map((stream) => ({ stream, has, wanted }));

    it('keeps the replicas of stream and buckets, unless it is told to lower them', async () => {
      const name = `replicas${++tests}`;
      expect(await migrateNats(connection, name, { replicas: 3 })).toEqual([]);
      expect(await replicas(name)).toEqual([3, 3]);
      expect(await migrateNats(connection, name)).toEqual(kept(name, 3, undefined));
      expect(await migrateNats(connection, name, { replicas: 1 })).toEqual(kept(name, 3, 1));
      expect(await replicas(name)).toEqual([3, 3]);
      expect(await migrateNats(connection, name, { replicas: 1, fewerReplicas: true })).toEqual([]);
      expect(await replicas(name)).toEqual([1, 1]);
      expect(await migrateNats(connection, name, { replicas: 3 })).toEqual([]);
      expect(await replicas(name)).toEqual([3, 3]);
    }, 60_000);

    it('keeps the limit of an existing feed, which an operator may have changed', async () => {
      const name = `limit${++tests}`;
      await migrateNats(connection, name);
      const day = nanos(86_400_000);
      const feed = `${name}_feed`;
      expect((await configOf(feed)).max_age).toBe(7 * day);
      for (const max_age of [day, 30 * day, nanos(60_000), 0]) {
        await (await jetstreamManager(connection)).streams.update(feed, { max_age, duplicate_window: nanos(60_000) });
        await migrateNats(connection, name);
        const found = await configOf(feed);
        expect(found.max_age).toBe(max_age);
        expect(found.duplicate_window).toBe(max_age === nanos(60_000) ? max_age : nanos(15 * 60_000));
      }
      await migrateNats(connection, name, { keepMs: 3_600_000 });
      expect((await configOf(feed)).max_age).toBe(nanos(3_600_000));
    });
  });
