import { AppError, unavailable, type OperationContext } from '@attestry/contracts';
import { exchangeOf } from './exchange.spec-fixture.js';
import { recordUnreadBody } from './record-unread-body.js';

const failure = new AppError('tooLarge', 'Payload Too Large');
const logged: unknown[] = [];
const logger = { error: (...args: unknown[]) => void logged.push(...args) } as never;
beforeEach(() => void (logged.length = 0));

describe('a body that cannot be read', () => {
  it('is recorded as a failed call of its operation', async () => {
    const exchange = exchangeOf();
    const ran: unknown[] = [];
    const run = async (operation: unknown, context: OperationContext, read: () => unknown) => {
      ran.push(operation, context);
      return read();
    };
    await recordUnreadBody(exchange, { operations: { run } as never, logger }, failure);
    expect(ran).toEqual([exchange.plan.operation, exchange.context]);
    expect(logged).toEqual([]);
  });

  it('that cannot be recorded is logged, and answered nevertheless', async () => {
    const operations = { run: () => Promise.reject(unavailable('away')) } as never;
    await recordUnreadBody(exchangeOf(), { operations, logger }, failure);
    expect(logged).toEqual([
      {
        requestId: 'r1',
        operation: 'dids.list-dids',
        tenantId: 't1',
        error: expect.stringContaining('away') as string,
      },
      'operation event not recorded',
    ]);
  });
});
