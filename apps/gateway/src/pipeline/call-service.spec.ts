import { notFound } from '@attestry/contracts';
import { callService } from './call-service.js';
import { errorOf, exchangeOf } from './exchange.spec-fixture.js';

const checked = { params: { id: '7' }, query: {}, body: {} };

describe('the service', () => {
  it('is called once with the checked request and the context, and returns the result', async () => {
    const exchange = exchangeOf({}, {}, { checked });
    const calls: unknown[][] = [];
    const call = async (...args: unknown[]) => {
      calls.push(args);
      return { id: '7' };
    };
    await callService(exchange, { services: { call } as never });
    expect(calls).toEqual([[exchange.plan.operation, checked, exchange.context, true]]);
    expect(exchange.result).toEqual({ id: '7' });
  });

  it('that fails leaves no result', async () => {
    const exchange = exchangeOf({}, {}, { checked });
    const services = { call: () => Promise.reject(notFound()) } as never;
    expect((await errorOf(() => callService(exchange, { services }))).kind).toBe('notFound');
    expect(exchange.result).toBeUndefined();
  });
});
