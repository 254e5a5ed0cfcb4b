import type { CredentialFormat, CredentialProfile, CredentialStatus } from '@attestry/contracts';

/** JSON of a credential, sealed under the data key `keyId`, purpose `delivery`. */
export interface SealedDocument {
  keyId: string;
  sealed: string;
}

/** Where the status of a credential is published. */
export interface StatusEntry {
  listId: string;
  index: number;
}

/** Appended together with `CredentialIssued` of the session; without that event the credential was not handed out (ADR 0070). */
interface CredentialRecorded {
  type: 'CredentialRecorded';
  data: {
    /** uuid */
    credentialId: string;
    /** Id of the response that carried it: one for all credentials of a batch. */
    answerId: string;
    sessionId: string;
    offerId?: string;
    userId: string;
    issuer: string;
    issuerDid?: string;
    /** DID URL of the key that signed, where it is a key of a DID. */
    verificationMethod?: string;
    /** SHA-256 of the certificate whose key signed, hex. */
    signerCertificate?: string;
    format: CredentialFormat;
    profile: CredentialProfile;
    credentialType: string;
    credentialConfigurationId: string;
    configurationVersion: number;
    /** Access token of the request. */
    tokenId: string;
    /** Public JWK of the holder. */
    holderKey: Record<string, unknown>;
    issuedAt: string;
    validFrom: string;
    validUntil?: string;
    /** Absent for a credential without status, which cannot be revoked. */
    status?: StatusEntry;
    /** Only while a webhook subscribes to it (ADR 0008). */
    document?: SealedDocument;
  };
}

/** Change of a credential with a status, which is valid when it is issued. */
interface CredentialStatusChanged {
  type: 'CredentialStatusChanged';
  data: {
    credentialId: string;
    status: CredentialStatus;
    former: CredentialStatus;
    /** Text of the caller. */
    reason?: string;
    changedAt: string;
    userId: string;
    credentialConfigurationId: string;
    format: CredentialFormat;
    profile: CredentialProfile;
    issuedAt: string;
  } & StatusEntry;
}

/** Its metadata are no longer shown, and what was persisted of it is erased. */
interface CredentialDeleted {
  type: 'CredentialDeleted';
  data: { credentialId: string; userId: string; issuedAt: string; deletedAt: string };
}

export type IssuedCredentialEvent = CredentialRecorded | CredentialStatusChanged | CredentialDeleted;
export type CredentialDeletedData = CredentialDeleted['data'];
export type CredentialRecordedData = CredentialRecorded['data'];
export type CredentialStatusChangedData = CredentialStatusChanged['data'];
