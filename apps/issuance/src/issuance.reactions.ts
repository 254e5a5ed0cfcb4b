import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  credentialIssued,
  credentialNotified,
  credentialStatusChanged,
  customDomainDeletedInUse,
  issuanceDeferred,
  userDeleted,
  type CustomDomainChanged,
} from '@attestry/contracts';
import { Streams, readEvent, type RecordedEvent } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import type { FeedMessage } from '@attestry/messaging';
import { fact, PlatformConfig, Reactions, serviceContext, type Fact, recordPurgedTenants } from '@attestry/service-kit';
import { claimSources } from './claims/claim-sources/claim-sources.state.js';
import { SourceSecrets } from './claims/claim-sources/source-secrets.js';
import { credentialConfiguration } from './settings/credential-configuration/credential-configuration.state.js';
import { IssuerKeys } from './configurations/issuer-keys/issuer-keys.js';
import { IssuerSigners } from './certificates/issuer-certificates/issuer-signers.js';
import { Crls } from './certificates/document-signers/crls.js';
import { IssuerDomain } from './issuer/issuer-domain/issuer-domain.js';
import { credentialNotification } from './credential/credential-notification/credential-notification.state.js';
import { issuanceSession } from './sessions/issuance-session/issuance-session.state.js';
import { issuedCredential } from './sessions/issued-credential/issued-credential.state.js';
import { user } from './users/user/user.state.js';
import { withdrawnDomains } from './settings/withdrawn-domains/withdrawn-domains.state.js';

/** Categories of the events in {@link factsOf}. */
export const PUBLISHED = [
  credentialConfiguration,
  user,
  issuanceSession,
  issuedCredential,
  credentialNotification,
  withdrawnDomains,
] as const;

/** Fewer, larger batches than those of publishers whose events end access: each one is a flush of the feed (ADR 0069). */
const REST_MS = 50;

/** The integration event of a domain event. */
export const factsOf = (stored: RecordedEvent): Fact[] => {
  const { tenantId } = stored.metadata;
  switch (stored.type) {
    case 'CredentialIssued': {
      const event = readEvent(issuanceSession, stored);
      if (event.type !== 'CredentialIssued') return [];
      const { issuer, credentialId, format, profile, credentialConfigurationId, userId, sessionId, issuedAt } =
        event.data;
      const { documentKeyId } = event.data;
      return [
        fact(credentialIssued, {
          tenantId,
          issuer,
          credentialId,
          format,
          profile,
          credentialConfigurationId,
          userId,
          sessionId,
          issuedAt,
          ...(documentKeyId !== undefined && { documentKeyId }),
        }),
      ];
    }
    case 'IssuanceDeferred': {
      const event = readEvent(issuanceSession, stored);
      if (event.type !== 'IssuanceDeferred') return [];
      const { deferralId, userId, sessionId, credentialConfigurationId, holders, needsApproval, transaction } =
        event.data;
      const { expiresAt } = transaction;
      const credentials = holders.length;
      return [
        fact(issuanceDeferred, {
          ...{ tenantId, deferralId, userId, sessionId, credentialConfigurationId },
          ...{ credentials, needsApproval, expiresAt },
        }),
      ];
    }
    case 'CredentialNotified': {
      const { notifiedAt: _, ...data } = readEvent(credentialNotification, stored).data;
      return [fact(credentialNotified, { tenantId, ...data })];
    }
    case 'CredentialStatusChanged': {
      const event = readEvent(issuedCredential, stored);
      if (event.type !== 'CredentialStatusChanged') return [];
      const { credentialId, userId, credentialConfigurationId, format, profile, status, former, reason } = event.data;
      return [
        fact(credentialStatusChanged, {
          tenantId,
          credentialId,
          userId,
          credentialConfigurationId,
          format,
          credentialProfile: profile,
          status,
          formerStatus: former,
          ...(reason !== undefined && { reason }),
        }),
      ];
    }
    case 'IssuerDomainWithdrawn': {
      const event = readEvent(withdrawnDomains, stored);
      if (event.type !== 'IssuerDomainWithdrawn') return [];
      const { domain, activeConfigurations = 0 } = event.data;
      return activeConfigurations > 0
        ? [fact(customDomainDeletedInUse, { tenantId, domain, activeConfigurations })]
        : [];
    }
    case 'UserDeleted': {
      const event = readEvent(user, stored);
      return event.type === 'UserDeleted' ? [fact(userDeleted, { tenantId, userId: event.data.userId })] : [];
    }
    default:
      return [];
  }
};

