import { exchangeOf, NOW } from './exchange.spec-fixture.js';
import { startSpan } from './start-span.js';

describe('the span of a request', () => {
  const begun = (known: Parameters<typeof exchangeOf>[2]) => {
    const exchange = exchangeOf({}, {}, known);
    let calls: unknown[] = [];
    startSpan(exchange, { observe: { begin: (...args: unknown[]) => void (calls = args) } as never });
    expect(calls.slice(0, 2)).toEqual([exchange.observed, exchange.plan.operation]);
    return calls[2];
  };

  it('starts when the request arrived, in the trace that a proxy sent', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(begun({ traceparent })).toEqual({ requestId: 'r1', startedAt: NOW, parent: traceparent, tenantId: 't1' });
  });

  it('has no tenant when the host has none', () => {
    expect(begun({ host: { api: 'management', publicUrl: 'https://m.example' } })).toMatchObject({
      tenantId: undefined,
    });
  });
});
