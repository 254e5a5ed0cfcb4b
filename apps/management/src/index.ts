import type { ServiceDefinition } from '@attestry/service-kit';
import { invitationLinks } from './people/invitation-links/invitation-links.projection.js';
import { ManagementModule } from './management.module.js';
import { PUBLISHED } from './management.reactions.js';
import { deletedTenants } from './tenants/purge-tenants/deleted-tenants.projection.js';
import { tenantLists } from './tenants/tenant-lists/tenant-lists.projection.js';

export const managementService: ServiceDefinition = {
  name: 'management',
  needs: ['domain', 'keys', 'sign-in'],
  publishes: PUBLISHED.map(({ category }) => category),
  module: ManagementModule,
  projections: [
    { projection: tenantLists, follows: 'domain' },
    { projection: deletedTenants, follows: 'domain' },
    { projection: invitationLinks, follows: 'domain' },
  ],
};
export { FIRST_MANAGEMENT_CLIENT_FILE } from './platform/register-management-client/first-management-client.js';
export {
  managementClientOutcome,
  requestManagementClient,
} from './platform/register-management-client/management-client-request.js';
export {
  registerManagementClient,
  type ManagementClientCredentials,
} from './platform/register-management-client/register-management-client.js';
export { TokenKeys, type TokenKeyRotation } from './tokens/token-keys/token-keys.js';
export { requestTokenKeyRotation, tokenKeyRotationOutcome } from './tokens/rotate-token-keys/token-key-request.js';
