import type { webcrypto } from 'node:crypto';
import { gunzipSync, inflateSync } from 'node:zlib';
import type { Tag } from 'cbor2';
import { jwkOf, verificationMethodOf } from './did-resolution.js';
import { fetchStatusList } from './fetch-status-list.js';

interface DecodedSign1 {
  /** Encoded, as it is signed. */
  protectedHeader: Uint8Array;
  unprotectedHeader: ReadonlyMap<unknown, unknown>;
  kid: string;
  alg: unknown;
  /** Header `typ`, RFC 9596. */
  type: unknown;
  claims: ReadonlyMap<number | string, unknown>;
  signature: Uint8Array;
  /** The Sig_structure of RFC 9052 §4.4. */
  signed: Uint8Array;
}

export interface DecodedCwt extends DecodedSign1 {
  prefix: 'CSC:/1/' | 'CSS:/1/';
  /** By claim key; what is nested under text is an object. */
  claims: ReadonlyMap<number | string, unknown>;
}

/** Decodes a `cwt` or `cwt_vc` with cbor2. @throws Error with what is no such credential */
export const decodeCwt = async (credential: string): Promise<DecodedCwt> => {
  const [, prefix, text] = /^(CS[CS]:\/1\/)([A-Z2-7]+)$/.exec(credential) ?? [];
  if (!text) throw new Error('no CWT: a prefix and base32 without padding are expected');
  const { claims, ...decoded } = await decodeSign1(fromBase32(text));
  return {
    ...decoded,
    prefix: prefix as DecodedCwt['prefix'],
    claims: new Map([...claims].map(([key, value]) => [key, typeof key === 'string' ? asObject(value) : value])),
  };
};

const decodeSign1 = async (bytes: Uint8Array): Promise<DecodedSign1> => {
  const { cdeEncodeOptions, decode, encode } = await import('cbor2');
  const options = { ignoreGlobalTags: true, preferMap: true };
  const message = decode<Tag>(bytes, options);
  if (message.tag !== 18) throw new Error(`tag ${String(message.tag)} is not that of a COSE_Sign1`);
  const parts = message.contents as [Uint8Array, Map<unknown, unknown>, Uint8Array, Uint8Array];
  const [protectedHeader, unprotectedHeader, payload, signature] = parts;
  const header = decode<Map<number, unknown>>(protectedHeader, options);
  return {
    ...{ protectedHeader, unprotectedHeader, signature },
    kid: new TextDecoder().decode(header.get(4) as Uint8Array),
    ...{ alg: header.get(1), type: header.get(16) },
    claims: decode<Map<number | string, unknown>>(payload, options),
    signed: encode(['Signature1', protectedHeader, new Uint8Array(), payload], cdeEncodeOptions),
  };
};

/** Claim keys of RFC 8392 §4. */
const KEY = { iss: 1, sub: 2, exp: 4, nbf: 5 } as const;

/** Claim keys of the entry of a Token Status List (Token Status List §6.3) and of a revocation list. */
const STATUS = 65535;
const REVOCATION = -65537;

/**
 * Verifies a `cwt` or `cwt_vc` with WebCrypto and the key that its `kid` names in the DID document of the issuer, its times, and, where it
 * has them, its status in both lists.
 * @throws Error with what was found; `Status is not valid` if one of the lists has it as revoked
 */
export const verifyCwt = async (credential: string): Promise<DecodedCwt> => {
  const decoded = await decodeCwt(credential);
  const { claims } = decoded;
  await verifySignature(decoded, claims.get(KEY.iss) as string);
  const now = Date.now() / 1000;
  if ((claims.get(KEY.nbf) as number) > now) throw new Error('the credential is not valid yet');
  if (claims.has(KEY.exp) && (claims.get(KEY.exp) as number) <= now) throw new Error('the credential has expired');
  if (claims.has(STATUS) || claims.has(REVOCATION)) {
    const { invalid, revoked } = await fetchCwtStatus(decoded);
    if (invalid || revoked) throw new Error('Status is not valid');
  }
  return decoded;
};

const verifySignature = async ({ alg, kid, signature, signed }: DecodedSign1, issuer: string): Promise<void> => {
  if (alg !== -7) throw new Error(`alg ${String(alg)} is not ES256`);
  const jwk = jwkOf(await verificationMethodOf(`${issuer}#${kid}`)) as webcrypto.JsonWebKey;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
  if (!(await crypto.subtle.verify(algorithm, key, Buffer.from(signature), Buffer.from(signed))))
    throw new Error('the signature is invalid');
};

/** Where the status of a `cwt` or `cwt_vc` is published: claims 65535 and −65537. */
export const cwtStatusOf = ({ claims }: DecodedCwt) => {
  const { idx, uri } = asObject((claims.get(STATUS) as Map<string, unknown>).get('status_list')) as {
    idx: number;
    uri: string;
  };
  const revocation = claims.get(REVOCATION) as Map<number, unknown>;
  return { index: idx, uri, revocation: { index: revocation.get(2), uri: revocation.get(3) as string } };
};

/**
 * Verifies both lists of a `cwt` or `cwt_vc`, fetched from the issuer, with cbor2, WebCrypto and the key of the credential.
 * @returns whether the status list and the revocation list have it as revoked
 * @throws Error with what was found
 */
export const fetchCwtStatus = async (credential: DecodedCwt): Promise<{ invalid: boolean; revoked: boolean }> => {
  const issuer = credential.claims.get(KEY.iss) as string;
  const fetchList = async (uri: string, mediaType: string): Promise<DecodedSign1> => {
    const response = await fetchStatusList(uri, mediaType);
    const found = response.headers.get('content-type');
    if (!response.ok || found !== mediaType) throw new Error(`${uri} answered ${response.status}, ${String(found)}`);
    const list = await decodeSign1(new Uint8Array(await response.arrayBuffer()));
    if (list.kid !== credential.kid) throw new Error(`the list of ${uri} names the key ${list.kid}`);
    await verifySignature(list, issuer);
    if (list.claims.get(KEY.sub) !== uri) throw new Error(`sub is not ${uri}`);
    if ((list.claims.get(KEY.exp) as number) <= Date.now() / 1000) throw new Error(`the list of ${uri} has expired`);
    return list;
  };
  const { index, uri, revocation } = cwtStatusOf(credential);
  const token = await fetchList(uri, 'application/statuslist+cwt');
  if (token.type !== 'application/statuslist+cwt') throw new Error(`typ is ${String(token.type)}`);
  const { bits, lst } = asObject(token.claims.get(65533)) as { bits: number; lst: Uint8Array };
  const statuses = inflateSync(lst);
  const list = await fetchList(revocation.uri, 'application/cwt');
  if (list.claims.get(KEY.iss) !== issuer) throw new Error('the revocation list has another issuer');
  const bitstring = gunzipSync(list.claims.get(-65538) as Uint8Array);
  const at = index * bits;
  const isSet = (bytes: Uint8Array, byte: number, mask: number) => (bytes[byte]! & mask) !== 0;
  return {
    invalid: isSet(statuses, at >> 3, (2 ** bits - 1) << (at & 7)),
    // Its left-most bit has index 0.
    revoked: isSet(bitstring, index >> 3, 0x80 >> (index & 7)),
  };
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
