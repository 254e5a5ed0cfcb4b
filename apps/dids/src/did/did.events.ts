import type { RegistrationStatus } from '@attestry/contracts';

export type KeyAlgorithm = 'P-256' | 'Ed25519' | 'X25519' | 'Bls12381G2';

/** Verification relationships, DID Core §5.3. */
export type KeyPurpose =
  'authentication' | 'assertionMethod' | 'capabilityDelegation' | 'capabilityInvocation' | 'keyAgreement';

export interface DidKey {
  /** DID URL of the verification method. */
  didDocumentKeyId: string;
  /** Key of the vault. Two entries share one where a key is derived from the other (X25519 of a did:key). */
  kmsKeyId: string;
  algorithm: KeyAlgorithm;
  purposes: KeyPurpose[];
}

export type DidMethod = 'key' | 'web';

export interface DidCreated {
  type: 'DidCreated';
  data: {
    did: string;
    method: DidMethod;
    keys: DidKey[];
    document: Record<string, unknown>;
    registrationStatus: RegistrationStatus;
    /** Milliseconds since the epoch. */
    registered: number;
  };
}

/** The document of a did:web on another host was found there, as this platform generated it. */
export interface DidPublicationSeen {
  type: 'DidPublicationSeen';
  data: { seenAt: string };
}

/** The document of a did:web got what documents have by now. */
export interface DidDocumentUpdated {
  type: 'DidDocumentUpdated';
  data: { document: Record<string, unknown>; updatedAt: string };
}

/** The document was found where the DID names it, with each `Multikey`: from now on proofs name them. */
export interface DidMultikeysSeen {
  type: 'DidMultikeysSeen';
  data: { seenAt: string };
}

/** A credential configuration signs with this DID and keeps it from deletion. */
export interface DidReserved {
  type: 'DidReserved';
  data: { configurationId: string; algorithm: KeyAlgorithm; reservedAt: string };
}

export interface DidReleased {
  type: 'DidReleased';
  data: { configurationId: string };
}

/** From here on the deletion cannot be undone: callers get 404, and the keys are being destroyed. */
export interface DidDeletionStarted {
  type: 'DidDeletionStarted';
  data: { did: string; startedAt: string };
}

/** The private keys are destroyed. */
export interface DidDeleted {
  type: 'DidDeleted';
  data: { did: string; deletedAt: string };
}

export type DidEvent =
  | DidCreated
  | DidPublicationSeen
  | DidDocumentUpdated
  | DidMultikeysSeen
  | DidReserved
  | DidReleased
  | DidDeletionStarted
  | DidDeleted;
