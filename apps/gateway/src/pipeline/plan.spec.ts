import {
  holderAccess,
  managementAccess,
  MAX_BODY_BYTES,
  publicAccess,
  requires,
  UNREAD_BODY_BYTES,
} from '@attestry/contracts';
import { operationOf } from './exchange.spec-fixture.js';
import { planOf } from './plan.js';

const plan = (declared: Parameters<typeof operationOf>[0] = {}) => planOf(operationOf(declared), 5000);

describe('a plan', () => {
  it('has the limits of the operation, or the defaults', () => {
    expect(plan()).toMatchObject({ timeoutMs: 5000, bodyKind: 'none', bodyLimit: UNREAD_BODY_BYTES });
    const http = { method: 'POST' as const, path: '/x', success: 200 };
    expect(plan({ http, timeoutMs: 60_000 })).toMatchObject({
      timeoutMs: 60_000,
      bodyKind: 'json',
      bodyLimit: MAX_BODY_BYTES,
    });
    expect(plan({ http: { ...http, body: 'raw', maxBodyBytes: 7 } })).toMatchObject({ bodyKind: 'raw', bodyLimit: 7 });
  });

  it('allows CORS for public and wallet operations, and nothing else', () => {
    for (const access of [publicAccess, holderAccess])
      expect(plan({ access })).toMatchObject({
        allowsOrigins: true,
        corsHeaders: { 'access-control-allow-origin': '*' },
        headers: { 'access-control-allow-origin': '*' },
      });
    expect(plan({ access: managementAccess })).toMatchObject({ allowsOrigins: false, corsHeaders: {} });
    expect(plan({ rate: 'client-token' })).toMatchObject({ allowsOrigins: false, corsHeaders: {} });
  });

  it('refuses unknown members from clients and members, and from no other caller', () => {
    for (const access of [requires('dids:read'), managementAccess]) expect(plan({ access }).refusesUnknown).toBe(true);
    for (const access of [publicAccess, holderAccess]) expect(plan({ access }).refusesUnknown).toBe(false);
    expect(plan({ rate: 'client-token' }).refusesUnknown).toBe(false);
  });

  it('announces that the operation is deprecated', () => {
    expect(plan().deprecation).toBeUndefined();
    const deprecated = { since: '2026-01-01T00:00:00Z', link: '/docs' };
    expect(plan({ deprecated }).deprecation).toEqual({
      deprecation: '@1767225600',
      link: '</docs>; rel="deprecation"',
    });
  });

  it('cannot be changed', () => {
    const made = plan();
    for (const part of [made, made.headers, made.jsonHeaders, made.caller]) expect(Object.isFrozen(part)).toBe(true);
  });
});
