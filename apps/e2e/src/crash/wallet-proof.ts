import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

export interface Holder {
  privateKey: KeyObject;
  header: string;
}

export const makeHolder = (): Holder => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  return { privateKey, header: base64url({ typ: 'openid4vci-proof+jwt', alg: 'ES256', jwk: { kty, crv, x, y } }) };
};

/** Key proof, OID4VCI Appendix F.1; without a library, because hundreds are created. */
export const makeProof = ({ privateKey, header }: Holder, aud: string, nonce: string): string => {
  const input = `${header}.${base64url({ aud, iat: Math.floor(Date.now() / 1000), nonce })}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
};