@Injectable()
export class IssuanceReactions implements OnApplicationBootstrap {
  constructor(
    private readonly reactions: Reactions,
    private readonly streams: Streams,
    private readonly issuerKeys: IssuerKeys,
    private readonly issuerSigners: IssuerSigners,
    private readonly crls: Crls,
    private readonly issuerDomain: IssuerDomain,
    private readonly sourceSecrets: SourceSecrets,
    private readonly config: PlatformConfig,
  ) {}

  onApplicationBootstrap(): void {
    recordPurgedTenants('issuance.purged-tenants', this.reactions, this.streams);
    this.reactions.publishFacts('issuance', PUBLISHED, factsOf, REST_MS);
    this.reactions.consumeEach('issuance.domain-signers', (message) => this.makeDomainSigner(message));
    this.reactions.start({
      name: 'issuance.held-signers',
      of: [withdrawnDomains],
      onEvents: async (events) => {
        for (const stored of events) await this.holdSigners(stored);
      },
    });
    this.reactions.start({
      name: 'issuance.issuer-names',
      of: [withdrawnDomains],
      onEvents: async (events) => {
        for (const stored of events) await this.endIssuerName(stored);
      },
    });
    this.reactions.start({
      name: 'issuance.claim-source-secrets',
      of: [claimSources],
      onEvents: async (events) => {
        for (const stored of events) await this.destroySourceSecret(stored);
      },
    });
    this.reactions.start({
      name: 'issuance.release-issuer-keys',
      of: [credentialConfiguration],
      onEvents: async (events) => {
        for (const stored of events) await this.releaseIssuerKey(stored);
      },
    });
  }

  private async holdSigners(stored: RecordedEvent): Promise<void> {
    const { type, data } = readEvent(withdrawnDomains, stored);
    const { tenantId, requestId, occurredAt } = stored.metadata;
    const { domain, revision } = data;
    const change = {
      ...{ domain, revision, isWithdrawn: type === 'IssuerDomainWithdrawn' },
      changedAt: new Date(occurredAt),
    };
    const context = serviceContext('issuance.held-signers', tenantId, requestId);
    try {
      await this.crls.recordDomainChange(tenantId, change, context);
    } catch (error) {
      // The tenant was purged.
      if (!(error instanceof KeyNotFound)) throw error;
    }
  }

  private async endIssuerName(stored: RecordedEvent): Promise<void> {
    const { type, data } = readEvent(withdrawnDomains, stored);
    const { tenantId, requestId } = stored.metadata;
    if (type === 'IssuerDomainWithdrawn')
      await this.issuerDomain.end(tenantId, data.domain, serviceContext('issuance.issuer-names', tenantId, requestId));
  }

  /** Ahead of the first read of signed metadata at the domain, which makes none. */
  private async makeDomainSigner({ headers, data }: FeedMessage): Promise<void> {
    const { tenantId, domain } = data as CustomDomainChanged;
    const context = serviceContext('issuance.domain-signers', tenantId, headers['requestId'] ?? '');
    try {
      await this.issuerSigners.ensure(tenantId, `${this.config.publicScheme}://${domain}`, context);
    } catch (error) {
      // The tenant was deleted.
      if (!(error instanceof KeyNotFound)) throw error;
    }
  }

  private async destroySourceSecret(stored: RecordedEvent): Promise<void> {
    const event = readEvent(claimSources, stored);
    if (event.type === 'ClaimSourceDeleted') await this.sourceSecrets.destroy(stored.metadata.tenantId, event.data.id);
  }

  /** Usually the request has done it already. Retried from the checkpoint until dids has done it. */
  private async releaseIssuerKey(stored: RecordedEvent): Promise<void> {
    const event = readEvent(credentialConfiguration, stored);
    if (event.type !== 'CredentialConfigurationDeleted') return;
    const { configurationId, did } = event.data;
    if (did === undefined) return;
    const { tenantId, requestId, traceparent } = stored.metadata;
    await this.issuerKeys.release(
      tenantId,
      { did, configurationId },
      {
        requestId,
        operation: 'issuance.release-issuer-keys',
        deadline: Date.now() + this.config.operationTimeoutMs,
        ...(traceparent !== undefined && { traceparent }),
      },
    );
  }
}
