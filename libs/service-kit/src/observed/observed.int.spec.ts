import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anEvent, type NewEvent } from '@attestry/event-store';
import { waitUntil } from '@attestry/testing';
import { parseConfig } from '../config/config.js';
import type { Engines } from '../engines/engines.js';
import { openEngines } from '../engines/open-engines.js';
import { Reactions } from '../followers/reactions.js';

const event = (id: string, occurredAt = new Date()): NewEvent => anEvent({ id, occurredAt: occurredAt.toISOString() });

describe('metrics of the ports', () => {
  let folder: string;
  let engines: Engines;
  let reactions: Reactions;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-observed-'));
    engines = await openEngines(parseConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent', NODE_ENV: 'test' }));
    const { bus, health, metrics, tracing, logger, events, leases, checkpoints } = engines;
    reactions = new Reactions(bus, health, metrics, tracing, logger, events, leases, checkpoints);
  });
  afterEach(async () => {
    await reactions.beforeApplicationShutdown();
    await engines.close();
    await rm(folder, { recursive: true });
  });
  const sample = async (series: string): Promise<number | undefined> => {
    const line = (await engines.metrics.text()).split('\n').find((it) => it.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };

  it('counts appends and conflicts apart', async () => {
    await engines.events.append('note-a', [event('1'), event('2')], -1);
    await expect(engines.events.append('note-a', [event('3')], -1)).rejects.toThrow('expected -1');
    expect(await sample('attestry_appends_total{store="domain",outcome="ok"}')).toBe(1);
    expect(await sample('attestry_appends_total{store="domain",outcome="conflict"}')).toBe(1);
    expect(await sample('attestry_appended_events_total{store="domain"}')).toBe(2);
    expect(await sample('attestry_append_duration_seconds_count{store="domain"}')).toBe(2);
    expect(await sample('attestry_appends_total{store="operations",outcome="ok"}')).toBeUndefined();
  });

  it('reports the lag and failures of a reaction until it has caught up', async () => {
    let broken = true;
    reactions.start({
      name: 'test.reaction',
      of: [{ category: 'note', types: { Happened: 1 } }],
      onEvents: () => (broken ? Promise.reject(new Error('not yet')) : Promise.resolve()),
    });
    const lag = 'attestry_lag_seconds{kind="reaction",name="test.reaction"}';
    await waitUntil(async () => (await sample(lag)) === 0, { what: 'a lag of 0' });
    expect(await sample('attestry_lease_held{lease="test.reaction"}')).toBe(1);
    const hourAgo = new Date(Date.now() - 3_600_000);
    await engines.events.append('note-a', [event('1', hourAgo), event('2')], -1);
    await waitUntil(async () => ((await sample(lag)) ?? 0) > 3599, { what: 'a lag of an hour' });
    expect(await sample('attestry_lag_positions{kind="reaction",name="test.reaction"}')).toBe(2);
    expect(await sample('attestry_reaction_failures_total{reaction="test.reaction"}')).toBeGreaterThan(0);
    broken = false;
    await waitUntil(async () => (await sample(lag)) === 0, { what: 'a lag of 0 again', timeoutMs: 10_000 });
    expect(await sample('attestry_lag_positions{kind="reaction",name="test.reaction"}')).toBe(0);
  });

  it('keeps a reaction healthy while it waits at an event of a newer release', async () => {
    const handled: string[] = [];
    const reaction = reactions.start({
      name: 'test.older',
      of: [{ category: 'note', types: { Happened: 1 } }],
      onEvents: (events) => {
        handled.push(...events.map(({ id }) => id));
        return Promise.resolve();
      },
    });
    await engines.events.append('note-a', [event('1')], -1);
    await waitUntil(() => handled.length === 1);
    await engines.events.append('note-a', [{ ...event('2'), type: 'HappenedAnew' }, event('3')], 0);
    await waitUntil(() => reaction.health.error?.includes('HappenedAnew'), { what: 'the reaction to wait' });
    expect(reaction.health.healthy).toBe(true);
    // Its lease is free for a process of a release that knows the event.
    await waitUntil(() => engines.leases.acquire('test.older', 'newer', 60_000), { what: 'the lease' });
    expect(handled).toEqual(['1']);
  });

  it('reports no lag of a reaction that another process runs', async () => {
    const elsewhere = await engines.leases.acquire('test.standby', 'elsewhere', 60_000);
    expect(elsewhere).toBeDefined();
    // The lease was acquired through the observed port, so this process is reported as its holder until the next request for it.
    reactions.start({
      name: 'test.standby',
      of: [{ category: 'note', types: { Happened: 1 } }],
      onEvents: () => Promise.resolve(),
    });
    await waitUntil(async () => (await sample('attestry_lease_held{lease="test.standby"}')) === 0, { what: 'standby' });
    expect(await sample('attestry_lag_seconds{kind="reaction",name="test.standby"}')).toBeUndefined();
  });

  it('counts the messages of the feed, and reports the age of those that a consumer cannot handle', async () => {
    let broken = true;
    reactions.consume(
      { name: 'test.consumer', subjects: ['event.test.>'], retry: { initialDelayMs: 20, maxDelayMs: 20 } },
      () => (broken ? Promise.reject(new Error('not yet')) : Promise.resolve()),
    );
    const occurredAt = new Date(Date.now() - 60_000).toISOString();
    await engines.bus.publish([{ id: '1', subject: 'event.test.happened', headers: { occurredAt }, data: {} }]);
    const lag = 'attestry_consumer_lag_seconds{consumer="test.consumer"}';
    const failures = 'attestry_consumer_failures_total{consumer="test.consumer"}';
    await waitUntil(async () => ((await sample(failures)) ?? 0) > 1, { what: 'two failures' });
    expect(await sample(lag)).toBeGreaterThanOrEqual(60);
    broken = false;
    await waitUntil(async () => (await sample(lag)) === 0, { what: 'no lag' });
    expect(await sample('attestry_consumed_messages_total{consumer="test.consumer"}')).toBe(1);
    expect(await sample('attestry_feed_published_total')).toBe(1);
    expect(await sample('attestry_outbox_delay_seconds_bucket{le="30"}')).toBe(0);
    expect(await sample('attestry_outbox_delay_seconds_bucket{le="60"}')).toBeLessThanOrEqual(1);
    expect(await sample('attestry_outbox_delay_seconds_count')).toBe(1);
  });

  it('counts requests without a reply', async () => {
    await expect(engines.bus.request('op.nobody.serves', {}, { timeoutMs: 100 })).rejects.toThrow('no-responder');
    expect(await sample('attestry_bus_request_failures_total{reason="no-responder"}')).toBe(1);
  });
});
