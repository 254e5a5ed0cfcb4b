import type { CredentialFormat, CredentialProfile, UserCredential, UserInfoOutcome } from '@attestry/contracts';
import type { PublicJwk, StoredValue } from '@attestry/keys';
import type { StatusEntry } from '../issued-credential/issued-credential.events.js';

/** MAC of a code or token that the platform issued; `keyId` names the pepper (ADR 0058). */
export interface Grant {
  /** uuid; part of the bearer value. */
  tokenId: string;
  kind: 'preAuthorizedCode' | 'authorizationCode' | 'access' | 'issuerState' | 'refresh' | 'transaction';
  mac: string;
  keyId: string;
  /** RFC 3339 */
  expiresAt: string;
  /** Thumbprint of the DPoP key that an access token is bound to (RFC 9449 §6.1, `cnf.jkt`). */
  jkt?: string;
}

/** Form of a transaction code and its MAC, bound to the offer. OID4VCI §4.1.1 */
export interface TransactionCode {
  inputMode: 'numeric' | 'text';
  length: number;
  description?: string;
  mac: string;
  keyId: string;
}

/** One offered credential. A configuration's format and type never change, so its scope is pinned here. */
export interface OfferEntry {
  credentialConfigurationId: string;
  /** `<format>:<type>` */
  scope: string;
}

export interface PreAuthorizedOfferOrigin {
  kind: 'preAuthorizedOffer';
  transactionCode?: TransactionCode;
  /** The offer document, sealed under a secret that only `uriByReference` carries (ADR 0059). */
  sealedDocument: string;
}

/** Parameters of the authorization request that the token request must match. */
export interface AuthorizationRequestOrigin {
  kind: 'authorizationRequest';
  clientId: string;
  /** The code of a wallet that was registered is exchanged while it is. */
  isRegistered?: true;
  redirectUri: string;
  /** S256. RFC 7636 §4.2 */
  codeChallenge: string;
  /** Authentication provider that signed the person in. */
  providerId: string;
  /** Configurations that `authorization_details` named: the token response returns their identifiers (OID4VCI §6.2). */
  detailed?: string[];
  /** `dpop_jkt`: the code is exchanged with a proof of this key only (RFC 9449 §10). */
  dpopJkt?: string;
  /** Thumbprint of the attested key of a pushed request: the code is exchanged by the same wallet instance only. */
  instanceJkt?: string;
  /** Stored offer that the request named by `issuer_state`. */
  offerId?: string;
  /** Outcome of UserInfo in the sign-in, for the refusal of a credential that lacks a claim. */
  userInfo?: UserInfoOutcome;
}

/** Where a session began: an offer, or an authorization request whose person signed in (ADR 0059). */
export type SessionOrigin = PreAuthorizedOfferOrigin | AuthorizationRequestOrigin;

/** Credentials that a token covers when the wallet used `authorization_details`, or the offer has claim sets. OID4VCI §6.2 */
export interface GrantedDetail {
  credentialConfigurationId: string;
  credentialIdentifiers: string[];
}

/** The family of the session's refresh token (ADR 0090). */
export interface BegunFamily {
  id: string;
  /** End of the refresh token, RFC 3339. */
  expiresAt: string;
}

/** A code that was exchanged for an access token. */
export interface CodeRedeemed {
  sessionId: string;
  /** Id of the code. */
  tokenId: string;
  accessToken: Grant;
  /** Space-separated. */
  scope: string;
  /** Only when the wallet sent `authorization_details`, or the session binds claim sets; then identifiers must be used (ADR 0059). */
  authorizationDetails?: GrantedDetail[];
  tokenFamily?: BegunFamily;
  redeemedAt: string;
}

/** Salted digests of a credential whose format signs them; they show nothing of the values. */
export type CredentialDigests = Required<Pick<UserCredential, 'namespaces' | 'msoHash'>>;

/** Credentials that the wallet requested and collects later (OID4VCI 1.0 §9). */
export interface IssuanceDeferredData {
  /** uuid; known to the issuer. */
  deferralId: string;
  sessionId: string;
  offerId?: string;
  userId: string;
  /** Transaction id, with the end of the deferral. */
  transaction: Grant;
  credentialConfigurationId: string;
  configurationVersion: number;
  /** Absent unless the wallet requested by identifier. */
  credentialIdentifier?: string;
  /** One credential for each. Their proofs were verified with the request. */
  holders: { did: string; publicJwk: PublicJwk }[];
  /** Access token of the request. */
  tokenId: string;
  /** Whether the issuer must approve it. */
  needsApproval: boolean;
  deferredAt: string;
  /** Latest end of the open ones of the session: its claims are kept until then. */
  openUntil: string;
}

