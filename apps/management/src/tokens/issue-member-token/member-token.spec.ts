import { AppError, type Role } from '@attestry/contracts';
import { stateAfter } from '@attestry/event-store';
import type { TenantEvent } from '../../tenants/tenant/tenant.events.js';
import { tenant, type TenantState } from '../../tenants/tenant/tenant.state.js';
import { memberTokenSeconds } from './member-token.js';

const tenantId = 't';
const created: TenantEvent = {
  type: 'TenantCreated',
  data: {
    tenantId,
    environmentId: 'e',
    name: 'Acme',
    subdomain: 'acme',
    host: 'acme.example',
    createdAt: '2026-01-01T00:00:00.000Z',
  },
};
const added = (userId: string, roles: Role[]): TenantEvent => ({
  type: 'MemberAdded',
  data: { tenantId, userId, roles, addedAt: '2026-01-01T00:00:00.000Z' },
});
const invited: TenantEvent = {
  type: 'MemberInvited',
  data: {
    tenantId,
    userId: 'u',
    roles: ['admin'],
    invitationId: 'i',
    invitedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-06T00:00:00.000Z',
    secretMac: { mac: 'm', pepperId: 'p' } as never,
    sealedSecret: 's',
  },
};
const removed: TenantEvent = { type: 'MemberRemoved', data: { tenantId, userId: 'u' } };
const deleted: TenantEvent = {
  type: 'TenantDeleted',
  data: { tenantId, environmentId: 'e', subdomain: 'acme', host: 'acme.example' },
};
const machine: TenantEvent = {
  type: 'MachineMembershipGranted',
  data: { tenantId, managementClientId: 'u', roles: ['admin'] },
};

const after = (...events: TenantEvent[]): TenantState => stateAfter<TenantState, TenantEvent>(tenant, events);
const NOW = 1_000_000;
const secondsOf = (state: TenantState, facts: { subjectExpiresAt?: number; maxSeconds?: number } = {}): number =>
  memberTokenSeconds(state, { userId: 'u' }, { now: NOW, subjectExpiresAt: NOW + 3600, maxSeconds: 14_400, ...facts });
const refusalOf = (...args: Parameters<typeof secondsOf>): [string, string] => {
  try {
    secondsOf(...args);
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.message];
    throw error;
  }
  throw new Error('was not refused');
};
const TARGET = ['invalid_target', 'audience must be the address of a tenant that the person is a member of'];

describe('the token of a member', () => {
  const member = after(created, added('u', ['auditor']));

  it('is valid for 5 minutes, whatever the role', () => {
    expect(secondsOf(member)).toBe(300);
    expect(secondsOf(after(created, added('u', ['holder'])))).toBe(300);
  });

  it('never outlives the exchanged token, nor the key that signs it', () => {
    expect(secondsOf(member, { subjectExpiresAt: NOW + 301 })).toBe(300);
    expect(secondsOf(member, { subjectExpiresAt: NOW + 299 })).toBe(299);
    expect(secondsOf(member, { subjectExpiresAt: NOW + 1 })).toBe(1);
    expect(secondsOf(member, { maxSeconds: 60 })).toBe(60);
    for (const subjectExpiresAt of [NOW, NOW - 5])
      expect(refusalOf(member, { subjectExpiresAt })).toEqual(['invalid_request', 'The access token has expired']);
  });

  it.each([
    ['where there is no tenant', { status: 'absent' } as TenantState],
    ['of a tenant without members', after(created)],
    ['of another member', after(created, added('other', ['admin']))],
    ['who was invited and has not accepted', after(created, invited)],
    ['who was removed', after(created, added('u', ['admin']), removed)],
    ['whose tenant was deleted', after(created, added('u', ['admin']), deleted)],
    ['who has the id of a management client', after(created, machine)],
  ])('is refused in the same words %s', (_what, state) => {
    expect(refusalOf(state)).toEqual(TARGET);
    // Nor does an expired token reveal more.
    expect(refusalOf(state, { subjectExpiresAt: NOW - 1 })).toEqual(TARGET);
  });
});
