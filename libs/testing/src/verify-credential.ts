import { decodeProtectedHeader, importJWK, jwtVerify, type JWTPayload } from 'jose';
import { jwkOf, verificationMethodOf } from './did-resolution.js';
import { verifyStatus } from './verify-status.js';

/** Verifies an `ldp_vc` of any suite, and its status, with the libraries of Digital Bazaar. @throws Error saying what they found */
export const verifyLdpVc = async (credential: Record<string, unknown>): Promise<void> => {
  const verifier = await import('./verify-ldp-vc.js');
  return verifier.verifyLdpVc(credential);
};

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
