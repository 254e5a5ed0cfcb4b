import type { HttpAnswer } from '@attestry/contracts';
import { claimsOfTypedCwt, prepareRevocationList, prepareTypedCwt, type TypedCwt } from '@attestry/cose';
import {
  ED25519_SIGNATURE_2018,
  proofOptions,
  proofOptionsDocument,
  signProof,
  type ProofSuite,
  type Signable,
} from '@attestry/linked-data';
import { dateTime } from '../../settings/credential-configuration/validity.js';
import type { IssuingSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import {
  bitstringStatusListCredential,
  compressedBitstring,
  revocationList2020Credential,
  type UnsignedRevocationList,
} from './bitstring-status-list.js';
import { IDENTIFIER_LIST_TYPE, identifierListClaims } from './identifier-list.js';
import type { ListSigner, TokenType } from './list-series.js';
import {
  STATUS_LIST_CWT_TYPE,
  STATUS_LIST_JWT_TYPE,
  statusListCwtClaims,
  statusListJwtClaims,
  type UnsignedTokenStatusList,
} from './token-status-list.js';

/** Canonical hashes of linked data. */
export type Canonicalize = (documents: readonly object[]) => Promise<Buffer[]>;
type SizedList = UnsignedTokenStatusList & { size: number };
type SignToken = (
  list: SizedList,
  signer: IssuingSigner,
  policy: ListSigner,
  canonicalize: Canonicalize,
) => Promise<string>;

const ALG_OF = { 'P-256': 'ES256', Ed25519: 'EdDSA' } as const;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Token Status List §5.1. The header names the key as those of the credentials do (§11.3). */
const signJwt: SignToken = async (list, signer, policy) => {
  const { algorithm, certificate } = signer;
  const key = policy.kind === 'pinnedKey' ? { kid: policy.verificationMethod } : { x5c: certificate!.x5c };
  const header = { alg: ALG_OF[algorithm], typ: STATUS_LIST_JWT_TYPE, ...key };
  const input = `${encoded(header)}.${encoded(await statusListJwtClaims(list))}`;
  return `${input}.${Buffer.from(await signer.signAside(Buffer.from(input, 'latin1'))).toString('base64url')}`;
};

/** Returns base64. `kid` is that of CWT credentials: the fragment of the verification method's id. */
const signTypedCwt = async (
  { type, claims }: Pick<TypedCwt, 'type' | 'claims'>,
  signer: IssuingSigner,
  policy: ListSigner,
): Promise<string> => {
  const { algorithm, certificate, keyId } = signer;
  if (algorithm !== 'P-256') throw new Error(`key ${keyId} is not of P-256`);
  const key: TypedCwt['key'] =
    policy.kind === 'pinnedKey'
      ? { kid: Buffer.from(partsOf(policy.verificationMethod).keyFragment) }
      : { x5chain: certificate!.x5c.map((der) => Buffer.from(der, 'base64')) };
  const { toBeSigned, assemble } = prepareTypedCwt({ type, claims, key });
  return Buffer.from(assemble(await signer.signAside(toBeSigned))).toString('base64');
};

/** Token Status List §5.2. */
const signCwt: SignToken = async (list, signer, policy) =>
  signTypedCwt({ type: STATUS_LIST_CWT_TYPE, claims: await statusListCwtClaims(list) }, signer, policy);

const signIdentifierList: SignToken = (list, signer, policy) =>
  signTypedCwt({ type: IDENTIFIER_LIST_TYPE, claims: identifierListClaims(list) }, signer, policy);

const partsOf = (verificationMethod: string): { issuer: string; keyFragment: string } => {
  const [issuer, keyFragment] = verificationMethod.split('#', 2) as [string, string];
  return { issuer, keyFragment };
};

/** The same statuses as a CWT with a revocation list (specification notes, Encodings of CBOR credentials), as base64. */
export const signRevocationList = async (
  list: UnsignedTokenStatusList & { signer: ListSigner },
  uri: string,
  signer: IssuingSigner,
): Promise<string> => {
  if (list.signer.kind !== 'pinnedKey' || list.bits !== 1) throw new Error(`${uri} is no revocation list`);
  const bitstring = await compressedBitstring(list.statuses);
  const { toBeSigned, assemble } = prepareRevocationList(partsOf(list.signer.verificationMethod), {
    ...list,
    uri,
    bitstring,
  });
  return Buffer.from(assemble(await signer.signAside(toBeSigned))).toString('base64');
};

/** Issuer, key and suite are those of the credentials in the list: their verifiers accept no others, or need no others. */
const signCredential =
  (
    make: (list: UnsignedRevocationList) => Promise<Signable>,
    suiteOf: (algorithm: IssuingSigner['algorithm']) => ProofSuite,
  ): SignToken =>
  async (list, signer, policy, canonicalize) => {
    if (policy.kind !== 'pinnedKey') throw new Error(`the list ${list.uri} is not signed by the key of a DID`);
    const { verificationMethod } = policy;
    const document = await make({ ...list, issuer: partsOf(verificationMethod).issuer });
    const proof = proofOptions(suiteOf(signer.algorithm), dateTime(list.issuedAt), verificationMethod);
    const [options, content] = await canonicalize([proofOptionsDocument(document, proof), document]);
    return JSON.stringify(signProof(document, proof, [options!, content!], (data) => signer.sign(data)));
  };

const LIST_CREDENTIAL = 'application/ld+json';

const TOKENS: Readonly<Record<TokenType, { mediaType: string; isBinary?: true; sign: SignToken }>> = {
  jwt: { mediaType: `application/${STATUS_LIST_JWT_TYPE}`, sign: signJwt },
  cose: { mediaType: STATUS_LIST_CWT_TYPE, isBinary: true, sign: signCwt },
  identifierList: { mediaType: IDENTIFIER_LIST_TYPE, isBinary: true, sign: signIdentifierList },
  revocationList2020: {
    mediaType: LIST_CREDENTIAL,
    sign: signCredential(revocationList2020Credential, () => ED25519_SIGNATURE_2018),
  },
  bitstring: {
    mediaType: LIST_CREDENTIAL,
    sign: signCredential(bitstringStatusListCredential, (algorithm) =>
      algorithm === 'P-256' ? 'ecdsa-rdfc-2019' : 'eddsa-rdfc-2022',
    ),
  },
};
const BINARY: ReadonlySet<string> = new Set(
  Object.values(TOKENS).flatMap(({ mediaType, isBinary }) => (isBinary ? [mediaType] : [])),
);

export const mediaTypeOfToken = (type: TokenType): string => TOKENS[type].mediaType;

/** The body of a response with a stored token. */
export const bodyOfToken = (mediaType: string, token: string): Pick<HttpAnswer['$http'], 'body' | 'base64'> =>
  BINARY.has(mediaType) ? { base64: token } : { body: token };

/** `iat` and `exp` of a stored Token Status List. */
export const lifetimeOfToken = (type: TokenType, token: string): [from: number, until: number] => {
  if (type === 'jwt') {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.', 2)[1]!, 'base64url').toString()) as Record<
      'iat' | 'exp',
      number
    >;
    return [iat, exp];
  }
  const claims = claimsOfTypedCwt(Buffer.from(token, 'base64'));
  return [claims.get(6) as number, claims.get(4) as number];
};

/** The token of a list as it is stored; binary ones as base64. */
export const signStatusList = (
  list: SizedList & { tokenType: TokenType; signer: ListSigner },
  signer: IssuingSigner,
  canonicalize: Canonicalize,
): Promise<string> => TOKENS[list.tokenType].sign(list, signer, list.signer, canonicalize);
