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
        .concat(['budget', 'participant', 'reason', 'runs', 'state', 'status', 'store'])
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
