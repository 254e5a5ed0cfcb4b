import {
  defaultDocumentLoader,
  verifyCredential,
  type DocumentLoader,
  type RemoteDocument,
  type VerificationError,
} from '@digitalbazaar/vc';
import { decodeProtectedHeader, importJWK, jwtVerify, type JWTPayload } from 'jose';
import { checkStatus, refuseStatus, REVOCATION_LIST_CONTEXT } from './check-credential-status.js';
import { jwkOf, resolveDid, verificationMethodOf } from './did-resolution.js';
import { hostFetch } from './host-fetch.js';
import { suiteFor } from './proof-suites.js';
import { verifyLinkedDataProof } from './verify-domain-linkage.js';
import { verifyStatus } from './verify-status.js';

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

/** What a verifier loads: DIDs, contexts its libraries bring, and contexts of the platform over HTTP. */
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

export interface VerifiedJwtVc {
  header: { alg?: string; kid?: string; typ?: string };
  payload: JWTPayload & { vc?: Record<string, unknown> };
}

/**
 * Verifies a `jwt_vc_json` with jose and the key its `kid` names in the issuer's DID document, and its status, if it has one, with the key of
 * the same DID. @throws jose's errors, or Error with what was found
 */
export const verifyJwtVc = async (credential: string): Promise<VerifiedJwtVc> => {
  const { kid, alg } = decodeProtectedHeader(credential);
  if (!kid?.startsWith('did:')) throw new Error(`kid is no DID URL: ${kid}`);
  const key = await importJWK(jwkOf(await verificationMethodOf(kid)), alg);
  const issuer = kid.split('#', 1)[0]!;
  const { payload, protectedHeader } = await jwtVerify(credential, key, { issuer });
  if (payload['status'])
    await verifyStatus(payload['status'], async (header) => {
      if (header.kid !== kid) throw new Error(`the token of the list has the key ${header.kid}`);
      return key as CryptoKey;
    });
  return { header: protectedHeader, payload };
};
