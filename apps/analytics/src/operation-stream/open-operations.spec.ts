import type { OperationEventMessage, Outcome } from '@attestry/contracts';
import { OpenOperations } from './open-operations.js';

const message = (outcome: Outcome, requestId = 'r1', tenantId = 't1'): OperationEventMessage => ({
  id: `${outcome}-${requestId}`,
  outcome,
  prefix: 'DID_CREATE',
  category: 'did',
  tenantId,
  requestId,
  timestamp: '2026-11-21T10:00:00.000Z',
  operation: 'dids.create-did',
  deadline: 1000,
  metadata: {},
});

describe('open operations', () => {
  it('accepts one START and one outcome per request', () => {
    const open = new OpenOperations();
    expect(open.accept(message('START'))).toBe(true);
    expect(open.accept(message('SUCCESS'))).toBe(true);
    expect(open.accept(message('FAIL'))).toBe(false);
    expect(open.size).toBe(0);
  });

  it('accepts no outcome without START, and no second START', () => {
    const open = new OpenOperations();
    expect(open.accept(message('SUCCESS'))).toBe(false);
    expect(open.accept(message('START'))).toBe(true);
    expect(open.accept(message('START'))).toBe(false);
  });

  it('keeps tenants apart', () => {
    const open = new OpenOperations();
    open.accept(message('START'));
    expect(open.accept(message('SUCCESS', 'r1', 't2'))).toBe(false);
    expect(open.size).toBe(1);
  });

  it('reports overdue operations, and whether their events are stored', () => {
    const open = new OpenOperations();
    open.accept(message('START'));
    expect(open.overdue(1000)).toEqual([]);
    expect(open.commit({ requestId: 'r1', tenantId: 't1', operation: 'dids.create-did' })).toBeDefined();
    expect(open.commit({ requestId: 'r1', tenantId: 't1', operation: 'dids.create-did' })).toBeUndefined();
    expect(open.overdue(1001)).toMatchObject([{ requestId: 'r1', committed: true }]);
  });

  it('does not confuse a reaction to the request with the request itself', () => {
    const open = new OpenOperations();
    open.accept(message('START'));
    expect(open.commit({ requestId: 'r1', tenantId: 't1', operation: 'dids.release-issuer-key' })).toBeUndefined();
  });

  it('continues with the operations that were open before a restart', () => {
    const before = new OpenOperations();
    before.accept(message('START'));
    const after = new OpenOperations(before.overdue(Infinity));
    expect(after.accept(message('SUCCESS'))).toBe(true);
  });
});
