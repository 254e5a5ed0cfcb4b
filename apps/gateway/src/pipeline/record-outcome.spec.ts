import { forbidden, httpAnswer, notFound, unavailable, type OperationDeclaration } from '@attestry/contracts';
import { exchangeOf, LOST, RECORD, RECORDED, RECORDED_AT, recordsOf } from './exchange.spec-fixture.js';
import { recordFailure, recordSuccess } from './record-outcome.js';

const ID = '11111111-1111-4111-8111-11111111111a';
const startedAt = '2026-01-01T00:00:00.000Z';
type Declared = Partial<OperationDeclaration<unknown, unknown, unknown, unknown>>;
const begun = (result: unknown, { analytics, ...declared }: Declared = {}, sent: object = {}) =>
  exchangeOf(
    {},
    { ...declared, analytics: { ...RECORDED.analytics, ...analytics } },
    {
      sent: { params: {}, query: {}, body: {}, ...sent },
      recorded: { startedAt, hasOutcome: false },
      result,
    },
  );
const query = { ...RECORD, startedAt };
const MANAGEMENT = {
  access: { kind: 'management' as const, roles: ['admin' as const], permission: 'tenant:update' as const },
};

describe('SUCCESS of a query', () => {
  const recorded = async (exchange: ReturnType<typeof begun>, data?: string) => {
    const { records, sealed, used } = recordsOf(data === undefined ? {} : { data });
    await recordSuccess(exchange, used);
    expect(exchange.recorded!.hasOutcome).toBe(true);
    expect(records.map(([how]) => how)).toEqual(['add']);
    return { record: records[0]![1], sealed };
  };

  it('of a list has the limit and the number of its entries', async () => {
    const { record } = await recorded(begun({ data: [1, 2], nextCursor: 'n' }, {}, { query: { limit: '2' } }));
    expect(record).toStrictEqual({ ...query, start: { limit: 2 }, metadata: { entriesCount: 2, nextCursor: 'n' } });
    expect((await recorded(begun({ data: [] }))).record).toStrictEqual({ ...query, metadata: { entriesCount: 0 } });
  });

  it('has the data that the service records, or without them those of the response', async () => {
    const { record, sealed } = await recorded(begun(httpAnswer({ body: { a: 1 }, metadata: { n: 3 } })), 'sealed');
    expect(record).toStrictEqual({ ...query, metadata: { n: 3 }, data: 'sealed' });
    expect(sealed).toEqual([[{ params: {}, query: {}, body: {} }, { a: 1 }]]);
  });

  it.each([
    [
      'path parameters',
      begun(
        undefined,
        { analytics: { ...RECORDED.analytics, tenantFrom: 'params' } },
        { params: { tenantId: ID.toUpperCase() } },
      ),
    ],
    ['response', begun({ id: ID.toUpperCase() }, { analytics: { ...RECORDED.analytics, tenantFrom: 'answer' } })],
  ])('names the tenant of a management call, taken from the %s', async (_from, exchange) => {
    expect((await recorded(exchange)).record).toEqual({ ...query, about: ID });
  });

  it.each([
    ['it is not a UUID', begun({ id: 'x' }, { analytics: { ...RECORDED.analytics, tenantFrom: 'answer' } })],
    ['the response has none', begun(null, { analytics: { ...RECORDED.analytics, tenantFrom: 'answer' } })],
    ['the operation does not declare where to find it', begun({ id: ID }, {}, { params: { tenantId: ID } })],
  ])('names no tenant when %s', async (_why, exchange) => {
    expect((await recorded(exchange)).record).toStrictEqual(query);
  });

  it('names its object', async () => {
    const object = { type: 'thing', from: 'params.id' as const };
    const { record } = await recorded(
      begun({}, { analytics: { ...RECORDED.analytics, object } }, { params: { id: '7' } }),
    );
    expect(record).toStrictEqual({ ...query, object: { type: 'thing', id: '7' } });
  });

  it('that cannot be written does not change the result, and is logged', async () => {
    const { logged, used } = recordsOf({ lost: true });
    await recordSuccess(begun({}), used);
    expect(logged).toEqual([LOST]);
  });
});

