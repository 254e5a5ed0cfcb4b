import { defineIntegrationEvent } from '../integration-event.js';
import type { CredentialStatus } from './credential-status.js';
import type { CredentialFormat, CredentialProfile } from './formats.js';
import type { NotificationEvent } from './notifications.js';

/**
 * One per credential; the message id is the domain event's id and the webhook's `event.id`. The credential itself is
 * named by its key, only for tenants with an enabled webhook that subscribes to it (ADR 0008), and loaded from issuance (ADR 0070).
 */
export const credentialIssued = defineIntegrationEvent<{
  tenantId: string;
  /** Base address of the tenant when it was issued. */
  issuer: string;
  credentialId: string;
  format: CredentialFormat;
  profile: CredentialProfile;
  credentialConfigurationId: string;
  userId: string;
  sessionId: string;
  issuedAt: string;
  /** Data key, purpose `delivery`, of the document that `issuance.retrieve-credential-document` returns; absent when none is kept. */
  documentKeyId?: string;
}>('issuance.credential-issued');

/** Not sent when a call sets the status that the credential has already. */
export const credentialStatusChanged = defineIntegrationEvent<{
  tenantId: string;
  credentialId: string;
  userId: string;
  credentialConfigurationId: string;
  format: CredentialFormat;
  credentialProfile: CredentialProfile;
  status: CredentialStatus;
  formerStatus: CredentialStatus;
  /** Text of the caller. */
  reason?: string;
}>('issuance.credential-status-changed');

/** The wallet collects the credentials later. */
export const issuanceDeferred = defineIntegrationEvent<{
  tenantId: string;
  /** Id in the list of `GET /v1/openid/deferred`; never the transaction id. */
  deferralId: string;
  userId: string;
  sessionId: string;
  credentialConfigurationId: string;
  credentials: number;
  needsApproval: boolean;
  expiresAt: string;
}>('issuance.issuance-deferred');

/** First report of a kind by the wallet about the credentials of one response (OID4VCI 1.0 section 11). */
export const credentialNotified = defineIntegrationEvent<{
  tenantId: string;
  notificationId: string;
  event: NotificationEvent;
  userId: string;
  sessionId: string;
  credentialConfigurationId: string;
  credentialIds: string[];
}>('issuance.credential-notified');

export const userDeleted = defineIntegrationEvent<{ tenantId: string; userId: string }>('issuance.user-deleted');

/** A tenant lost its custom domain (deleted, replaced or verified by another tenant) while credential configurations issue under it. */
export const customDomainDeletedInUse = defineIntegrationEvent<{
  tenantId: string;
  domain: string;
  /** Number of active credential configurations whose DID is under the domain. */
  activeConfigurations: number;
}>('issuance.custom-domain-deleted-in-use');
