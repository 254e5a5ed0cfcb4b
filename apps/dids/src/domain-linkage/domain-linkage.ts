import type { DidKey } from '../did/did.events.js';

/** Ed25519 keys sign linkage; BBS proofs are not offered. */
export interface LinkedDid {
  did: string;
  /** Milliseconds since the epoch. */
  registered: number;
  keys: readonly DidKey[];
}

/** The text to sign, and the key. */
export interface DomainLinkage {
  kmsKeyId: string;
  verificationMethod: string;
  /** RFC 3339, whole seconds. */
  created: string;
  credential: {
    '@context': string[];
    type: string[];
    issuer: string;
    issuanceDate: string;
    expirationDate: string;
    credentialSubject: { id: string; origin: string };
  };
}

/** New credentials are signed at the start of each period and expire at the end of the next one, milliseconds. */
export const PERIOD_MS = 90 * 86_400_000;

/** Number of the period that contains a time. */
export const periodOf = (now: Date): number => Math.floor(now.getTime() / PERIOD_MS);

const CONTEXTS = [
  'https://www.w3.org/2018/credentials/v1',
  // The standard's own; the older …/contexts/did-configuration-v0.2.jsonld has the same terms.
  'https://identity.foundation/.well-known/did-configuration/v1',
];

const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/**
 * DIF Well Known DID Configuration, Domain Linkage Credential: no id, with an expiry, issuer and subject the DID. The
 * same for the whole period, so that every process makes the same one. `undefined` for a DID without Ed25519 key.
 */
export const domainLinkage = (linked: LinkedDid, origin: string, period: number): DomainLinkage | undefined => {
  const { did, registered, keys } = linked;
  const key = keys.find(({ algorithm, purposes }) => algorithm === 'Ed25519' && purposes.includes('assertionMethod'));
  if (!key) return undefined;
  const created = seconds(Math.max(registered, period * PERIOD_MS));
  return {
    kmsKeyId: key.kmsKeyId,
    verificationMethod: key.didDocumentKeyId,
    created,
    credential: {
      '@context': CONTEXTS,
      type: ['VerifiableCredential', 'DomainLinkageCredential'],
      issuer: did,
      issuanceDate: created,
      expirationDate: seconds((period + 2) * PERIOD_MS),
      credentialSubject: { id: did, origin },
    },
  };
};
