import { exchangeOf, LOST, RECORDED, recordsOf } from './exchange.spec-fixture.js';
import { recordUnreadBody } from './record-unread-body.js';

describe('a body that cannot be read', () => {
  it('is recorded as a START without the request', async () => {
    const { records, logged, sealed, used } = recordsOf();
    const exchange = exchangeOf({}, RECORDED);
    await recordUnreadBody(exchange, used);
    expect([records, logged, sealed]).toEqual([[['START', {}, undefined]], [], []]);
    expect(exchange.recorded).toEqual({ startedAt: expect.any(String) as string, hasOutcome: false });
  });

  it('that cannot be recorded is logged, and answered nevertheless', async () => {
    const { logged, used } = recordsOf({ lost: true });
    const exchange = exchangeOf({}, { ...RECORDED, kind: 'command' });
    await recordUnreadBody(exchange, used);
    const error = expect.stringContaining('unavailable') as string;
    expect(logged).toEqual([[{ requestId: 'r1', operation: 'dids.list-dids', tenantId: 't1', error }, LOST[1]]]);
    expect(exchange.recorded).toBeUndefined();
  });

  it('of an operation that the service records is not recorded here', async () => {
    const { records, used } = recordsOf();
    await recordUnreadBody(exchangeOf(), used);
    expect(records).toEqual([]);
  });
});
