import {
  defaultDocumentLoader,
  verifyCredential,
  type DocumentLoader,
  type RemoteDocument,
  type VerificationError,
} from '@digitalbazaar/vc';
import { checkStatus, refuseStatus, REVOCATION_LIST_CONTEXT } from './check-credential-status.js';
import { resolveDid, verificationMethodOf } from './did-resolution.js';
import { hostFetch } from './host-fetch.js';
import { verifyLinkedDataProof } from './linked-data-proofs.js';
import { suiteFor } from './proof-suites.js';

/** A verification method taken out of its document needs the context of its type. */
const CONTEXT_OF: Record<string, string> = {
  Multikey: 'https://w3id.org/security/multikey/v1',
  Ed25519VerificationKey2018: 'https://w3id.org/security/suites/ed25519-2018/v1',
  JsonWebKey2020: 'https://w3id.org/security/suites/jws-2020/v1',
};

const remote = (documentUrl: string, document: unknown): RemoteDocument => ({
  contextUrl: null,
  documentUrl,
  document,
});

/** Documents that a verifier loads: DIDs, contexts its libraries bring, and contexts of the platform over HTTP. */
const documentLoader: DocumentLoader = async (url) => {
  if (url.startsWith('did:')) {
    if (!url.includes('#')) return remote(url, await resolveDid(url));
    const method = await verificationMethodOf(url);
    return remote(url, { '@context': CONTEXT_OF[method.type], ...method });
  }
  if (/^http:\/\/[a-z0-9.-]*localhost(?::\d+)?\//.test(url)) {
    const response = await hostFetch(url, { headers: { accept: 'application/ld+json, application/json' } });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return remote(url, await response.json());
  }
  return url === REVOCATION_LIST_CONTEXT.url
    ? remote(url, REVOCATION_LIST_CONTEXT.document)
    : defaultDocumentLoader(url);
};

/** Verifies an `ldp_vc` of any suite, and its status, with the libraries of Digital Bazaar. @throws Error saying what they found */
export const verifyLdpVc = async (credential: Record<string, unknown>): Promise<void> => {
  if ((credential['proof'] as { type?: string }).type === 'Ed25519Signature2018')
    return verifyLinkedDataProof(credential, {}, documentLoader);
  const suite = suiteFor(credential);
  const result = await verifyCredential({ credential, suite, documentLoader, checkStatus });
  refuseStatus(result);
  const { verified, error } = result;
  if (!verified) throw new Error(`the credential does not verify: ${messagesOf(error).join('; ')}`, { cause: error });
};

const messagesOf = (error: VerificationError | undefined): string[] =>
  error ? [...(error.message ? [error.message] : []), ...(error.errors ?? []).flatMap(messagesOf)] : [];
