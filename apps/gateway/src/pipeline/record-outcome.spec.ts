import { httpAnswer, notFound } from '@attestry/contracts';
import { exchangeOf, LOST, RECORDED, recordsOf } from './exchange.spec-fixture.js';
import { recordFailure, recordSuccess } from './record-outcome.js';

const ID = '11111111-1111-4111-8111-11111111111a';
const startedAt = '2026-01-01T00:00:00.000Z';
const started = (result: unknown, analytics: object = {}, params: object = {}) =>
  exchangeOf(
    {},
    { analytics: { ...RECORDED.analytics, ...analytics } },
    { sent: { params, query: {}, body: {} }, recorded: { startedAt, hasOutcome: false }, result },
  );

describe('SUCCESS', () => {
  const recorded = async (exchange: ReturnType<typeof started>, data?: string) => {
    const { records, sealed, used } = recordsOf(data === undefined ? {} : { data });
    await recordSuccess(exchange, used);
    expect(exchange.recorded!.hasOutcome).toBe(true);
    return { record: records[0], sealed };
  };

  it('of a list has the number of its entries', async () => {
    const { record } = await recorded(started({ data: [1, 2], nextCursor: 'n' }));
    expect(record).toStrictEqual(['SUCCESS', { entriesCount: 2, nextCursor: 'n' }, {}]);
    expect((await recorded(started({ data: [] }))).record).toStrictEqual(['SUCCESS', { entriesCount: 0 }, {}]);
  });

  it('has the data that the service records, or without them those of the response', async () => {
    const { record, sealed } = await recorded(started(httpAnswer({ body: { a: 1 }, metadata: { n: 3 } })), 'sealed');
    expect(record).toStrictEqual(['SUCCESS', { n: 3 }, { data: 'sealed' }]);
    expect(sealed).toEqual([[{ params: {}, query: {}, body: {} }, { a: 1 }]]);
  });

  it.each([
    ['path parameters', started(undefined, { tenantFrom: 'params' }, { tenantId: ID.toUpperCase() })],
    ['response', started({ id: ID.toUpperCase() }, { tenantFrom: 'answer' })],
  ])('names the tenant of a management call, taken from the %s', async (_from, exchange) => {
    expect((await recorded(exchange)).record).toEqual(['SUCCESS', {}, { about: { tenantId: ID, startedAt } }]);
  });

  it('names no tenant that is not a UUID', async () => {
    expect((await recorded(started({ id: 'x' }, { tenantFrom: 'answer' }))).record).toEqual(['SUCCESS', {}, {}]);
  });

  it.each([
    ['the response has none', started(null, { tenantFrom: 'answer' })],
    ['the operation does not declare where to find it', started({ id: ID }, {}, { tenantId: ID })],
  ])('names no tenant when %s', async (_why, exchange) => {
    expect((await recorded(exchange)).record).toStrictEqual(['SUCCESS', {}, {}]);
  });

  it('that cannot be written does not change the result, and is logged', async () => {
    const { logged, used } = recordsOf({ lost: true });
    await recordSuccess(started({}), used);
    expect(logged).toEqual([LOST]);
  });
});

describe('FAIL', () => {
  it('has status, code and message', async () => {
    const { records, used } = recordsOf();
    await recordFailure(started(undefined), used, notFound());
    expect(records).toEqual([['FAIL', { status: 404, code: 'NotFound', message: 'Resource Not Found' }]]);
  });

  it('belongs to a START without outcome', async () => {
    const { records, used } = recordsOf();
    await recordFailure(exchangeOf({}, RECORDED), used, notFound());
    const exchange = started(undefined);
    await recordSuccess(exchange, used);
    await recordFailure(exchange, used, notFound());
    expect(records.map(([outcome]) => outcome)).toEqual(['SUCCESS']);
  });

  it('that cannot be written is logged', async () => {
    const { logged, used } = recordsOf({ lost: true });
    await recordFailure(started(undefined), used, notFound());
    expect(logged).toEqual([LOST]);
  });
});