export type IssuanceSessionEvent =
  | {
      type: 'PreAuthorizedOfferCreated';
      data: {
        /** Id of the session and of the offer. */
        sessionId: string;
        origin: PreAuthorizedOfferOrigin;
        /** Credential issuer identifier, pinned when the session starts (ADR 0056). */
        issuer: string;
        binding: 'none';
        userId: string;
        /** The user begins with this offer and has no event yet (ADR 0071). */
        newUser?: true;
        entries: OfferEntry[];
        code: Grant;
        /** JSON of the offer's claims, stored with the session's data key (purpose `session`, key id = session id); see `ClaimSetsBound`. */
        storedClaims?: StoredValue;
        createdAt: string;
      };
    }
  | {
      /** A person signed in and the wallet got a code. Requests that did not get so far are not recorded. */
      type: 'AuthorizationGranted';
      data: {
        sessionId: string;
        origin: AuthorizationRequestOrigin;
        issuer: string;
        binding: 'none';
        userId: string;
        entries: OfferEntry[];
        code: Grant;
        /** JSON of the person's claims from the provider, as in `PreAuthorizedOfferCreated`. */
        storedClaims?: StoredValue;
        grantedAt: string;
      };
    }
  | {
      /**
       * With the first event of a session whose offer has claim sets; the session's claims then hold them, too. Of its own, so that a release that
       * does not know it issues nothing for the session.
       */
      type: 'ClaimSetsBound';
      data: {
        sessionId: string;
        /** Identifiers of every entry; each token response returns them (OID4VCI §6.2). */
        identifiers: GrantedDetail[];
      };
    }
  | { type: 'TransactionCodeRefused'; data: { refusedAt: string } }
  | { type: 'SessionLocked'; data: { sessionId: string; lockedAt: string } }
  | { type: 'PreAuthorizedCodeRedeemed'; data: CodeRedeemed }
  | { type: 'AuthorizationCodeRedeemed'; data: CodeRedeemed }
  /** The code was used a second time: its tokens are revoked (RFC 6749 §4.1.2). */
  | { type: 'AuthorizationCodeReplayed'; data: { sessionId: string; replayedAt: string } }
  /** By the wallet (RFC 7009), or because its person or wallet may no longer use them. */
  | { type: 'TokensRevoked'; data: { sessionId: string; revokedAt: string } }
  | {
      /** Counts the credential, whose stream is appended at the same time (ADR 0070); the facts are those that other services and lists need. */
      type: 'CredentialIssued';
      data: {
        /** uuid */
        credentialId: string;
        /** Id of the response that carried it: one for all credentials of a batch. */
        answerId: string;
        sessionId: string;
        offerId?: string;
        userId: string;
        issuer: string;
        format: CredentialFormat;
        profile: CredentialProfile;
        credentialType: string;
        credentialConfigurationId: string;
        /** Public JWK of the holder. */
        holderKey: Record<string, unknown>;
        issuedAt: string;
        validFrom: string;
        validUntil?: string;
        /** Absent for a credential without status. */
        status?: StatusEntry;
        /** Here alone, from where they are listed. */
        digests?: CredentialDigests;
        /** Data key of the document in the credential's stream, if it was kept. */
        documentKeyId?: string;
      };
    }
  /** The nonce of the request is spent at the same time. */
  | { type: 'IssuanceDeferred'; data: IssuanceDeferredData }
  | { type: 'DeferredIssuanceApproved'; data: { deferralId: string; approvedAt: string } }
  | { type: 'DeferredIssuanceDenied'; data: { deferralId: string; deniedAt: string; openUntil?: string } }
  /** In one append with `CredentialIssued`: the transaction id is invalid from now on. */
  | {
      type: 'DeferredIssuanceCompleted';
      data: { deferralId: string; answerId: string; completedAt: string; openUntil?: string };
    }
  | { type: 'PreAuthorizedOfferDeleted'; data: { sessionId: string; deletedAt: string } };

export type CredentialIssuedData = Extract<IssuanceSessionEvent, { type: 'CredentialIssued' }>['data'];
