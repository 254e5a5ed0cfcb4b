import { from as bls12381Multikey } from '@digitalbazaar/bls12-381-multikey';
import dataIntegrity from '@digitalbazaar/data-integrity-context';
import { driver } from '@digitalbazaar/did-method-key';
import { from as ecdsaMultikey } from '@digitalbazaar/ecdsa-multikey';
import { Ed25519VerificationKey2018 } from '@digitalbazaar/ed25519-verification-key-2018';
import { defaultDocumentLoader, verifyCredential, type CheckStatus, type DocumentLoader } from '@digitalbazaar/vc';
import { checkStatus as checkInList, refuseStatus } from './check-credential-status.js';
import { resolveDid, type DidDocument } from './did-resolution.js';
import { suiteFor } from './proof-suites.js';

const V1 = 'https://identity.foundation/.well-known/did-configuration/v1';
const TERMS = 'https://identity.foundation/.well-known/resources/did-configuration/#';
/** Context that the DIF publishes; a verifier has its own copy. */
const CONTEXT = {
  '@context': [
    {
      '@version': 1.1,
      '@protected': true,
      ...Object.fromEntries(
        ['LinkedDomains', 'DomainLinkageCredential', 'origin', 'linked_dids'].map((term) => [term, TERMS + term]),
      ),
    },
  ],
};

const didKeys = driver();
didKeys.use({
  multibaseMultikeyHeader: 'z6Mk',
  fromMultibase: async ({ publicKeyMultibase: fingerprint }) =>
    Ed25519VerificationKey2018.fromFingerprint({ fingerprint }),
});
didKeys.use({ multibaseMultikeyHeader: 'zDna', fromMultibase: ecdsaMultikey });
for (const multibaseMultikeyHeader of ['zUC6', 'zUC7'])
  didKeys.use({ multibaseMultikeyHeader, fromMultibase: bls12381Multikey });

/** The document that the library of Digital Bazaar makes of an Ed25519, P-256 or BLS12-381 did:key. */
export const resolveDidKey = async (did: string): Promise<DidDocument> => (await didKeys.get({ did })) as DidDocument;

/** A did:key is resolved by that library, any other by `others`. */
const documentOf = async (did: string, others: (did: string) => Promise<DidDocument>): Promise<DidDocument> =>
  did.startsWith('did:key:') ? resolveDidKey(did) : others(did);

export interface LinkageVerification {
  /** Default: now. */
  now?: Date;
  /** Resolves DIDs other than did:key; default: over HTTP. */
  resolve?: (did: string) => Promise<DidDocument>;
  /** Default: in the list of the credential's issuer. */
  checkStatus?: CheckStatus;
}

const SUITE_CONTEXTS: Readonly<Record<string, string>> = {
  Multikey: 'https://w3id.org/security/multikey/v1',
  Ed25519VerificationKey2018: Ed25519VerificationKey2018.SUITE_CONTEXT,
};

/** Verifies what Digital Bazaar's libraries verify of a credential. @throws Error saying what they found */
export const verifyLinkedDataProof = async (
  credential: Record<string, unknown>,
  { now = new Date(), resolve = resolveDid, checkStatus = checkInList }: LinkageVerification = {},
  contexts: DocumentLoader = defaultDocumentLoader,
): Promise<void> => {
  const documentLoader: DocumentLoader = async (url) => {
    if (!url.startsWith('did:')) {
      const known = url === V1 ? CONTEXT : dataIntegrity.contexts.get(url);
      return known ? { contextUrl: null, documentUrl: url, document: known } : contexts(url);
    }
    const document = await documentOf(url.split('#', 1)[0]!, resolve);
    const method = document.verificationMethod?.find(({ id }) => id === url);
    if (!method) return { contextUrl: null, documentUrl: url, document };
    const inItself = { '@context': SUITE_CONTEXTS[method.type], ...method };
    return { contextUrl: null, documentUrl: url, document: inItself };
  };
  const suite = suiteFor(credential);
  const result = await verifyCredential({ credential, suite, documentLoader, now, checkStatus });
  refuseStatus(result);
  const { verified, error } = result;
  if (!verified) throw new Error(`does not verify: ${JSON.stringify(error)}`, { cause: error });
};
