import type { IssuedCredential, PreAuthorizedOfferStatus } from '@attestry/contracts';
import type {
  CredentialIssuedData,
  IssuanceSessionEvent,
} from '../../sessions/issuance-session/issuance-session.events.js';

/** View of a pre-authorized offer, without codes and claims. */
export interface OfferRecord extends Omit<PreAuthorizedOfferStatus, 'state' | 'issuedCredentials'> {
  progress: Exclude<PreAuthorizedOfferStatus['state'], 'EXPIRED'>;
  /** End of the code, later of the access token. RFC 3339 */
  endsAt: string;
  /** Latest end of deferrals whose credentials can still be collected. RFC 3339 */
  openUntil?: string | undefined;
  issued: IssuedCredential[];
}

/**
 * The record after an event of the session; `undefined` for a session that did not begin with an offer.
 * @param mostIssued credentials that are kept
 */
export const recordAfter = (
  record: OfferRecord | undefined,
  event: IssuanceSessionEvent,
  mostIssued: number,
): OfferRecord | undefined => {
  if (event.type === 'PreAuthorizedOfferCreated') {
    const { sessionId: id, userId, entries, code, createdAt } = event.data;
    const credentials = entries.map(({ credentialConfigurationId }) => credentialConfigurationId);
    const { expiresAt } = code;
    return { id, userId, createdAt, credentials, expiresAt, progress: 'CREATED', endsAt: expiresAt, issued: [] };
  }
  if (!record) return undefined;
  switch (event.type) {
    case 'PreAuthorizedCodeRedeemed':
      return { ...record, progress: 'REDEEMED', endsAt: event.data.accessToken.expiresAt };
    case 'CredentialIssued': {
      const issued =
        record.issued.length < mostIssued ? [...record.issued, issuedCredential(event.data)] : record.issued;
      return { ...record, progress: 'CLAIMED', issued };
    }
    case 'SessionLocked':
      return { ...record, progress: 'LOCKED' };
    case 'PreAuthorizedOfferDeleted':
      return { ...record, progress: 'DELETED' };
    case 'IssuanceDeferred':
    case 'DeferredIssuanceDenied':
    case 'DeferredIssuanceCompleted':
      return { ...record, openUntil: event.data.openUntil };
    // The wallet revoked its token.
    case 'TokensRevoked':
      return { ...record, endsAt: event.data.revokedAt, openUntil: undefined };
    case 'DeferredIssuanceApproved':
    case 'ClaimSetsBound':
    case 'TransactionCodeRefused':
    case 'AuthorizationGranted':
    case 'AuthorizationCodeRedeemed':
    case 'AuthorizationCodeReplayed':
      return record;
  }
};

export const offerStatus = (
  { id, progress, endsAt, openUntil = endsAt, issued, ...offer }: OfferRecord,
  now: Date,
): PreAuthorizedOfferStatus => {
  const isOpen = progress === 'CREATED' || progress === 'REDEEMED';
  const isExpired = isOpen && Math.max(Date.parse(endsAt), Date.parse(openUntil)) <= now.getTime();
  return { id, state: isExpired ? 'EXPIRED' : progress, ...offer, issuedCredentials: issued };
};

const issuedCredential = (issued: CredentialIssuedData): IssuedCredential => ({
  id: issued.credentialId,
  credentialConfigurationId: issued.credentialConfigurationId,
  type: issued.credentialType,
  format: issued.format,
  issuedDate: issued.issuedAt,
  ...(issued.validUntil !== undefined && { validUntil: issued.validUntil }),
});
