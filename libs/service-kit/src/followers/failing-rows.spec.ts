import { EventStoreUnavailable, StaleEpoch } from '@attestry/event-store';
import { FailingRows } from './failing-rows.js';
import type { Logger } from '../process/logger.js';

describe('rows that fail', () => {
  const logged: [string, object, string][] = [];
  const logger = {
    error: (fields: object, message: string) => logged.push(['error', fields, message]),
    info: (fields: object, message: string) => logged.push(['info', fields, message]),
  } as unknown as Logger;
  const make = (maxMs = 60_000) =>
    new FailingRows({
      ...{ logger, failure: 'not made', recovery: 'made again' },
      backOff: { firstMs: 1000, maxMs },
    });
  beforeEach(() => {
    logged.length = 0;
  });

  it('have a pause that grows, each its own', () => {
    const rows = make();
    for (const longest of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      const pause = rows.add('a', new Error('x'), {});
      expect(pause).toBeGreaterThanOrEqual(longest / 2);
      expect(pause).toBeLessThanOrEqual(longest);
    }
    expect(rows.add('b', new Error('x'), {})).toBeLessThanOrEqual(1000);
    for (let n = 0; n < 2000; n++) rows.add('a', new Error('x'), {});
    expect(rows.add('a', new Error('x'), {})).toBeLessThanOrEqual(60_000);
    rows.remove('a', {});
    expect(rows.add('a', new Error('x'), {})).toBeLessThanOrEqual(1000);
  });

  it('are logged once, when the reason changes, and when they succeed', () => {
    const rows = make();
    rows.remove('a', { id: 'a' });
    for (const reason of ['x', 'x', 'y', 'y', 'x']) rows.add('a', new Error(reason), { id: 'a' });
    rows.add('b', 'text', { id: 'b' });
    rows.remove('a', { id: 'a' });
    rows.remove('a', { id: 'a' });
    const failed = (id: string, error: string) => ['error', { id, error }, 'not made'];
    expect(logged).toEqual([
      ...[failed('a', 'x'), failed('a', 'y'), failed('a', 'x'), failed('b', 'text')],
      ['info', { id: 'a' }, 'made again'],
    ]);
  });

  it('are shown in readiness while they fail', () => {
    const rows = make();
    expect(rows.error).toBeUndefined();
    rows.add('a', new Error('x'), {});
    rows.add('b', new Error('y'), {});
    expect(rows.error).toBe('not made (2), the last one: y');
    rows.remove('b', {});
    expect(rows.error).toBe('not made (1), the last one: x');
    rows.remove('a', {});
    expect(rows.error).toBeUndefined();
  });

  it('are forgotten when they are not tried again', async () => {
    const rows = make(2);
    rows.add('a', new Error('x'), {});
    const begun = performance.now();
    while (performance.now() - begun < 10) await new Promise((resolve) => setImmediate(resolve));
    expect(rows.error).toBeUndefined();
  });

  it('are not to blame for an outage', () => {
    const rows = make();
    expect(rows.add('a', new EventStoreUnavailable('away'), {})).toBeUndefined();
    expect(rows.add('a', new StaleEpoch('late'), {})).toBeUndefined();
    expect(logged).toEqual([]);
    expect(rows.error).toBeUndefined();
  });
});
