import type { Role } from '@attestry/contracts';
import type { SecretMac } from '@attestry/keys';

export interface MemberInvitedData {
  tenantId: string;
  userId: string;
  roles: Role[];
  invitationId: string;
  invitedAt: string;
  expiresAt: string;
  /** MAC of the link's secret. */
  secretMac: SecretMac;
  /** The link's secret under the tenant's delivery key `invitationId`, which is destroyed once the e-mail is sent. */
  sealedSecret: string;
}

/**
 * A tenant with its clients and memberships. The first append holds the tenant, the membership of its creator, and its
 * default client (ADR 0009). Members and machine members are in the same stream, so that the rule of the last admin
 * needs only this stream. It has no personal data, only ids of users. Secrets are stored only as their MAC, bound to the
 * client id or the invitation's id.
 */
export type TenantEvent =
  | {
      type: 'TenantCreated';
      data: {
        tenantId: string;
        environmentId: string;
        name: string;
        subdomain: string;
        /** At creation; the present host follows from the environment's domain. */
        host: string;
        createdAt: string;
      };
    }
  | { type: 'TenantRenamed'; data: { tenantId: string; name: string } }
  | { type: 'TenantIdentityRolesRestrictionChanged'; data: { tenantId: string; restrictIdentityRoles: boolean } }
  | { type: 'MachineMembershipGranted'; data: { tenantId: string; managementClientId: string; roles: Role[] } }
  /** A registered user is a member at once. `inviteExpiresAt` is absent for the creator of the tenant. */
  | {
      type: 'MemberAdded';
      data: { tenantId: string; userId: string; roles: Role[]; addedAt: string; inviteExpiresAt?: string };
    }
  /** An unknown person, or a repeated invitation: the link of an earlier one is invalid from now on. */
  | { type: 'MemberInvited'; data: MemberInvitedData }
  /** `acceptedBy`: the user who becomes the member; differs from the invited one when that one never registered. */
  | {
      type: 'InvitationAccepted';
      data: { tenantId: string; userId: string; invitationId: string; acceptedBy: string; acceptedAt: string };
    }
  /** Before it was accepted: its link is invalid, and the invited person is no member. */
  | { type: 'InvitationCancelled'; data: { tenantId: string; userId: string; invitationId: string } }
  | { type: 'MemberRolesChanged'; data: { tenantId: string; userId: string; roles: Role[] } }
  | { type: 'MemberRemoved'; data: { tenantId: string; userId: string } }
  | {
      type: 'TenantClientCreated';
      data: {
        tenantId: string;
        clientId: string;
        name: string;
        roles: Role[];
        secretMac: SecretMac;
        createdAt: string;
      };
    }
  | { type: 'TenantClientRenamed'; data: { tenantId: string; clientId: string; name: string } }
  | { type: 'TenantClientRolesChanged'; data: { tenantId: string; clientId: string; roles: Role[] } }
  /** The secret before stays valid until `previousExpiresAt`, or ends at once where there is none; any older one has ended. */
  | {
      type: 'TenantClientSecretRotated';
      data: {
        tenantId: string;
        clientId: string;
        secretMac: SecretMac;
        rotatedAt: string;
        previousExpiresAt?: string;
      };
    }
  | { type: 'TenantClientDeleted'; data: { tenantId: string; clientId: string } }
  | { type: 'TenantDeleted'; data: { tenantId: string; environmentId: string; subdomain: string; host: string } }
  /** Its keys are destroyed: personal and secret data in any event of the tenant is unreadable from now on. */
  | { type: 'TenantPurged'; data: { tenantId: string; purgedAt: string } };
