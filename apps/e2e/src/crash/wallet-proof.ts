import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

export interface Holder {
  privateKey: KeyObject;
  jwk: object;
}

export const makeHolder = (): Holder => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  return { privateKey, jwk: { kty, crv, x, y } };
};

/** Without a library, because hundreds are created. */
const signed = ({ privateKey, jwk }: Holder, typ: string, claims: object): string => {
  const input = `${base64url({ typ, alg: 'ES256', jwk })}.${base64url({ ...claims, iat: Math.floor(Date.now() / 1000) })}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
};

/** Key proof, OID4VCI Appendix F.1. */
export const makeProof = (holder: Holder, aud: string, nonce: string): string =>
  signed(holder, 'openid4vci-proof+jwt', { aud, nonce });

/** DPoP proof of a POST request, RFC 9449 section 4.2. */
export const makeDpopProof = (holder: Holder, htu: string, accessToken?: string): string =>
  signed(holder, 'dpop+jwt', {
    ...{ jti: randomUUID(), htm: 'POST', htu },
    ...(accessToken !== undefined && { ath: createHash('sha256').update(accessToken).digest('base64url') }),
  });
