import { errorOf, exchangeOf, NOW, RECORD, RECORDED, recordsOf } from './exchange.spec-fixture.js';
import { beginRecord } from './begin-record.js';

const startedAt = new Date(NOW).toISOString();
const COMMAND = { ...RECORDED, kind: 'command' as const };
const OUTSIDE = { kind: 'command' as const, analytics: { ...RECORDED.analytics, effects: 'outside' as const } };

describe('the record of a call', () => {
  it('begins with the request, and the data that the tenant records', async () => {
    const { records, sealed, used } = recordsOf({ data: 'sealed' });
    const exchange = exchangeOf({ url: '/v1/things/7?limit=2' }, RECORDED);
    await beginRecord(exchange, used);
    const sent = { params: { id: '7' }, query: { limit: '2' }, body: {} };
    expect([exchange.sent, sealed]).toEqual([sent, [[sent]]]);
    expect(exchange.recorded).toEqual({ startedAt, requestData: 'sealed', hasOutcome: false });
    expect(records).toEqual([]);
  });

  it('begins for a request that cannot be read, so that its failure has a start', async () => {
    const { records, sealed, used } = recordsOf();
    const exchange = exchangeOf({ url: '/v1/things/7?a=%ff' }, RECORDED);
    expect((await errorOf(() => beginRecord(exchange, used))).kind).toBe('invalid');
    expect([records, sealed]).toEqual([[], []]);
    expect(exchange.recorded).toEqual({ startedAt, hasOutcome: false });
  });

  it('waits for nothing where nothing is sealed', () => {
    expect(beginRecord(exchangeOf({}, RECORDED), recordsOf().used)).toBeUndefined();
  });

  it.each([
    ['of a command', COMMAND, undefined, { startedAt }],
    ['of a command, with sealed data', COMMAND, 'sealed', { startedAt, requestData: 'sealed' }],
    ['of a query not', RECORDED, 'sealed', undefined],
  ])('goes to the service in the context: %s', async (_of, declared, data, expected) => {
    const exchange = exchangeOf({}, declared);
    await beginRecord(exchange, recordsOf(data === undefined ? {} : { data }).used);
    expect(exchange.context.record).toEqual(expected);
  });

  it('of effects outside an append is a START, acknowledged before the call', async () => {
    const { records, used } = recordsOf({ data: 'sealed' });
    const exchange = exchangeOf({}, OUTSIDE);
    await beginRecord(exchange, used);
    const { outcome: _, endedAt: __, ...start } = RECORD;
    const { deadline } = exchange.context;
    expect(records).toEqual([['start', { ...start, requestData: 'sealed', deadline }]]);
    expect(exchange.context.record).toEqual({ startedAt, requestData: 'sealed' });
  });

  it('of effects outside an append is a 503 when START is not acknowledged, and the command is not called', async () => {
    const { used } = recordsOf({ lost: true });
    const exchange = exchangeOf({}, OUTSIDE);
    expect((await errorOf(() => beginRecord(exchange, used))).kind).toBe('unavailable');
    expect([exchange.recorded, exchange.context.record]).toEqual([{ startedAt, hasOutcome: false }, undefined]);
  });
});
