import { FaultyProxy, describeOnPostgres, waitUntil } from '@attestry/testing';
import { EventStoreUnavailable } from '../event-store.js';
import { CheckpointedSubscription } from '../subscriptions.js';
import { anEvent, Collector, Fixture } from './fixture.js';

describeOnPostgres('event store: faults of PostgreSQL', (server) => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = new Fixture((role) => server().url(role));
    await fixture.migrate();
  });
  afterEach(() => fixture.close());

  describe('a response that is lost', () => {
    let proxy: FaultyProxy;
    beforeEach(async () => {
      proxy = await FaultyProxy.start(server().port);
    });
    afterEach(() => proxy.stop());
    const through = () => `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;

    it('makes the append unavailable, and a retry with the same ids gets the first result', async () => {
      const [store, direct] = [await fixture.open({ url: through() }), await fixture.open()];
      await store.append('a-0', [anEvent()], -1);
      proxy.loseAnswers();
      const events = [anEvent('1'), anEvent('2')];
      const outcome = store.append('a-1', events, -1).catch((error: unknown) => error);
      const [, stored] = await waitUntil(async () => {
        const found = await direct.readStream('a-1');
        return found.length === 2 && found;
      });
      proxy.cut();
      expect(await outcome).toBeInstanceOf(EventStoreUnavailable);
      await direct.append('a-1', [anEvent('3')], 1);
      expect(await store.append('a-1', events, -1)).toEqual({ revision: 1, position: stored!.position });
      expect(await direct.readStream('a-1')).toHaveLength(3);
    });

    it('does not keep callers waiting forever, also when the connection hangs', async () => {
      const store = await fixture.open({ url: through(), timeoutMs: 1000 });
      await store.append('a-0', [anEvent()], -1);
      proxy.loseAnswers();
      const begun = performance.now();
      await expect(store.append('a-1', [anEvent('1')], -1)).rejects.toThrow(EventStoreUnavailable);
      await expect(store.readStream('a-1')).rejects.toThrow(EventStoreUnavailable);
      expect(performance.now() - begun).toBeLessThan(10_000);
      proxy.cut();
      expect(await store.append('a-1', [anEvent('1')], -1)).toMatchObject({ revision: 0 });
    });
  });

  it('reconnects the listener for appends without dropping a subscription', async () => {
    const [store, other] = [await fixture.open(), await fixture.open()];
    const admin = await fixture.connect();
    const listening = async () => {
      const { rows } = await admin.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN "${fixture.schema}.events"'`,
      );
      return rows[0]?.pid;
    };
    const collector = new Collector(store);
    const pid = await waitUntil(listening);
    await admin.query('SELECT pg_terminate_backend($1)', [pid]);
    await other.append('a-1', [anEvent('meanwhile')], -1);
    await waitUntil(() => collector.ids.length === 1);
    await waitUntil(async () => ![pid, undefined].includes(await listening()));
    await other.append('a-1', [anEvent('after')], 0);
    await waitUntil(() => collector.ids.length === 2);
    expect(collector.ids).toEqual(['meanwhile', 'after']);
    expect(collector.drops).toEqual([]);
    expect(fixture.failures).not.toEqual([]);
  });

  it('is unavailable while the server is unreachable, and continues without loss when it is back', async () => {
    const store = await fixture.open();
    const handled: string[] = [];
    const subscription = new CheckpointedSubscription({
      name: 'follower',
      store,
      leases: store.leases,
      checkpoints: store.checkpoints,
      handle: async (events) => void handled.push(...events.map(({ id }) => id)),
    }).start();
    const acknowledged: string[] = [];
    const unavailable: unknown[] = [];
    let stop = false;
    const writing = Promise.all(
      [0, 1, 2, 3].map(async (writer) => {
        for (let n = 0; !stop; n++) {
          const event = anEvent(`${writer} ${n}`);
          // A caller does the same after a 503: it repeats the append.
          await waitUntil(
            () =>
              store.append(`a-${writer}`, [event], n - 1).catch((error: unknown) => {
                unavailable.push(error);
                throw error;
              }),
            { timeoutMs: 30_000, intervalMs: 50 },
          );
          acknowledged.push(event.id);
        }
      }),
    );
    await waitUntil(() => handled.length > 20);
    await server().kill();
    await waitUntil(() => unavailable.length > 0);
    const before = acknowledged.length;
    await server().restart();
    const back = performance.now();
    await waitUntil(() => acknowledged.length > before + 20 && handled.includes(acknowledged.at(-20)!), {
      timeoutMs: 20_000,
    });
    expect(performance.now() - back).toBeLessThan(10_000);
    stop = true;
    await writing;
    await waitUntil(() => acknowledged.every((id) => handled.includes(id)));
    expect(unavailable.filter((error) => !(error instanceof EventStoreUnavailable))).toEqual([]);
    const stored = (await store.readAll({ limit: 100_000 })).events.map(({ id }) => id);
    expect(stored.filter((id) => acknowledged.includes(id))).toHaveLength(acknowledged.length);
    // At least once, and in order.
    expect(stored.filter((id, at) => stored.indexOf(id) !== at)).toEqual([]);
    expect([...new Set(handled)]).toEqual(stored);
    await subscription.close();
  }, 60_000);
});
