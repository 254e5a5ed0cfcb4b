import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  clientCreated,
  clientDeleted,
  clientRolesChanged,
  clientSecretRotated,
  identityRolesRestrictionChanged,
  memberInvited,
  tenantCreated,
  tenantDeleted,
  tenantPurged,
  tenantRenamed,
  tokenRevoked,
} from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { fact, Reactions, type Fact } from '@attestry/service-kit';
import { TenantDirectory } from './tenants/directory/tenant-directory.js';
import { managementUser } from './users/management-user/management-user.state.js';
import { revokedToken } from './tokens/revoked-token/revoked-token.state.js';
import { tenant } from './tenants/tenant/tenant.state.js';

/** Categories whose events are published. */
export const PUBLISHED = [tenant, managementUser, revokedToken] as const;

/**
 * Publishes integration events about tenants and their clients. Claims of subdomains are not published, nor do they count as a request's
 * committed events: a tenant exists with its own first event.
 */
@Injectable()
export class ManagementReactions implements OnApplicationBootstrap {
  constructor(
    private readonly reactions: Reactions,
    private readonly directory: TenantDirectory,
  ) {}

  onApplicationBootstrap(): void {
    this.reactions.publishFacts('management', PUBLISHED, (stored) => this.factsOf(stored));
  }

  private factsOf(stored: RecordedEvent): Fact[] {
    // Events about people are not published, only that the request has been committed.
    if (stored.stream.startsWith(`${managementUser.category}-`)) return [];
    if (stored.stream.startsWith(`${revokedToken.category}-`)) {
      const { tokenId, clientId, expiresAt } = readEvent(revokedToken, stored).data;
      return [fact(tokenRevoked, { tokenId, clientId, expiresAt })];
    }
    const event = readEvent(tenant, stored);
    switch (event.type) {
      case 'TenantCreated': {
        const { tenantId, environmentId, name } = event.data;
        return [fact(tenantCreated, { tenantId, environmentId, name, host: this.directory.hostOf(event.data) })];
      }
      case 'TenantDeleted':
        return [fact(tenantDeleted, { tenantId: event.data.tenantId, host: this.directory.hostOf(event.data) })];
      case 'TenantPurged':
        return [fact(tenantPurged, { tenantId: event.data.tenantId })];
      case 'TenantClientCreated': {
        const { tenantId, clientId, roles } = event.data;
        return [fact(clientCreated, { tenantId, clientId, roles })];
      }
      case 'TenantClientRolesChanged': {
        const { tenantId, clientId, roles } = event.data;
        return [fact(clientRolesChanged, { tenantId, clientId, roles })];
      }
      case 'TenantClientDeleted': {
        const { tenantId, clientId } = event.data;
        return [fact(clientDeleted, { tenantId, clientId })];
      }
      case 'MemberInvited': {
        const { tenantId, userId, roles, expiresAt: inviteExpiresAt } = event.data;
        return [fact(memberInvited, { tenantId, userId, roles, status: 'Pending', inviteExpiresAt })];
      }
      case 'MemberAdded': {
        const { tenantId, userId, roles, inviteExpiresAt } = event.data;
        // The creator of the tenant was not invited.
        if (inviteExpiresAt === undefined) return [];
        return [fact(memberInvited, { tenantId, userId, roles, status: 'Active', inviteExpiresAt })];
      }
      case 'TenantIdentityRolesRestrictionChanged': {
        const { tenantId, restrictIdentityRoles } = event.data;
        return [fact(identityRolesRestrictionChanged, { tenantId, restrictIdentityRoles })];
      }
      case 'TenantRenamed': {
        const { tenantId, name } = event.data;
        return [fact(tenantRenamed, { tenantId, name })];
      }
      case 'TenantClientRenamed':
        return [];
      case 'TenantClientSecretRotated': {
        const { tenantId, clientId } = event.data;
        return [fact(clientSecretRotated, { tenantId, clientId })];
      }
      // Other services query memberships from this service at every call.
      case 'MachineMembershipGranted':
      case 'InvitationAccepted':
      case 'InvitationCancelled':
      case 'MemberRolesChanged':
      case 'MemberRemoved':
        return [];
    }
  }
}
