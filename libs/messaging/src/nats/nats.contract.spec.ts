import { describeLeasedWorker, itGrantsLeases } from '@attestry/event-store';
import { findNatsServer, NatsServer, skipSuite, startWorkerProcess, waitUntil } from '@attestry/testing';
import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { RequestFailed, type ConsumerOptions, type Reply } from '../message-bus.js';
import { describeMessageBus, type BusUnderTest } from '../messaging.contract.js';
import { connectNats } from './connect-nats.js';
import { migrateNatsServer, openNatsBus } from './load-nats.js';
import { migrateNats } from './migrate-nats.js';
import { Names } from './names.js';
import { NatsBus, type NatsBusOptions } from './nats-bus.js';
import { NatsLeases } from './nats-leases.js';

const program = findNatsServer();

if (program === undefined) {
  skipSuite('message bus: NATS', 'nats-server is not installed (Debian: apt install nats-server)');
  // Jest wants a test in each file.
  it.skip('message bus: NATS', () => undefined);
} else {
  let server: NatsServer;
  let tests = 0;
  beforeAll(async () => {
    server = await NatsServer.start(program);
  });
  afterAll(() => server.stop());

  const make = async (): Promise<BusUnderTest> => {
    const options = { servers: [server.url], namespace: `test${++tests}` };
    const errors: { subject: string; error: unknown }[] = [];
    await migrateNatsServer(options);
    const open = () => openNatsBus({ ...options, onError: (subject, error) => void errors.push({ subject, error }) });
    let bus = await open();
    return {
      bus,
      errors,
      reopen: async () => {
        await bus.close();
        return (bus = await open());
      },
      close: () => bus.close(),
    };
  };
  describeMessageBus('NATS', make);

  describe('leases: NATS', () => {
    let connection: NatsConnection;
    let leases: NatsLeases;
    beforeAll(async () => {
      connection = await connectNats({ servers: [server.url] });
      await migrateNats(connection, 'leases');
      const names = new Names('leases');
      const bucket = new Kvm(connection).open(names.bucket('consumers'));
      leases = new NatsLeases(
        () => bucket,
        (name) => names.leaseKey(name),
      );
    });
    afterAll(() => connection.close());
    itGrantsLeases(() => leases);
  });

  describeLeasedWorker('NATS', async () => {
    const namespace = `work${++tests}`;
    await migrateNatsServer({ servers: [server.url], namespace });
    const bus = await openNatsBus({ servers: [server.url], namespace, onError: () => undefined });
    await bus.publish(Array.from({ length: 500 }, (_, n) => ({ id: `${n}`, subject: 'event.test.counted', data: {} })));
    const connection = await connectNats({ servers: [server.url] });
    const manager = await jetstreamManager(connection);
    const { stream } = new Names(namespace);
    return {
      start: (options) => startWorkerProcess({ ...options, engine: { url: server.url, namespace } }),
      async position() {
        const floors: number[] = [];
        // A session begins behind what its predecessor acknowledged.
        for await (const { ack_floor, config } of manager.consumers.list(stream))
          floors.push(Math.max(ack_floor.stream_seq, (config.opt_start_seq ?? 1) - 1));
        return Math.max(0, ...floors);
      },
      reportsStaleWriters: false,
      async close() {
        await connection.close();
        await bus.close();
      },
    };
  });

  describe('NATS', () => {
    const open: NatsBus[] = [];
    const connections: NatsConnection[] = [];
    const namespace = () => `own${++tests}`;
    const migrated = async () => {
      const name = namespace();
      const connection = await connectNats({ servers: [server.url] });
      connections.push(connection);
      await migrateNats(connection, name);
      return { name, connection };
    };
    const bus = async (name: string, options: Partial<NatsBusOptions> = {}) => {
      const opened = await NatsBus.connect({ servers: [server.url], namespace: name, onError: () => {}, ...options });
      open.push(opened);
      return opened;
    };
    const collect = (on: NatsBus, options: Partial<ConsumerOptions> = {}, work = async () => {}) => {
      const got: number[] = [];
      const retry = { initialDelayMs: 20, maxDelayMs: 100 };
      const consumer = on.consume({ name: 'all', subjects: ['event.>'], retry, ...options }, async (messages) => {
        got.push(...messages.map(({ data }) => (data as { n: number }).n));
        await work();
      });
      return { got, consumer };
    };
    const publish = (on: NatsBus, ...ns: number[]) =>
      on.publish(ns.map((n) => ({ id: `event-${n}`, subject: 'event.dids.did-created', data: { n } })));
    /** Frees a lease as if its time had run out. */
    const free = async (name: string, connection: NatsConnection) =>
      (await new Kvm(connection).open(`${name}_consumers`)).put('lease.all', '');

    afterEach(async () => {
      await Promise.all(open.splice(0).map((one) => one.close()));
      await Promise.all(connections.splice(0).map((one) => one.close()));
    });

    it('is migrated by several processes at once, and twice, and is refused before', async () => {
      const name = namespace();
      await expect(bus(name)).rejects.toThrow(/NATS has no stream .*: run "npm run migrate"/);
      const connection = await connectNats({ servers: [server.url] });
      connections.push(connection);
      await Promise.all([1, 2, 3, 4].map(() => migrateNats(connection, name)));
      const first = await bus(name);
      await publish(first, 1, 2);
      await migrateNats(connection, name, { keepMs: 3_600_000 });
      expect(await first.head()).toBe('2');
    });

    it('fails calls within a second while no server is connected, and continues with the next one [T526]', async () => {
      const own = await NatsServer.start(program);
      try {
        await migrateNatsServer({ servers: [own.url], namespace: 'lost' });
        const one = await bus('lost', { servers: [own.url] });
        const held = Promise.withResolvers<Reply>();
        let calls = 0;
        one.serve('op.test.echo', async (data) => ({ ok: true, data }));
        one.serve('op.test.held', () => {
          calls++;
          return held.promise;
        });
        const echo = () => one.request('op.test.echo', 1, { timeoutMs: 10_000 });
        await waitUntil(async () => (await echo()).ok);
        const failsSoon = async (call: Promise<unknown>) => {
          const began = performance.now();
          await expect(call).rejects.toMatchObject({ name: 'RequestFailed', reason: 'disconnected' });
          expect(performance.now() - began).toBeLessThan(1000);
        };
        const inProgress = one.request('op.test.held', 1, { timeoutMs: 10_000 });
        await waitUntil(() => calls === 1);
        await Promise.all([own.kill(), failsSoon(inProgress)]);
        await failsSoon(echo());
        await failsSoon(one.request('op.test.held', 2, { timeoutMs: 10_000 }));
        await failsSoon(one.publish([{ id: '1', subject: 'event.dids.did-created', data: {} }]));

        await own.restart();
        await waitUntil(
          () =>
            echo()
              .then(({ ok }) => ok)
              .catch(() => false),
          { timeoutMs: 15_000 },
        );
        await one.publish([{ id: '1', subject: 'event.dids.did-created', data: {} }]);
        // A call that failed without a connection is not sent later.
        expect(calls).toBe(1);
        held.resolve({ ok: true, data: 1 });
      } finally {
        // Before the server: it waits for the server's answers.
        for (const opened of open.splice(0)) await opened.close();
        await own.stop();
      }
    }, 60_000);

    it('has one lease holder per consumer; the next one continues when it stops', async () => {
      const { name } = await migrated();
      const [first, second] = [await bus(name), await bus(name)];
      const one = collect(first);
      await publish(first, 1, 2);
      await waitUntil(() => one.got.length === 2);
      const two = collect(second);
      await publish(second, 3, 4);
      await waitUntil(() => one.got.length === 4);
      await one.consumer.close();
      await publish(first, 5);
      await waitUntil(() => two.got.length >= 1);
      expect([one.got, two.got]).toEqual([[1, 2, 3, 4], [5]]);
    });

    it('takes over from a crashed holder, in order, within two times to live', async () => {
      const { name } = await migrated();
      const gone = await bus(name, { leaseMs: 2000 });
      const held = collect(gone, {}, () => new Promise(() => {}));
      const heir = await bus(name, { leaseMs: 2000 });
      await publish(heir, 1, 2, 3);
      await waitUntil(() => held.got.length > 0);
      const next = collect(heir);
      const begun = performance.now();
      // The end of its process would do the same: nothing is released.
      await (Reflect.get(gone, 'connection') as NatsConnection).close();
      open.splice(open.indexOf(gone), 1);
      await publish(heir, 4);
      await waitUntil(() => next.got.length === 4);
      expect(next.got).toEqual([1, 2, 3, 4]);
      expect(performance.now() - begun).toBeLessThan(4000);
    });

    it('accepts no acknowledgement from a holder that lost its lease', async () => {
      const { name, connection } = await migrated();
      const late = await bus(name, { leaseMs: 60_000 });
      let finish!: () => void;
      const held = new Promise<void>((resolve) => (finish = resolve));
      const one = collect(late, {}, () => held);
      await publish(late, 1, 2);
      await waitUntil(() => one.got.length > 0);

      let broken = true;
      const heir = await bus(name, { leaseMs: 60_000 });
      const two = collect(heir, {}, async () => {
        if (broken) throw new Error('not yet');
      });
      await free(name, connection);
      await waitUntil(() => two.got.length >= 2);
      // The late one finishes and acknowledges, and what the heir has not handled stays unhandled.
      finish();
      await one.consumer.close();
      await two.consumer.close();
      broken = false;
      const three = collect(heir);
      await waitUntil(() => three.got.length >= 2);
      expect(three.got).toEqual([1, 2]);
    });

    it('does not continue after the newest message, as after the restore of an older stream, and reports it', async () => {
      const { name, connection } = await migrated();
      const one = await bus(name);
      await publish(one, 1, 2);
      const manager = await jetstreamManager(connection);
      await manager.consumers.add(`${name}_feed`, {
        durable_name: 'all~1',
        filter_subject: `${name}.feed.event.>`,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: 6,
      });
      const sessions = await new Kvm(connection).open(`${name}_consumers`);
      await sessions.put(new Names(name).sessionsKey('all'), JSON.stringify(['all~1']));
      const { got, consumer } = collect(one);
      await waitUntil(() => !consumer.health.healthy);
      expect(consumer.health.error).toContain('consumer all acknowledged 5, beyond the newest message');
      await publish(one, 3, 4);
      expect(got).toEqual([]);
      await manager.consumers.delete(`${name}_feed`, 'all~1');
      await waitUntil(() => got.length === 4 && consumer.health.healthy);
      expect(got).toEqual([1, 2, 3, 4]);
    });

    it('reports the lost connection of a listener, and delivers what it missed when the server is back', async () => {
      const { name } = await migrated();
      const [one, other] = [await bus(name), await bus(name)];
      const got: number[] = [];
      const ears = one.listen({ name: 'ears', subjects: ['event.>'] }, async (messages) => {
        got.push(...messages.map(({ data }) => (data as { n: number }).n));
      });
      // A query on the same connection afterwards: its reply shows that the listener's start position is set.
      await one.head();
      await publish(other, 1);
      await waitUntil(() => got.length === 1);

      await server.kill();
      await waitUntil(() => !ears.health.healthy, { timeoutMs: 2000 });
      await server.restart();
      await waitUntil(() => publish(other, 2, 3).then(() => true), { timeoutMs: 15_000 });
      await waitUntil(() => got.length >= 3 && ears.health.healthy, { timeoutMs: 15_000 });
      expect(got).toEqual([1, 2, 3]);
    }, 60_000);

    it('is healthy again after a restart of the server, as lease holder and as standby', async () => {
      const { name } = await migrated();
      const [one, two] = [await bus(name), await bus(name)];
      const consumers = [collect(one).consumer, collect(two).consumer];
      await waitUntil(() => consumers.some(({ isHeld }) => isHeld));
      await server.kill();
      await waitUntil(() => consumers.every(({ health }) => !health.healthy), { timeoutMs: 20_000 });
      await server.restart();
      await waitUntil(() => consumers.every(({ health }) => health.healthy), { timeoutMs: 15_000 });
      await waitUntil(() => consumers.filter(({ isHeld }) => isHeld).length === 1, { timeoutMs: 15_000 });
    }, 60_000);

    it('fails a publication that the server does not acknowledge as a request that failed', async () => {
      const { name } = await migrated();
      const one = await bus(name, { publishTimeoutMs: 200 });
      await server.kill();
      await expect(publish(one, 1)).rejects.toMatchObject({
        name: 'RequestFailed',
        // By which of the two limits is reached first.
        reason: expect.stringMatching(/^(timeout|disconnected)$/),
      });
      await server.restart();
      await waitUntil(() => publish(one, 2).then(() => true), { timeoutMs: 15_000 });
    }, 60_000);

    it('redelivers the messages in progress when the connection failed, and continues in order', async () => {
      const { name } = await migrated();
      const one = await bus(name);
      one.serve('op.test.echo', async (data) => ({ ok: true, data }));
      const { got, consumer } = collect(one, { batchSize: 4 });
      await publish(one, 1, 2, 3);
      await waitUntil(() => got.length === 3 && consumer.health.acknowledged === '3');

      await server.kill();
      const begun = performance.now();
      const failure: unknown = await one
        .request('op.test.echo', 1, { timeoutMs: 500 })
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RequestFailed);
      expect(performance.now() - begun).toBeLessThan(1500);
      await server.restart();

      await waitUntil(() => publish(one, 4, 5).then(() => true), { timeoutMs: 15_000 });
      await publish(one, ...Array.from({ length: 20 }, (_, i) => 6 + i));
      await waitUntil(() => got.includes(25), { timeoutMs: 15_000 });
      expect([...new Set(got)]).toEqual(Array.from({ length: 25 }, (_, i) => 1 + i));
      expect(await one.request('op.test.echo', 2, { timeoutMs: 5000 })).toEqual({ ok: true, data: 2 });
    }, 60_000);
  });
}
