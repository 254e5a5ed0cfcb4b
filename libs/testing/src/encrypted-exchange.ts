import { compactDecrypt, CompactEncrypt, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

/**
 * Encrypts a credential request to a key of the issuer's metadata, and names a new key for its response (OID4VCI 1.0 §10).
 * @returns the request, and what decrypts its response: it refuses one that is not encrypted to this key
 */
export const encryptCredentialRequest = async (
  issuerKey: JWK,
  request: object,
): Promise<{ jwe: string; decryptResponse: (jwe: string) => Promise<unknown> }> => {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg: 'ECDH-ES', use: 'enc', kid: 'of-the-wallet' };
  const plaintext = { ...request, credential_response_encryption: { jwk, enc: 'A256GCM' } };
  const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(plaintext)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: issuerKey.kid! })
    .encrypt(await importJWK(issuerKey, 'ECDH-ES'));
  const decryptResponse = async (text: string): Promise<unknown> =>
    JSON.parse(Buffer.from((await compactDecrypt(text, privateKey)).plaintext).toString());
  return { jwe, decryptResponse };
};
