import { projected } from '@attestry/testing';
import { tenantLists, type TenantListTables } from './tenant-lists.projection.js';

const given = projected(tenantLists);
const at = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`;
const tenantId = 't1';
const created = {
  type: 'TenantCreated',
  data: { tenantId, environmentId: 'e', name: 'Acme', subdomain: 'acme', createdAt: at(0) },
} as const;
const tenant: TenantListTables['tenant'] = {
  id: tenantId,
  environment_id: 'e',
  name: 'Acme',
  subdomain: 'acme',
  restrict_identity_roles: 0,
  created_at: at(0),
};
const client = {
  type: 'TenantClientCreated',
  data: { tenantId, clientId: 'c', name: 'Portal', roles: ['issuer'] as never, createdAt: at(1) },
} as const;
const clientRow = { tenant_id: tenantId, id: 'c', name: 'Portal', roles: '["issuer"]', created_at: at(1) };
const roles = (...all: string[]) => all as never[];
const invited = (userId: string, ...all: string[]) =>
  ({ type: 'MemberInvited', data: { tenantId, userId, roles: roles(...all), invitedAt: at(1) } }) as const;
const added = (userId: string, ...all: string[]) =>
  ({ type: 'MemberAdded', data: { tenantId, userId, roles: roles(...all), addedAt: at(2) } }) as const;
const accepted = (userId: string, acceptedBy: string) =>
  ({ type: 'InvitationAccepted', data: { tenantId, userId, acceptedBy, acceptedAt: at(3) } }) as const;
const member = (user_id: string, all: string[], is_active: 0 | 1, created_at: string) => ({
  tenant_id: tenantId,
  user_id,
  roles: JSON.stringify(all),
  is_active,
  created_at,
});

describe('the list of tenants', () => {
  it('has each as its last change left it', () => {
    given(created).expectRows({ tenant: [tenant] });
    given(
      created,
      { type: 'TenantRenamed', data: { tenantId, name: 'Acme 2' } },
      { type: 'TenantIdentityRolesRestrictionChanged', data: { tenantId, restrictIdentityRoles: true } },
    ).expectRows({ tenant: [{ ...tenant, name: 'Acme 2', restrict_identity_roles: 1 }] });
  });

  it('has the newest roles of machines', () => {
    const granted = (...all: string[]) =>
      ({
        type: 'MachineMembershipGranted',
        data: { tenantId, managementClientId: 'm', roles: roles(...all) },
      }) as const;
    given(granted('issuer'), granted('admin')).expectRows({
      membership: [{ tenant_id: tenantId, management_client_id: 'm', roles: '["admin"]' }],
    });
  });

  it('has the clients of tenants, without secrets', () => {
    given(client, { type: 'TenantClientSecretRotated', data: { tenantId, clientId: 'c' } }).expectRows({
      tenant_client: [clientRow],
    });
    given(
      client,
      { type: 'TenantClientRenamed', data: { tenantId, clientId: 'c', name: 'Kiosk' } },
      { type: 'TenantClientRolesChanged', data: { tenantId, clientId: 'c', roles: [] } },
    ).expectRows({ tenant_client: [{ ...clientRow, name: 'Kiosk', roles: '[]' }] });
    given(client, { type: 'TenantClientDeleted', data: { tenantId, clientId: 'c' } }).expectRows({});
  });

  it('has nothing of a deleted tenant', () => {
    const deleted = { type: 'TenantDeleted', data: { tenantId } } as const;
    const granted = {
      type: 'MachineMembershipGranted',
      data: { tenantId, managementClientId: 'm', roles: [] },
    } as const;
    given(created, client, granted, added('u'), deleted, { type: 'TenantPurged', data: { tenantId } }).expectRows({});
  });
});

describe('the list of members', () => {
  it('has invited and active ones; whoever is invited again, or added later, keeps the position', () => {
    given(invited('u', 'issuer')).expectRows({ member: [member('u', ['issuer'], 0, at(1))] });
    given(invited('u', 'issuer'), added('u', 'admin')).expectRows({ member: [member('u', ['admin'], 1, at(1))] });
    given(added('u'), {
      type: 'MemberRolesChanged',
      data: { tenantId, userId: 'u', roles: roles('admin') },
    }).expectRows({
      member: [member('u', ['admin'], 1, at(2))],
    });
  });

  it('has who accepted an invitation, with its roles, in the place of the invited one', () => {
    given(invited('u', 'issuer'), accepted('u', 'u')).expectRows({ member: [member('u', ['issuer'], 1, at(1))] });
    given(invited('u', 'issuer'), accepted('u', 'v')).expectRows({ member: [member('v', ['issuer'], 1, at(3))] });
    given(added('v', 'admin'), invited('u', 'issuer'), accepted('u', 'v')).expectRows({
      member: [member('v', ['issuer'], 1, at(2))],
    });
    given(accepted('u', 'v')).expectRows({});
  });

  it('does not have those who were removed, or whose invitation was cancelled', () => {
    for (const type of ['InvitationCancelled', 'MemberRemoved'] as const)
      given(invited('u'), { type, data: { tenantId, userId: 'u' } }).expectRows({});
  });

  it('has what is known of people, whichever came first', () => {
    const person = { id: 'u', sealed_email: 'mail', sealed_name: 'name' };
    const named = { type: 'ManagementUserNamed', data: { userId: 'u', sealedName: 'name' } } as const;
    given({ type: 'ManagementUserInvited', data: { userId: 'u', sealedEmail: 'mail' } }, named).expectRows({
      person: [person],
    });
    given(named, { type: 'ManagementUserEmailChanged', data: { userId: 'u', sealedEmail: 'mail' } }).expectRows({
      person: [person],
    });
    given({ type: 'ManagementUserInvited', data: { userId: 'u', sealedEmail: 'mail' } }, named, {
      type: 'ManagementUserRegistered',
      data: { userId: 'u' },
    }).expectRows({ person: [{ ...person, sealed_name: null }] });
  });
});
