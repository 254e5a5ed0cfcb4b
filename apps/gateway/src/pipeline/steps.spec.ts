import {
  holderAccess,
  managementAccess,
  OPERATIONS,
  publicAccess,
  requires,
  type Operation,
} from '@attestry/contracts';
import { operationOf } from './exchange.spec-fixture.js';
import { planOf } from './plan.js';
import type { Step } from './step.js';
import { stepsOf } from './steps.js';

const steps = (declared: Parameters<typeof operationOf>[0] = {}) => stepsOf(operationOf(declared));
const names = (list: readonly Step[]) => list.map(({ name }) => name);
const roles = requires('dids:read');

describe('the steps of an operation', () => {
  it.each([
    ['public', { access: publicAccess }, ['limitAddress']],
    ['wallet', { access: holderAccess }, ['limitAddress']],
    ['push', { access: holderAccess, rate: 'push' as const }, ['limitAddress']],
    ['management', { access: managementAccess }, ['identifyCaller', 'limitCaller', 'reserveCall']],
    ['roles', { access: roles }, ['identifyCaller', 'limitCaller', 'reserveCall', 'authorize']],
    ['token call', { access: publicAccess, rate: 'client-token' as const }, ['limitTokenFailures']],
  ])('before the body are those that its access needs: %s', (_what, declared, expected) => {
    expect(names(steps(declared).beforeBody)).toEqual(['startSpan', ...expected, 'openContext']);
  });

  it('after the body call the operation and render its result', () => {
    expect(names(steps().afterBody)).toEqual(['checkShape', 'callService', 'renderResult']);
    expect(names(steps({ rate: 'client-token' }).afterBody)).toEqual([
      'limitTokenCalls',
      'checkShape',
      'callService',
      'countTokenCall',
      'renderResult',
    ]);
    const stream = { method: 'GET' as const, path: '/x', success: 200, stream: true as const };
    expect(names(steps({ http: stream }).afterBody)).toEqual(['streamList']);
  });

  it('after the body record the call, unless the service does', () => {
    const analytics = { prefix: 'THING_READ', category: 'thing' };
    expect(names(steps({ analytics }).afterBody)).toEqual([
      'beginRecord',
      'checkShape',
      'callService',
      'recordSuccess',
      'renderResult',
    ]);
    expect(names(steps({ analytics: { ...analytics, recordedBy: 'service' } }).afterBody)).toEqual(
      names(steps().afterBody),
    );
  });

  it('send waiting records before records are listed', () => {
    const flushing = served.filter((operation) => names(stepsOf(operation).afterBody).includes('flushRecords'));
    expect(flushing.map(({ name }) => name)).toEqual([
      'management.list-tenant-events',
      'analytics.export-events',
      'analytics.list-event-types',
      'analytics.list-events',
    ]);
  });

  const served = OPERATIONS.filter(({ http }) => http);
  it.each(served.map((operation) => [operation.name, operation] as [string, Operation]))(
    'limit each call once, and authenticate when a caller is required: %s',
    (_name, operation) => {
      const before = names(stepsOf(operation).beforeBody);
      expect(before.filter((name) => name.startsWith('limit'))).toHaveLength(1);
      const { kind } = operation.access;
      expect(before.includes('identifyCaller')).toBe(kind === 'management' || kind === 'roles');
      expect(before.includes('reserveCall')).toBe(before.includes('identifyCaller'));
      expect(before.includes('authorize')).toBe(kind === 'roles');
      expect(planOf(operation, 5000).caller === undefined).toBe(before.includes('identifyCaller'));
    },
  );

  it('cannot be changed', () => {
    const made = steps();
    for (const part of [made, made.beforeBody, made.afterBody]) expect(Object.isFrozen(part)).toBe(true);
  });
});
