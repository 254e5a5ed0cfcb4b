import { METRICS } from './metric-definitions.js';
import { Metrics } from './metrics.js';

const all = Object.values(METRICS);

describe('metrics', () => {
  it('are named by the conventions of Prometheus', () => {
    for (const { name, type } of all) {
      expect(name).toMatch(/^attestry_[a-z]+(?:_[a-z]+)*$/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  it('have no label with values chosen by a caller', () => {
    const declared = new Set(all.flatMap(({ labels }) => [...labels]));
    expect([...declared].sort()).toEqual(
      ['check', 'class', 'consumer', 'kind', 'lease', 'name', 'operation', 'outcome', 'projection', 'reaction']
        .concat(['budget', 'participant', 'period', 'reason', 'runs', 'state', 'status', 'store'])
        .sort(),
    );
  });

  it('of two platforms in one process do not count into each other', async () => {
    const [one, other] = [new Metrics(), new Metrics('gateway')];
    one.counter('feedPublished').inc(3);
    expect(await one.text()).toContain('attestry_feed_published_total 3');
    expect(await other.text()).toContain('attestry_feed_published_total 0');
    expect(await other.text()).toContain('attestry_info{runs="gateway"} 1');
  });

  it('that are bound to their labels are those of the declared ones, and show from the first value on', async () => {
    const metrics = new Metrics();
    const labels = { operation: 'dids.create-did' };
    const count = metrics.bindCounter('operations', { ...labels, outcome: 'ok' });
    const [seconds, same] = [1, 2].map(() => metrics.bindHistogram('operationSeconds', labels));
    const linesOf = async (name: string) => (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
    expect(await linesOf('attestry_operation')).toEqual(['attestry_operations_in_flight 0']);
    for (const value of [0.001, 0.002, 0.0025, 7]) seconds!(value);
    same!(60);
    count.since += 3;
    expect(await linesOf('attestry_operations_total')).toEqual([
      'attestry_operations_total{operation="dids.create-did",outcome="ok"} 3',
    ]);
    count.since++;
    metrics.counter('operations').inc({ ...labels, outcome: 'ok' });
    expect(await linesOf('attestry_operations_total')).toEqual([
      'attestry_operations_total{operation="dids.create-did",outcome="ok"} 5',
    ]);
    const name = 'attestry_operation_duration_seconds';
    const lines = await linesOf(name);
    const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, '+Inf'];
    expect(lines.slice(0, -2)).toEqual(
      [1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5].map(
        (value, at) => `${name}_bucket{le="${buckets[at]}",operation="dids.create-did"} ${value}`,
      ),
    );
    expect(lines.slice(-2)).toEqual([
      `${name}_sum{operation="dids.create-did"} 67.0055`,
      `${name}_count{operation="dids.create-did"} 5`,
    ]);
    expect(() => seconds!(NaN)).toThrow(new TypeError(`${name}: NaN is not a finite number`));
  });

  it('without labels show before their first value', async () => {
    const text = await new Metrics().text();
    expect(text).toContain('# TYPE attestry_outbox_delay_seconds histogram\n');
    expect(text).toContain('attestry_outbox_delay_seconds_bucket{le="+Inf"} 0\n');
    expect(text).toContain('attestry_outbox_delay_seconds_count 0\n');
  });

  it('omit a value that could not be determined', async () => {
    const metrics = new Metrics();
    metrics.onScrape(() => Promise.reject(new Error('the store is away')));
    metrics.onScrape(() => metrics.gauge('webhookOldestDue').set(7));
    const text = await metrics.text();
    expect(text).toContain('attestry_scrape_failures_total 1');
    expect(text).toContain('attestry_webhook_oldest_due_seconds 7');
  });

  it('show a lease as held only until its expiry', () => {
    const { leases } = new Metrics();
    expect(leases.isHeld('a')).toBe(false);
    leases.recordGrant('a', 60_000);
    expect(leases.isHeld('a')).toBe(true);
    leases.recordRefusal('a');
    expect(leases.isHeld('a')).toBe(false);
    leases.recordGrant('b', -1);
    expect([leases.isHeld('b'), leases.isLeading('b')]).toEqual([false, false]);
  });

  it('treat a process that released a lease after a failure as leader until another holds it', () => {
    const { leases } = new Metrics();
    leases.recordGrant('a', 60_000);
    leases.recordRelease('a');
    expect([leases.isHeld('a'), leases.isLeading('a')]).toEqual([false, true]);
    leases.recordRefusal('a');
    expect(leases.isLeading('a')).toBe(false);
  });
});
