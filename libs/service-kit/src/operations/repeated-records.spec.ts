import { jest } from '@jest/globals';
import type { OperationRecordMessage } from '@attestry/contracts';
import { RepeatedRecords } from './repeated-records.js';

const refused = (n: number, more: Partial<OperationRecordMessage> = {}): OperationRecordMessage => ({
  ...{ prefix: 'OPENID_PAR', category: 'openid', outcome: 'FAIL', operation: 'issuance.push-authorization' },
  ...{ tenantId: 't1', requestId: `r${n}`, metadata: { walletId: 'w1', error: { status: 400 } } },
  startedAt: `2026-01-01T00:00:${String(n % 60).padStart(2, '0')}.000Z`,
  endedAt: `2026-01-01T00:01:${String(n % 60).padStart(2, '0')}.000Z`,
  ...more,
});
const BY = { client: 'wallet:w1', check: 'check-scope' };

let written: OperationRecordMessage[];
let repeated: RepeatedRecords;
beforeEach(() => {
  jest.useFakeTimers();
  written = [];
  repeated = new RepeatedRecords((record) => written.push(record));
});
afterEach(() => jest.useRealTimers());
const keptOf = (count: number, by = BY, more: Partial<OperationRecordMessage> = {}) =>
  Array.from({ length: count }, (_, n) => repeated.isKept(refused(n + 1, more), by)).filter(Boolean).length;

describe('refusals of one client by one check in a minute', () => {
  it('are all kept up to 20, and nothing else is written [T553]', () => {
    expect(keptOf(20)).toBe(20);
    jest.advanceTimersByTime(60_000);
    expect(written).toEqual([]);
  });

  it('beyond 20 are one record, with their number, from the first to the end of the last [T553]', () => {
    expect(keptOf(50)).toBe(20);
    jest.advanceTimersByTime(59_999);
    expect(written).toEqual([]);
    jest.advanceTimersByTime(1);
    const { endedAt } = refused(50);
    const metadata = { walletId: 'w1', error: { status: 400 }, repeated: 30 };
    expect(written).toEqual([{ ...refused(21), endedAt, metadata }]);
  });

  it('are counted again in the next minute [T553]', () => {
    keptOf(21);
    jest.advanceTimersByTime(60_000);
    expect(keptOf(21)).toBe(20);
    jest.advanceTimersByTime(60_000);
    expect(written.map(({ metadata }) => metadata!['repeated'])).toEqual([1, 1]);
  });

  it.each([
    ['client', { ...BY, client: 'wallet:w2' }, {}],
    ['check', { ...BY, check: 'check-pkce' }, {}],
    ['tenant', BY, { tenantId: 't2' }],
    ['operation', BY, { operation: 'issuance.authorize' }],
  ])('do not count for another %s [T553]', (_, by, more) => {
    keptOf(40);
    expect(keptOf(20, by, more)).toBe(20);
  });

  it('are written when the process stops; from then on all are kept [T553]', () => {
    keptOf(25);
    repeated.close();
    expect(written).toHaveLength(1);
    expect(keptOf(50)).toBe(50);
    jest.advanceTimersByTime(60_000);
    expect(written).toHaveLength(1);
  });

  it('end early when 10,000 clients and checks are counted, or their records are large [T553]', () => {
    keptOf(25);
    for (let n = 0; n < 9_999; n++) repeated.isKept(refused(n), { ...BY, client: `session:${n}` });
    expect(written).toEqual([]);
    repeated.isKept(refused(1), { ...BY, client: 'session:one more' });
    expect(written).toHaveLength(1);
    expect(keptOf(21)).toBe(20);
    const large = { metadata: { text: 'x'.repeat(1024 * 1024) } };
    for (const client of ['a', 'b', 'c', 'd']) keptOf(21, { ...BY, client }, large);
    expect(written.slice(1).map(({ metadata }) => metadata!['repeated'])).toEqual([1, 1, 1, 1, 1]);
  });
});
