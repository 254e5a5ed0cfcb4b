import * as analytics from './analytics/analytics.operations.js';
import * as didsEvents from './dids/dids.integration-events.js';
import * as dids from './dids/dids.operations.js';
import * as claimSources from './issuance/claim-sources.js';
import { retrieveContext } from './issuance/contexts.js';
import { checkCredentialConfiguration, countDomainConfigurations } from './issuance/credential-configurations.js';
import { retrieveCredentialDocument } from './issuance/credential-documents.js';
import { reportCredentials } from './issuance/credential-reports.js';
import { createRevocationNotification } from './issuance/credential-status.js';
import { listCredentials } from './issuance/credentials.js';
import * as deferredIssuances from './issuance/deferred-issuances.js';
import * as documentSigners from './issuance/document-signers.js';
import {
  CONFIGURATION_OPERATIONS,
  REGISTRY_OPERATIONS,
  REVOCATION_LIST_OPERATIONS,
  REVOCATION_OPERATIONS,
  STATUS_OPERATIONS,
} from './issuance/formats.js';
import * as iacas from './issuance/iacas.js';
import * as issuanceEvents from './issuance/issuance.integration-events.js';
import * as mobileStatusLists from './issuance/mobile-status-lists.js';
import * as notifications from './issuance/notifications.js';
import * as offers from './issuance/offers.js';
import * as openidConfiguration from './issuance/openid-configuration.js';
import * as protocol from './issuance/protocol.js';
import * as statusListSigners from './issuance/status-list-signers.js';
import * as statusLists from './issuance/status-lists.js';
import * as users from './issuance/users.js';
import * as wallets from './issuance/wallets.js';
import * as managementEvents from './management/management.integration-events.js';
import * as clients from './management/clients.js';
import * as directory from './management/directory.js';
import * as environments from './management/environments.js';
import * as invitations from './management/invitations.js';
import * as managementUsers from './management/management-users.js';
import * as members from './management/members.js';
import * as tenants from './management/tenants.js';
import * as tokens from './management/tokens.js';
import type { IntegrationEventType } from './integration-event.js';
import type { Operation } from './operation.js';
import type { ServiceName } from './services.js';
import * as authenticationProviders from './tenant-config/authentication-providers.js';
import * as customDomains from './tenant-config/custom-domains.js';
import * as signIn from './tenant-config/sign-in.js';
import * as tenantConfigEvents from './tenant-config/tenant-config.integration-events.js';
import * as webhooksEvents from './webhooks/webhooks.integration-events.js';
import * as webhooks from './webhooks/webhooks.operations.js';

export * from './management/client-credentials.js';
export * from './management/clients.js';
export * from './management/directory.js';
export * from './management/environments.js';
export * from './management/invitations.js';
export * from './management/management-users.js';
export * from './management/members.js';
export * from './management/tenants.js';
export * from './management/tokens.js';
export * from './management/management.integration-events.js';
export * from './tenant-config/authentication-providers.js';
export * from './tenant-config/custom-domains.js';
export * from './tenant-config/sign-in-requirements.js';
export * from './tenant-config/sign-in.js';
export * from './tenant-config/tenant-config.integration-events.js';
export * from './dids/dids.operations.js';
export * from './dids/dids.integration-events.js';
export * from './issuance/credential-configurations.js';
export * from './issuance/credential-documents.js';
export * from './issuance/credential-registry.js';
export * from './issuance/credential-reports.js';
export * from './issuance/credential-status.js';
export * from './issuance/credentials.js';
export * from './issuance/claim-bounds.js';
export * from './issuance/claim-sources.js';
export * from './issuance/contexts.js';
export * from './issuance/deferred-issuances.js';
export * from './issuance/document-signers.js';
export * from './issuance/formats.js';
export * from './issuance/iacas.js';
export * from './issuance/key-requirements.js';
export * from './issuance/mobile-status-lists.js';
export * from './issuance/notifications.js';
export * from './issuance/offers.js';
export * from './issuance/openid-configuration.js';
export * from './issuance/protocol.js';
export * from './issuance/status-list-signers.js';
export * from './issuance/status-lists.js';
export * from './issuance/users.js';
export * from './issuance/wallets.js';
export * from './issuance/issuance.integration-events.js';
export * from './webhooks/webhooks.operations.js';
export * from './webhooks/webhooks.integration-events.js';
export * from './webhooks/webhook-events.js';
export * from './analytics/analytics.operations.js';

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'subject' in value && 'useCase' in value;

/** Every operation of the platform, in the order of the changelog's lists. */
export const OPERATIONS: readonly Operation[] = [
  environments,
  tenants,
  clients,
  tokens,
  members,
  invitations,
  managementUsers,
  directory,
  customDomains,
  authenticationProviders,
  signIn,
  dids,
  ...Object.values(CONFIGURATION_OPERATIONS),
  { listCredentials, reportCredentials },
  ...Object.values(REGISTRY_OPERATIONS),
  ...Object.values(STATUS_OPERATIONS),
  ...Object.values(REVOCATION_OPERATIONS),
  { createRevocationNotification },
  ...Object.values(REVOCATION_LIST_OPERATIONS),
  { checkCredentialConfiguration, countDomainConfigurations },
  iacas,
  documentSigners,
  statusListSigners,
  mobileStatusLists,
  offers,
  openidConfiguration,
  wallets,
  claimSources,
  protocol,
  deferredIssuances,
  notifications,
  statusLists,
  { retrieveContext, retrieveCredentialDocument },
  users,
  webhooks,
  analytics,
].flatMap((group) => Object.values(group as Record<string, unknown>).filter(isOperation));

/** Integration events by the service that publishes them. */
export const INTEGRATION_EVENTS: readonly IntegrationEventType<unknown>[] = [
  managementEvents,
  tenantConfigEvents,
  didsEvents,
  issuanceEvents,
  webhooksEvents,
].flatMap((group) => Object.values(group));

export const operationsOf = (service: ServiceName): Operation[] =>
  OPERATIONS.filter((operation) => operation.service === service);

const names = new Set<string>();
for (const { name } of OPERATIONS) {
  if (names.has(name)) throw new Error(`operation ${name} is declared twice`);
  names.add(name);
}
