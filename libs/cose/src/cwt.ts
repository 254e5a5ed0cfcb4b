import { base32nopad } from '@scure/base';
import { coseSign1, encodeCbor, type CborValue } from './cbor.js';
import { ClaimFault } from './claim-fault.js';
import { assembleSign1, encodeSigStructure } from './cose-sign1.js';
import { isNumber, isText, jsonToCbor, mapOf } from './json-claims.js';
import type { SigningInput } from './signing-input.js';
import { statusListReference, type StatusListEntry } from './status-reference.js';

/** Claims that both formats share. */
export interface CwtFacts {
  /** DID */
  issuer: string;
  /** The part of the verification method's id after `#`. */
  keyFragment: string;
  /** DID */
  subject: string;
  /** uuid */
  credentialId: string;
  /** Rounded already. */
  validity: { signed: Date; validFrom: Date; validUntil?: Date };
  /** An entry of a Token Status List. */
  status?: StatusListEntry;
  /** The entry of a revocation list (specification notes, Encodings of CBOR credentials). */
  revocation?: StatusListEntry;
}

export interface CwtClaims {
  type: string;
  /** Each a boolean, a string or a number. */
  claims: Readonly<Record<string, unknown>>;
}

export interface SemanticCwtClaims {
  /** Beside the context of the data model 1.1. */
  contexts: readonly string[];
  /** Beside `VerifiableCredential`. */
  types: readonly string[];
  /** JSON */
  credentialSubject: Readonly<Record<string, unknown>>;
}

/** Claim keys of RFC 8392 §4, Token Status List §14.2 and, where negative, of the platform's private use. */
const CLAIM = {
  iss: 1,
  sub: 2,
  exp: 4,
  nbf: 5,
  iat: 6,
  cti: 7,
  status: 65535,
  revocation: -65537,
  revocationList: -65538,
  type: -65539,
} as const;

/** @throws ClaimFault for a claim that is no boolean, string or finite number */
export const scalarClaims = (claims: CwtClaims['claims']): ReadonlyMap<number | string, CborValue> =>
  mapOf(['claims'], claims, scalarClaim);

/** @throws ClaimFault for a claim that is not made of JSON values */
export const jsonClaims = (claims: SemanticCwtClaims['credentialSubject']): ReadonlyMap<number | string, CborValue> =>
  mapOf(['claims'], claims, (name, value) => jsonToCbor([name], value));

/** @throws ClaimFault as `scalarClaims` */
export const prepareCwt = (facts: CwtFacts, { type, claims: own }: CwtClaims): SigningInput => {
  const claims = sharedClaims(facts);
  claims.set(CLAIM.type, type);
  mapOf(['claims'], own, scalarClaim, claims);
  return credential('CSC:/1/', signingInput(facts.keyFragment, claims));
};

/** @throws ClaimFault as `jsonClaims` */
export const prepareSemanticCwt = (
  facts: CwtFacts,
  { contexts, types, credentialSubject }: SemanticCwtClaims,
): SigningInput => {
  const claims = sharedClaims(facts);
  claims.set('vc', {
    version: '1.0.0',
    '@context': ['https://www.w3.org/2018/credentials/v1', ...contexts],
    type: ['VerifiableCredential', ...types],
    credentialSubject: jsonClaims(credentialSubject),
  });
  return credential('CSS:/1/', signingInput(facts.keyFragment, claims));
};

/** The CWT with a revocation list, signed as the credentials in it. */
export const prepareRevocationList = (
  { issuer, keyFragment }: Pick<CwtFacts, 'issuer' | 'keyFragment'>,
  { uri, bitstring, issuedAt, expiresAt }: { uri: string; bitstring: Uint8Array; issuedAt: Date; expiresAt: Date },
): SigningInput<Uint8Array> =>
  signingInput(
    keyFragment,
    new Map<number, CborValue>([
      [CLAIM.iss, issuer],
      [CLAIM.sub, uri],
      [CLAIM.exp, numericDate(expiresAt)],
      [CLAIM.iat, numericDate(issuedAt)],
      [CLAIM.revocationList, bitstring],
    ]),
  );

const scalarClaim = (name: string, value: unknown): CborValue => {
  if (typeof value === 'boolean' || isText(value) || isNumber(value)) return value;
  throw new ClaimFault([name], 'must be a boolean, a string or a number', value);
};

/** In the order of the encoding, which then has nothing to sort. */
const sharedClaims = ({ issuer, subject, credentialId, validity, status, revocation }: CwtFacts) => {
  const claims = new Map<number | string, CborValue>([
    [CLAIM.iss, issuer],
    [CLAIM.sub, subject],
  ]);
  if (validity.validUntil) claims.set(CLAIM.exp, numericDate(validity.validUntil));
  claims.set(CLAIM.nbf, numericDate(validity.validFrom));
  claims.set(CLAIM.iat, numericDate(validity.signed));
  claims.set(CLAIM.cti, Buffer.from(credentialId.replaceAll('-', ''), 'hex'));
  if (status) claims.set(CLAIM.status, statusListReference(status));
  if (revocation) claims.set(CLAIM.revocation, revocationReference(revocation));
  return claims;
};

const revocationReference = ({ index, uri }: StatusListEntry): CborValue =>
  new Map<number, CborValue>([
    [2, index],
    [3, uri],
  ]);

const numericDate = (date: Date): number => Math.floor(date.getTime() / 1000);

const signingInput = (
  keyFragment: string,
  claims: ReadonlyMap<number | string, CborValue>,
): SigningInput<Uint8Array> => {
  const header = protectedHeader(keyFragment);
  const payload = encodeCbor(claims);
  return {
    toBeSigned: encodeSigStructure(header, payload),
    assemble: (signature) => encodeCbor(coseSign1(assembleSign1(header, NO_HEADER, payload, signature))),
  };
};

const credential = (prefix: string, { toBeSigned, assemble }: SigningInput<Uint8Array>): SigningInput => ({
  toBeSigned,
  assemble: (signature) => prefix + base32nopad.encode(assemble(signature)),
});

const NO_HEADER: ReadonlyMap<number, CborValue> = new Map();

/** `{4: kid, 1: -7}` in this order, which is the order of credentials in the field (specification notes, Encodings of CBOR credentials). */
const protectedHeader = (keyFragment: string): Uint8Array =>
  Buffer.concat([Buffer.of(0xa2, 0x04), encodeCbor(Buffer.from(keyFragment, 'utf8')), Buffer.of(0x01, 0x26)]);
