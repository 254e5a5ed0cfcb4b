import { MAX_JWE_LENGTH, oauthError, type EncryptionPolicy } from '@attestry/contracts';
import { importPublicJwk, InvalidKey } from '@attestry/keys';
import { decodeProtectedHeader, errors, type JWK } from 'jose';
import type { EncryptionKey } from '../../certificates/encryption-keys/encryption-keys.events.js';
import { isObject } from '../../reading/raw-request/raw-request.js';

export const ALGORITHM = 'ECDH-ES';
export const ENC_VALUES = ['A128GCM', 'A256GCM'] as const;
export const ZIP_VALUES = ['DEF'] as const;
const MAX_KID_LENGTH = 512;

type Enc = (typeof ENC_VALUES)[number];

/** How the wallet wants the response encrypted (OID4VCI 1.0 §8.2); everything in it has been checked. */
export interface ResponseEncryption {
  jwk: JWK;
  kid?: string;
  enc: Enc;
  zip?: 'DEF';
}

export const refused = (description: string) =>
  oauthError('invalid_encryption_parameters', description, { check: 'message-encryption' });

const isOneOf = <T extends string>(values: readonly T[], value: unknown): value is T =>
  (values as readonly unknown[]).includes(value);

/** @returns the `kid` of a JWE whose header names only what is supported. @throws AppError `invalid_encryption_parameters` */
export const checkJweHeader = (jwe: string): string => {
  if (jwe.length > MAX_JWE_LENGTH) throw refused(`the JWE must have at most ${MAX_JWE_LENGTH} characters`);
  if (!/^[\w-]+\.\.[\w-]+\.[\w-]*\.[\w-]+$/.test(jwe))
    throw refused('the body must be a compact JWE without an encrypted key, as ECDH-ES makes it');
  const { alg, enc, zip, kid, crit, epk } = headerOf(jwe);
  if (alg !== ALGORITHM) throw refused(`alg must be ${ALGORITHM}`);
  if (!isOneOf(ENC_VALUES, enc)) throw refused(`enc must be one of ${ENC_VALUES.join(', ')}`);
  if (zip !== undefined && !isOneOf(ZIP_VALUES, zip)) throw refused(`zip must be ${ZIP_VALUES.join(', ')}`);
  if (crit !== undefined) throw refused('critical header parameters are not supported');
  checkP256('epk', epk);
  // Web Crypto fails on them with errors of its own.
  if (Object.entries(epk as object).some(([name, value]) => name === 'key_ops' || typeof value === 'object'))
    throw refused('epk must not have key_ops, objects or arrays');
  if (typeof kid !== 'string') throw refused('kid is missing');
  return kid;
};

const headerOf = (jwe: string): Record<string, unknown> => {
  try {
    return decodeProtectedHeader(jwe) as Record<string, unknown>;
  } catch (cause) {
    if (cause instanceof errors.JOSEError || cause instanceof TypeError) throw refused('the JWE header must be JSON');
    throw cause;
  }
};

const checkP256 = (name: string, jwk: unknown): JWK => {
  if (!isObject(jwk) || jwk['crv'] !== 'P-256') throw refused(`${name} must be a public key on P-256`);
  try {
    return importPublicJwk(jwk).publicJwk;
  } catch (cause) {
    if (cause instanceof InvalidKey) throw refused(`${name} must be a public key on P-256: ${cause.message}`);
    throw cause;
  }
};

/**
 * `credential_response_encryption` of a request (OID4VCI 1.0 §8.2). Unknown members are ignored.
 * @param isEncrypted whether the request was
 * @throws AppError `invalid_encryption_parameters`
 */
export const parseResponseEncryption = (
  value: unknown,
  isEncrypted: boolean,
  policy: EncryptionPolicy,
): ResponseEncryption | undefined => {
  if (value === undefined) {
    if (policy.responseRequired) throw refused('credential_response_encryption is required by this issuer');
    return undefined;
  }
  if (!isEncrypted) throw refused('credential_response_encryption is only allowed in an encrypted request');
  if (!isObject(value)) throw refused('credential_response_encryption must be an object');
  const { jwk, enc, zip } = value;
  const name = 'credential_response_encryption';
  const key = checkP256(`${name}.jwk`, jwk);
  const { alg, kid, use } = jwk as Record<string, unknown>;
  if (alg !== ALGORITHM) throw refused(`${name}.jwk.alg must be ${ALGORITHM}`);
  if (use !== undefined && use !== 'enc') throw refused(`${name}.jwk.use must be enc`);
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID_LENGTH))
    throw refused(`${name}.jwk.kid must be a string of at most ${MAX_KID_LENGTH} characters`);
  if (!isOneOf(ENC_VALUES, enc)) throw refused(`${name}.enc must be one of ${ENC_VALUES.join(', ')}`);
  if (zip !== undefined && !isOneOf(ZIP_VALUES, zip)) throw refused(`${name}.zip must be ${ZIP_VALUES.join(', ')}`);
  return { jwk: key, ...(kid !== undefined && { kid }), enc, ...(zip !== undefined && { zip }) };
};

/** Members of the credential issuer metadata (OID4VCI 1.0 §12.2.4); none before the tenant's first key, and while encryption is switched off. */
export const encryptionMetadata = (
  { enabled, requestRequired, responseRequired }: EncryptionPolicy,
  key: EncryptionKey | undefined,
): Record<string, unknown> => {
  if (!enabled || !key) return {};
  const values = { enc_values_supported: ENC_VALUES, zip_values_supported: ZIP_VALUES };
  const { keyId: kid, x, y } = key;
  return {
    credential_request_encryption: {
      jwks: { keys: [{ kty: 'EC', crv: 'P-256', x, y, use: 'enc', alg: ALGORITHM, kid }] },
      ...values,
      encryption_required: requestRequired,
    },
    credential_response_encryption: {
      alg_values_supported: [ALGORITHM],
      ...values,
      encryption_required: responseRequired,
    },
  };
};
