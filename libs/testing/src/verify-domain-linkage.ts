import type { DocumentLoader } from '@digitalbazaar/vc';
import type { DidDocument } from './did-resolution.js';
import type { LinkageVerification } from './linked-data-proofs.js';

// Loaded with the first call: the libraries take a third of a second, and few specs verify linked data.
const proofs = () => import('./linked-data-proofs.js');

/** The document that the library of Digital Bazaar makes of an Ed25519, P-256 or BLS12-381 did:key. */
export const didKey = async (did: string): Promise<DidDocument> => (await proofs()).resolveDidKey(did);

/** Verifies what Digital Bazaar's libraries verify of a credential. @throws Error saying what they found */
export const verifyLinkedDataProof = async (
  credential: Record<string, unknown>,
  verification?: LinkageVerification,
  contexts?: DocumentLoader,
): Promise<void> => (await proofs()).verifyLinkedDataProof(credential, verification, contexts);

/**
 * DIF Well Known DID Configuration, section DID Configuration Resource Verification, for one credential that was found at
 * `origin`. @throws Error
 */
export const verifyDomainLinkage = async (
  credential: Record<string, unknown>,
  origin: string,
  verification: LinkageVerification = {},
): Promise<void> => {
  const { id, issuer, type, credentialSubject, issuanceDate, expirationDate } = credential as Record<
    string,
    unknown
  > & {
    credentialSubject: { id: string; origin: string };
  };
  if (id !== undefined) throw new Error('must have no id');
  if (!(type as string[]).includes('DomainLinkageCredential')) throw new Error('is no DomainLinkageCredential');
  if (issuer !== credentialSubject.id) throw new Error('issuer and subject differ');
  if (typeof issuanceDate !== 'string' || typeof expirationDate !== 'string') throw new Error('a date is missing');
  if (credentialSubject.origin !== origin) throw new Error(`is for ${credentialSubject.origin}, not ${origin}`);
  await verifyLinkedDataProof(credential, verification);
};
