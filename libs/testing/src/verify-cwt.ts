import type { webcrypto } from 'node:crypto';
import type { Tag } from 'cbor2';
import { jwkOf, verificationMethodOf } from './did-resolution.js';

export interface DecodedCwt {
  prefix: 'CSC:/1/' | 'CSS:/1/';
  /** Encoded, as it is signed. */
  protectedHeader: Uint8Array;
  unprotectedHeader: ReadonlyMap<unknown, unknown>;
  kid: string;
  alg: unknown;
  /** By claim key; what is nested under text is an object. */
  claims: ReadonlyMap<number | string, unknown>;
  signature: Uint8Array;
  /** The Sig_structure of RFC 9052 §4.4. */
  signed: Uint8Array;
}

/** Decodes a `cwt` or `cwt_vc` with cbor2. @throws Error with what is no such credential */
export const decodeCwt = async (credential: string): Promise<DecodedCwt> => {
  const { cdeEncodeOptions, decode, encode } = await import('cbor2');
  const [, prefix, text] = /^(CS[CS]:\/1\/)([A-Z2-7]+)$/.exec(credential) ?? [];
  if (!text) throw new Error('no CWT: a prefix and base32 without padding are expected');
  const options = { ignoreGlobalTags: true, preferMap: true };
  const message = decode<Tag>(fromBase32(text), options);
  if (message.tag !== 18) throw new Error(`tag ${String(message.tag)} is not that of a COSE_Sign1`);
  const parts = message.contents as [Uint8Array, Map<unknown, unknown>, Uint8Array, Uint8Array];
  const [protectedHeader, unprotectedHeader, payload, signature] = parts;
  const header = decode<Map<number, unknown>>(protectedHeader, options);
  const claims = decode<Map<number | string, unknown>>(payload, options);
  return {
    prefix: prefix as DecodedCwt['prefix'],
    ...{ protectedHeader, unprotectedHeader, signature },
    kid: new TextDecoder().decode(header.get(4) as Uint8Array),
    alg: header.get(1),
    claims: new Map([...claims].map(([key, value]) => [key, typeof key === 'string' ? asObject(value) : value])),
    signed: encode(['Signature1', protectedHeader, new Uint8Array(), payload], cdeEncodeOptions),
  };
};

/** Claim keys of RFC 8392 §4. */
const KEY = { iss: 1, sub: 2, exp: 4, nbf: 5 } as const;

/**
 * Verifies a `cwt` or `cwt_vc` with WebCrypto and the key that its `kid` names in the DID document of the issuer, and its times.
 * @throws Error with what was found
 */
export const verifyCwt = async (credential: string): Promise<DecodedCwt> => {
  const decoded = await decodeCwt(credential);
  const { kid, alg, claims, signature, signed } = decoded;
  if (alg !== -7) throw new Error(`alg ${String(alg)} is not ES256`);
  const jwk = jwkOf(await verificationMethodOf(`${claims.get(KEY.iss) as string}#${kid}`)) as webcrypto.JsonWebKey;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
  if (!(await crypto.subtle.verify(algorithm, key, Buffer.from(signature), Buffer.from(signed))))
    throw new Error('the signature is invalid');
  const now = Date.now() / 1000;
  if ((claims.get(KEY.nbf) as number) > now) throw new Error('the credential is not valid yet');
  if (claims.has(KEY.exp) && (claims.get(KEY.exp) as number) <= now) throw new Error('the credential has expired');
  return decoded;
};

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 §6 without padding. */
const fromBase32 = (text: string): Uint8Array => {
  const bits = [...text].map((character) => ALPHABET.indexOf(character).toString(2).padStart(5, '0')).join('');
  const length = Math.floor(bits.length / 8);
  if (/1/.test(bits.slice(length * 8))) throw new Error('the last character of the base32 has further bits');
  return Uint8Array.from({ length }, (_, index) => parseInt(bits.slice(index * 8, index * 8 + 8), 2));
};

const asObject = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asObject);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...(value as Map<string, unknown>)].map(([name, member]) => [name, asObject(member)]));
};
