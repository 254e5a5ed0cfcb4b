import { exchangeOf, HOST, NOW, TENANT } from './exchange.spec-fixture.js';
import { openContext } from './open-context.js';

const headers = { 'idempotency-key': 'k1' };

describe('the context of a call', () => {
  it('names tenant, caller, request and deadline', () => {
    const exchange = exchangeOf({ headers }, {}, { context: undefined });
    openContext(exchange);
    expect(exchange.context).toEqual({
      tenant: TENANT,
      caller: { kind: 'public' },
      requestId: 'r1',
      operation: 'dids.list-dids',
      deadline: NOW + 1000,
      publicUrl: `https://${HOST}`,
    });
  });

  it('has the idempotency key of operations that take one', () => {
    const exchange = exchangeOf({ headers }, { idempotent: true });
    openContext(exchange);
    expect(exchange.context.idempotencyKey).toBe('k1');
    const without = exchangeOf({}, { idempotent: true });
    openContext(without);
    expect(without.context).not.toHaveProperty('idempotencyKey');
  });

  it('has the trace of the span, and no tenant where the host has none', () => {
    const host = { api: 'management' as const, publicUrl: 'https://m.example' };
    const exchange = exchangeOf({}, {}, { host, observed: { traceparent: 't' } });
    openContext(exchange);
    expect(exchange.context).toMatchObject({ traceparent: 't', publicUrl: 'https://m.example' });
    expect(exchange.context).not.toHaveProperty('tenant');
  });
});
