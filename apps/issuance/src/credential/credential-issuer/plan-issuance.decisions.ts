import type { UnsignedCredential } from '../../formats/format.js';
import type { IssuanceSessionEvent } from '../../sessions/issuance-session/issuance-session.events.js';
import type { CredentialRecordedData } from '../../sessions/issued-credential/issued-credential.events.js';
import type { CredentialOrder } from './credential-order.js';

/** Facts once the credentials of an answer are signed. */
export interface IssuanceFacts {
  order: Pick<CredentialOrder, 'session' | 'configuration' | 'tokenId' | 'now'>;
  /** Id of all credentials of the answer. */
  answerId: string;
  /** How the format signs. */
  profile: CredentialRecordedData['profile'];
  /** Fingerprint of the certificate that signs; undefined where the key of the configuration does. */
  signerCertificate: string | undefined;
  unsigned: readonly UnsignedCredential[];
  /** In the order of the credentials, as are those below; none where the configuration has no status. */
  statuses: readonly { listId: string; index: number }[];
  /** The credentials as they are delivered to webhooks, sealed; none where no webhook subscribes to them. */
  documents: readonly { keyId: string; sealed: string }[];
}

type CredentialIssued = Extract<IssuanceSessionEvent, { type: 'CredentialIssued' }>;

/** Stored data of an answer. */
export interface IssuancePlan {
  credentialIds: string[];
  /** Events of the session. */
  issued: CredentialIssued[];
  /** The event with which the stream of each credential begins. */
  recorded: CredentialRecordedData[];
}

/** The events of the credentials of one answer (ADR 0070, ADR 0074). */
export const planIssuance = (facts: IssuanceFacts): IssuancePlan => {
  const { answerId, profile, signerCertificate, unsigned, statuses, documents } = facts;
  const { session, configuration, tokenId, now } = facts.order;
  const offerId = session.origin.kind === 'preAuthorizedOffer' ? session.id : session.origin.offerId;
  const plan: IssuancePlan = { credentialIds: [], issued: [], recorded: [] };
  for (const [index, credential] of unsigned.entries()) {
    const status = statuses[index];
    const document = documents[index];
    const data = {
      credentialId: credential.credentialId,
      answerId,
      sessionId: session.id,
      ...(offerId !== undefined && { offerId }),
      userId: session.userId,
      issuer: session.issuer,
      format: configuration.format,
      profile,
      credentialType: configuration.type,
      credentialConfigurationId: configuration.id,
      holderKey: { ...credential.holderKey },
      issuedAt: now.toISOString(),
      validFrom: credential.validFrom.toISOString(),
      ...(credential.validUntil && { validUntil: credential.validUntil.toISOString() }),
      ...(status && { status: { listId: status.listId, index: status.index } }),
    };
    plan.credentialIds.push(credential.credentialId);
    plan.issued.push({
      type: 'CredentialIssued',
      data: {
        ...data,
        ...(credential.digests && { digests: credential.digests }),
        ...(document && { documentKeyId: document.keyId }),
      },
    });
    plan.recorded.push({
      ...data,
      ...(configuration.issuerKey && { issuerDid: configuration.issuerKey.did }),
      ...(signerCertificate === undefined
        ? { verificationMethod: configuration.issuerKey!.verificationMethod }
        : { signerCertificate }),
      configurationVersion: configuration.version,
      tokenId,
      ...(document && { document: { keyId: document.keyId, sealed: document.sealed } }),
    });
  }
  return plan;
};