describe('SUCCESS of a command', () => {
  const COMMAND = { kind: 'command' as const };

  it('is in its event: nothing is sent, and nothing is waited for', () => {
    const { records, used } = recordsOf();
    expect(recordSuccess(begun({ id: ID }, COMMAND), used)).toBeUndefined();
    expect(records).toEqual([]);
  });

  it.each([
    ['data', begun({}, COMMAND), 'sealed', { data: 'sealed' }],
    ['metadata', begun(httpAnswer({ metadata: { n: 3 } }), COMMAND), undefined, { metadata: { n: 3 } }],
  ])('is completed with its %s before the answer', async (_what, exchange, data, expected) => {
    const { records, used } = recordsOf(data === undefined ? {} : { data });
    await recordSuccess(exchange, used);
    expect(records).toEqual([['write', { ...query, ...expected }]]);
  });

  it('whose data cannot be written is logged', async () => {
    const { logged, used } = recordsOf({ lost: true, data: 'sealed' });
    await recordSuccess(begun({}, COMMAND), used);
    expect(logged).toEqual([LOST]);
  });
});

describe('FAIL', () => {
  const failure = {
    outcome: 'FAIL',
    metadata: { error: { status: 404, code: 'NotFound', message: 'Resource Not Found' } },
  };

  it('has status, code and message', async () => {
    const { records, used } = recordsOf();
    await recordFailure(begun(undefined), used, notFound());
    expect(records).toEqual([['add', { ...query, ...failure }]]);
  });

  it('of a call that was refused before its record began has one time', async () => {
    const { records, used } = recordsOf();
    await recordFailure(exchangeOf({}, RECORDED), used, notFound());
    expect(records).toEqual([['add', { ...RECORD, ...failure, startedAt: RECORDED_AT }]]);
  });

  it('is the only outcome of a call', async () => {
    const { records, used } = recordsOf();
    const exchange = begun(undefined);
    await recordSuccess(exchange, used);
    await recordFailure(exchange, used, notFound());
    expect(records.map(([, { outcome }]) => outcome)).toEqual(['SUCCESS']);
    const failed = begun(undefined);
    await recordFailure(failed, used, notFound());
    await recordFailure(failed, used, notFound());
    expect(records.map(([, { outcome }]) => outcome)).toEqual(['SUCCESS', 'FAIL']);
  });

  it('of an operation that its service records, or that is not recorded, is not recorded here', async () => {
    const { records, used } = recordsOf();
    await recordFailure(exchangeOf(), used, notFound());
    await recordFailure(
      exchangeOf({}, { analytics: { ...RECORDED.analytics, recordedBy: 'service' } }),
      used,
      notFound(),
    );
    expect(records).toEqual([]);
  });

  it('that cannot be written is logged', async () => {
    const { logged, used } = recordsOf({ lost: true });
    await recordFailure(begun(undefined), used, notFound());
    expect(logged).toEqual([LOST]);
  });

  const ofTenant = (access: object = MANAGEMENT.access) =>
    begun(
      undefined,
      { access: access as never, analytics: { ...RECORDED.analytics, tenantFrom: 'params' } },
      { params: { tenantId: ID } },
    );
  const aboutOf = async (exchange: ReturnType<typeof begun>, roles?: string[], error = notFound()) => {
    const { records, asked, used } = recordsOf(roles ? { tenant: { membership: { roles } } } : {});
    await recordFailure(exchange, used, error);
    return [records[0]![1]['about'], records[0]![1]['isManagement'], asked.length];
  };

  it('of a management call stands in the trail of the tenant that it names', async () => {
    expect(await aboutOf(ofTenant(), ['admin'])).toEqual([ID, true, 1]);
  });

  it('of a management call that took until its deadline stands there, too', async () => {
    const { asked, used } = recordsOf({ tenant: { membership: { roles: ['admin'] } } });
    const exchange = ofTenant();
    expect(exchange.context.deadline).toBeLessThan(Date.now());
    await recordFailure(exchange, used, unavailable('Service temporarily unavailable'));
    expect(asked[0]![2]).toBeGreaterThan(Date.now());
  });

  it.each([
    ['does not exist, or has another caller', undefined],
    ['gives the caller another role', ['viewer']],
  ])('stands in no tenant that %s', async (_what, roles) => {
    expect(await aboutOf(ofTenant(), roles)).toEqual([undefined, true, 1]);
  });

  it('stands in no tenant that refused the role', async () => {
    expect(await aboutOf(ofTenant(), ['admin'], forbidden('no'))).toEqual([undefined, true, 0]);
  });

  it('of a call that members may make for themselves needs no role', async () => {
    expect(await aboutOf(ofTenant({ ...MANAGEMENT.access, orSelf: true }), ['viewer'])).toEqual([ID, true, 1]);
  });
});
