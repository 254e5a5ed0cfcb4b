import {
  BBS_2023,
  CREDENTIALS_V1,
  DATA_INTEGRITY_V2,
  DID_CONFIGURATION_V1,
  ED25519_SIGNATURE_2018,
} from '@attestry/linked-data';
import type { DidKey } from '../did/did.events.js';

export interface LinkedDid {
  did: string;
  /** Milliseconds since the epoch. */
  registered: number;
  keys: readonly DidKey[];
}

export type LinkageSuite = typeof ED25519_SIGNATURE_2018 | 'ecdsa-rdfc-2019' | typeof BBS_2023;

/** The text to sign, the key and how it signs. */
export interface DomainLinkage {
  kmsKeyId: string;
  suite: LinkageSuite;
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

// The DIF's context is the standard's own; the older …/contexts/did-configuration-v0.2.jsonld has the same terms.
const CONTEXTS = [CREDENTIALS_V1, DID_CONFIGURATION_V1];
/** Best first: older suites are known to more verifiers. Credentials v1 does not define `DataIntegrityProof`. */
const SUITES = [
  { algorithm: 'Ed25519', suite: ED25519_SIGNATURE_2018, contexts: CONTEXTS },
  { algorithm: 'P-256', suite: 'ecdsa-rdfc-2019', contexts: [...CONTEXTS, DATA_INTEGRITY_V2] },
  { algorithm: 'Bls12381G2', suite: BBS_2023, contexts: [...CONTEXTS, DATA_INTEGRITY_V2] },
] as const;

const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/**
 * DIF Well Known DID Configuration, Domain Linkage Credential: no id, with an expiry, issuer and subject the DID. The
 * same for the whole period, so that every process makes the same one. `undefined` for a DID without a key that
 * asserts.
 */
export const domainLinkage = (linked: LinkedDid, origin: string, period: number): DomainLinkage | undefined => {
  const { did, registered, keys } = linked;
  const asserting = keys.filter(({ purposes }) => purposes.includes('assertionMethod'));
  const keyOf = (wanted: string) => asserting.find(({ algorithm }) => algorithm === wanted);
  const chosen = SUITES.find(({ algorithm }) => keyOf(algorithm));
  if (!chosen) return undefined;
  const key = keyOf(chosen.algorithm)!;
  const created = seconds(Math.max(registered, period * PERIOD_MS));
  return {
    kmsKeyId: key.kmsKeyId,
    suite: chosen.suite,
    verificationMethod: key.didDocumentKeyId,
    created,
    credential: {
      '@context': [...chosen.contexts],
      type: ['VerifiableCredential', 'DomainLinkageCredential'],
      issuer: did,
      issuanceDate: created,
      expirationDate: seconds((period + 2) * PERIOD_MS),
      credentialSubject: { id: did, origin },
    },
  };
};
