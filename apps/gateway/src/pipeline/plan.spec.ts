import {
  holderAccess,
  managementAccess,
  MAX_BODY_BYTES,
  OPERATIONS,
  publicAccess,
  requires,
  UNREAD_BODY_BYTES,
  type Operation,
} from '@attestry/contracts';
import { operationOf } from './exchange.spec-fixture.js';
import { planOf } from './plan.js';
import type { Step } from './step.js';

const plan = (declared: Parameters<typeof operationOf>[0] = {}) => planOf(operationOf(declared), 5000);
const names = (steps: readonly Step[]) => steps.map(({ name }) => name);
const roles = requires('dids:read');

describe('the steps of a plan', () => {
  it.each([
    ['public', { access: publicAccess }, ['limitAddress']],
    ['wallet', { access: holderAccess }, ['limitAddress']],
    ['management', { access: managementAccess }, ['identifyCaller', 'limitCaller']],
    ['roles', { access: roles }, ['identifyCaller', 'limitCaller', 'authorize']],
    ['token call', { access: publicAccess, rate: 'client-token' as const }, ['limitTokenFailures']],
  ])('before the body are those that its access needs: %s', (_what, declared, expected) => {
    expect(names(plan(declared).beforeBody)).toEqual(['startSpan', ...expected, 'openContext']);
  });

  it('after the body call the operation and render its result', () => {
    expect(names(plan().afterBody)).toEqual(['checkShape', 'callService', 'renderResult']);
    expect(names(plan({ rate: 'client-token' }).afterBody)).toEqual([
      'limitTokenCalls',
      'checkShape',
      'callService',
      'countTokenCall',
      'renderResult',
    ]);
    const stream = { method: 'GET' as const, path: '/x', success: 200, stream: true as const };
    expect(names(plan({ http: stream }).afterBody)).toEqual(['streamList']);
  });

  it('after the body record START and outcome, unless the service does', () => {
    const analytics = { prefix: 'THING_READ', category: 'thing' };
    expect(names(plan({ analytics }).afterBody)).toEqual([
      'recordStart',
      'checkShape',
      'callService',
      'recordSuccess',
      'renderResult',
    ]);
    expect(names(plan({ analytics: { ...analytics, recordedBy: 'service' } }).afterBody)).toEqual(
      names(plan().afterBody),
    );
  });

  const served = OPERATIONS.filter(({ http }) => http);
  it.each(served.map((operation) => [operation.name, operation] as [string, Operation]))(
    'limit each call once, and authenticate where a caller is needed: %s',
    (_name, operation) => {
      const before = names(planOf(operation, 5000).beforeBody);
      expect(before.filter((name) => name.startsWith('limit'))).toHaveLength(1);
      const { kind } = operation.access;
      expect(before.includes('identifyCaller')).toBe(kind === 'management' || kind === 'roles');
      expect(before.includes('authorize')).toBe(kind === 'roles');
      expect(planOf(operation, 5000).caller === undefined).toBe(before.includes('identifyCaller'));
    },
  );
});

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

  it('opens public operations and wallets to pages of other origins, and nothing else', () => {
    for (const access of [publicAccess, holderAccess])
      expect(plan({ access })).toMatchObject({
        allowsOrigins: true,
        corsHeaders: { 'access-control-allow-origin': '*' },
        headers: { 'access-control-allow-origin': '*' },
      });
    expect(plan({ access: managementAccess })).toMatchObject({ allowsOrigins: false, corsHeaders: {} });
    expect(plan({ rate: 'client-token' })).toMatchObject({ allowsOrigins: false, corsHeaders: {} });
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
    for (const part of [made, made.headers, made.jsonHeaders, made.beforeBody, made.afterBody, made.caller])
      expect(Object.isFrozen(part)).toBe(true);
  });
});
