import { didCreated } from '../dids/dids.integration-events.js';
import type { IntegrationEventType } from '../integration-event.js';
import {
  credentialNotified,
  credentialStatusChanged,
  customDomainDeletedInUse,
  issuanceDeferred,
} from '../issuance/issuance.integration-events.js';
import { clientCreated, memberInvited } from '../management/management.integration-events.js';
import { customDomainVerified } from '../tenant-config/tenant-config.integration-events.js';

/** A webhook event: the integration event it derives from and the members of its payload. */
export interface WebhookEventSource {
  readonly integrationEvent: IntegrationEventType<unknown>;
  readonly members: readonly string[];
}

/** Members are listed explicitly, so that a member added to the integration event is not published before it is reviewed. */
const webhookEventFrom = <Data extends { tenantId: string }>(
  integrationEvent: IntegrationEventType<Data>,
  ...members: Exclude<keyof Data & string, 'tenantId'>[]
): WebhookEventSource => ({ integrationEvent, members });

const NAMES = [
  'OpenIdCredentialDeferred',
  'OpenIdCredentialNotified',
  'CredentialStatusChanged',
  'DidCreated',
  'TenantClientCreated',
  'CustomDomainVerified',
  'CustomDomainDeletedInUse',
  'TenantMemberInvited',
] as const;
export type WebhookEventName = (typeof NAMES)[number];

/**
 * Event types a webhook can subscribe to, beside issued credentials. A further one needs a name above and a line here with
 * the integration event it derives from and the members of its payload, which never has personal values.
 */
export const WEBHOOK_EVENT_SOURCES: Readonly<Record<WebhookEventName, WebhookEventSource>> = {
  OpenIdCredentialDeferred: webhookEventFrom(
    issuanceDeferred,
    'deferralId',
    'userId',
    'sessionId',
    'credentialConfigurationId',
    'credentials',
    'needsApproval',
    'expiresAt',
  ),
  OpenIdCredentialNotified: webhookEventFrom(
    credentialNotified,
    'notificationId',
    'event',
    'userId',
    'sessionId',
    'credentialConfigurationId',
    'credentialIds',
  ),
  CredentialStatusChanged: webhookEventFrom(
    credentialStatusChanged,
    'credentialId',
    'userId',
    'credentialConfigurationId',
    'format',
    'credentialProfile',
    'status',
    'formerStatus',
    'reason',
  ),
  DidCreated: webhookEventFrom(didCreated, 'did', 'method'),
  TenantClientCreated: webhookEventFrom(clientCreated, 'clientId', 'roles'),
  CustomDomainVerified: webhookEventFrom(customDomainVerified, 'domain'),
  CustomDomainDeletedInUse: webhookEventFrom(customDomainDeletedInUse, 'domain', 'activeConfigurations'),
  TenantMemberInvited: webhookEventFrom(memberInvited, 'userId', 'roles', 'status', 'inviteExpiresAt'),
};

/** Webhook events that derive from a subject of the feed. */
export const webhookEventsOf = (subject: string): WebhookEventName[] =>
  NAMES.filter((name) => WEBHOOK_EVENT_SOURCES[name].integrationEvent.subject === subject);

/** The members of the payload, in the order of the declaration, without those that are absent. */
export const webhookEventPayload = (name: WebhookEventName, data: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    WEBHOOK_EVENT_SOURCES[name].members.flatMap((member) => {
      const value = (data as Record<string, unknown>)[member];
      return value === undefined ? [] : [[member, value] as const];
    }),
  );
