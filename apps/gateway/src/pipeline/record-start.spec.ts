import { errorOf, exchangeOf, LOST, NOW, RECORDED, recordsOf } from './exchange.spec-fixture.js';
import { isRecorded, recordStart } from './record-start.js';

const startedAt = new Date(NOW).toISOString();

describe('START', () => {
  it('has the limit of a list and the data that the tenant records', async () => {
    const { records, sealed, used } = recordsOf({ data: 'sealed' });
    const exchange = exchangeOf({ url: '/v1/things/7?limit=2' }, RECORDED);
    await recordStart(exchange, used);
    const sent = { params: { id: '7' }, query: { limit: '2' }, body: {} };
    expect([exchange.sent, sealed]).toEqual([sent, [[sent]]]);
    expect(records).toEqual([['START', { limit: 2 }, 'sealed']]);
    expect(exchange.recorded).toEqual({ startedAt, hasOutcome: false });
  });

  it('is recorded for a request that cannot be read, so that its FAIL follows', async () => {
    const { records, sealed, used } = recordsOf();
    const exchange = exchangeOf({ url: '/v1/things/7?a=%ff' }, RECORDED);
    expect((await errorOf(() => recordStart(exchange, used))).kind).toBe('invalid');
    expect([records, sealed]).toEqual([[['START', {}, undefined]], []]);
    expect(exchange.recorded).toEqual({ startedAt, hasOutcome: false });
  });

  it('of a command that is not acknowledged is a 503 without FAIL', async () => {
    const { logged, used } = recordsOf({ lost: true });
    const exchange = exchangeOf({}, { ...RECORDED, kind: 'command' });
    expect((await errorOf(() => recordStart(exchange, used))).kind).toBe('unavailable');
    expect([exchange.recorded, logged]).toEqual([undefined, []]);
  });

  it('of a query may be lost: it is logged with the fields of the call', async () => {
    const { logged, used } = recordsOf({ lost: true });
    const exchange = exchangeOf({}, RECORDED);
    await recordStart(exchange, used);
    await new Promise(setImmediate);
    expect(logged).toEqual([LOST]);
    expect(exchange.recorded).toBeDefined();
  });

  it.each([
    [RECORDED.analytics, true],
    [{ ...RECORDED.analytics, recordedBy: 'service' as const }, false],
    [undefined, false],
  ])('is recorded by the gateway unless the service does: %j', (analytics, expected) => {
    const { plan } = exchangeOf({}, analytics ? { analytics } : {});
    expect(isRecorded(plan.operation)).toBe(expected);
  });
});
