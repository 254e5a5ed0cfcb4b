import { declareTables, defineProjection, nothing } from '@attestry/read-model';
import { tenant } from '../../tenants/tenant/tenant.state.js';

/** `used` by an acceptance, `replaced` by a newer invitation of the same person, `withdrawn` by anything else. */
export type InvitationStatus = 'open' | 'used' | 'replaced' | 'withdrawn';

export interface InvitationLinkTables {
  /** `pepper` and `mac`: the MAC of the link's secret. */
  invitation: {
    id: string;
    tenant_id: string;
    user_id: string;
    pepper: string;
    mac: string;
    expires_at: string;
    status: string;
  };
}

const tables = declareTables<InvitationLinkTables>({
  invitation: {
    text: ['id', 'tenant_id', 'user_id', 'pepper', 'mac', 'expires_at', 'status'],
    primaryKey: ['id'],
    indexes: { invitation_of_user: ['tenant_id', 'user_id'] },
  },
});
const { invitation: invitations } = tables;

type Person = { tenantId: string; userId: string };
const end = (status: InvitationStatus, { tenantId, userId }: Person) =>
  invitations.set({ tenant_id: tenantId, user_id: userId, status: 'open' }, { status });
const withdraw = ({ data }: { data: Person }) => end('withdrawn', data);

/** Every invitation by its id, with its outcome: a link is checked with one row, however long the tenant's history is. */
export const invitationLinks = defineProjection({
  name: 'management.invitation-links',
  version: 1,
  aggregates: [tenant],
  tables,
  // Management purges by an event of the tenant.
  outlivesTenant: true,
  on: {
    MemberInvited: ({ data }) => [
      end('replaced', data),
      invitations.put({
        id: data.invitationId,
        tenant_id: data.tenantId,
        user_id: data.userId,
        pepper: data.secretMac.pepper,
        mac: data.secretMac.mac,
        expires_at: data.expiresAt,
        status: 'open',
      }),
    ],
    InvitationAccepted: ({ data }) => invitations.set({ id: data.invitationId }, { status: 'used' }),
    MemberAdded: withdraw,
    InvitationCancelled: withdraw,
    MemberRemoved: withdraw,
    TenantDeleted: ({ data }) => invitations.set({ tenant_id: data.tenantId, status: 'open' }, { status: 'withdrawn' }),
    TenantPurged: ({ data }) => invitations.remove({ tenant_id: data.tenantId }),
    TenantCreated: nothing,
    TenantRenamed: nothing,
    TenantIdentityRolesRestrictionChanged: nothing,
    MachineMembershipGranted: nothing,
    MemberRolesChanged: nothing,
    TenantClientCreated: nothing,
    TenantClientRenamed: nothing,
    TenantClientRolesChanged: nothing,
    TenantClientSecretRotated: nothing,
    TenantClientDeleted: nothing,
  },
});
