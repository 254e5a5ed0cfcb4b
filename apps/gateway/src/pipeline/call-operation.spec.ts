import { notFound, type OperationContext, type OperationRequest } from '@attestry/contracts';
import { callOperation } from './call-operation.js';
import { errorOf, exchangeOf } from './exchange.spec-fixture.js';

describe('the operation', () => {
  it('is called with the request, in its context; what it returns is the result', async () => {
    const exchange = exchangeOf({ url: '/v1/things/7?limit=2' });
    const seen: unknown[] = [];
    const run = async (operation: unknown, context: OperationContext, read: () => OperationRequest) => {
      seen.push(operation, context, read());
      return { id: '7' };
    };
    await callOperation(exchange, { operations: { run } as never });
    const { plan, context } = exchange;
    expect(seen).toEqual([plan.operation, context, { params: { id: '7' }, query: { limit: '2' }, body: {} }]);
    expect(exchange.result).toEqual({ id: '7' });
  });

  it('reads the request itself, so that a fault of it is recorded', async () => {
    const exchange = exchangeOf({ url: '/v1/things/7?a=%ff' });
    const recorded: unknown[] = [];
    const run = async (_operation: unknown, _context: unknown, read: () => unknown) => {
      try {
        return read();
      } catch (error) {
        recorded.push(error);
        throw error;
      }
    };
    const error = await errorOf(() => callOperation(exchange, { operations: { run } as never }));
    expect([error.kind, recorded]).toEqual(['invalid', [error]]);
  });

  it('that fails leaves no result', async () => {
    const exchange = exchangeOf();
    const operations = { run: () => Promise.reject(notFound()) } as never;
    expect((await errorOf(() => callOperation(exchange, { operations }))).kind).toBe('notFound');
    expect(exchange.result).toBeUndefined();
  });
});
