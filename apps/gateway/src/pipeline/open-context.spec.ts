import { exchangeOf, HOST, NOW, TENANT } from './exchange.spec-fixture.js';
import { openContext } from './open-context.js';

const headers = { 'idempotency-key': 'k1' };

describe('the context of a call', () => {
  it('names tenant, caller, request and deadline', () => {
    const exchange = exchangeOf({ headers }, {}, { context: undefined });
    openContext(exchange);
    expect(exchange.context).toStrictEqual({
      tenant: TENANT,
      caller: { kind: 'public' },
      requestId: 'r1',
      operation: 'dids.list-dids',
      deadline: NOW + 1000,
    });
  });

  it('has the address of the request when the operation declares it', () => {
    const exchange = exchangeOf({}, { publicUrl: true });
    openContext(exchange);
    expect(exchange.context.publicUrl).toBe(`https://${HOST}`);
  });

  it.each([[{ kind: 'client', clientId: 'c' }], [{ kind: 'user', userId: 'u' }]] as const)(
    'has no roles of the caller, because they were checked before: %j',
    (caller) => {
      const exchange = exchangeOf({}, {}, { caller: { ...caller, roles: ['admin'] } });
      openContext(exchange);
      expect(exchange.context.caller).toEqual(caller);
    },
  );

  it('has the idempotency key of operations that accept one', () => {
    const exchange = exchangeOf({ headers }, { idempotent: true });
    openContext(exchange);
    expect(exchange.context.idempotencyKey).toBe('k1');
    const without = exchangeOf({}, { idempotent: true });
    openContext(without);
    expect(without.context).not.toHaveProperty('idempotencyKey');
  });

  it('has the trace of the span, and no tenant when the host has none', () => {
    const host = { api: 'management' as const, publicUrl: 'https://m.example' };
    const exchange = exchangeOf({}, {}, { host, observed: { traceparent: 't' } });
    openContext(exchange);
    expect(exchange.context).toMatchObject({ traceparent: 't' });
    expect(exchange.context).not.toHaveProperty('tenant');
  });
});
