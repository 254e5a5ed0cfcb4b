import type { HttpAnswer } from '@attestry/contracts';
import { prepareTypedCwt, type TypedCwt } from '@attestry/cose';
import { jwkThumbprint } from '@attestry/keys';
import type { IssuingSigner } from '../issuer-certificates/issuer-signers.js';
import type { ListSigner, TokenType } from './list-series.js';
import {
  STATUS_LIST_CWT_TYPE,
  STATUS_LIST_JWT_TYPE,
  statusListCwtClaims,
  statusListJwtClaims,
  type UnsignedTokenStatusList,
} from './token-status-list.js';

type SignToken = (list: UnsignedTokenStatusList, signer: IssuingSigner, policy: ListSigner) => Promise<string>;

const ALG_OF = { 'P-256': 'ES256', Ed25519: 'EdDSA' } as const;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Token Status List §5.1. The header names the key as those of the credentials do (§11.3). */
const signJwt: SignToken = async (list, signer, policy) => {
  const { algorithm, certificate, publicJwk } = signer;
  const key =
    policy.kind === 'pinnedKey'
      ? { kid: policy.verificationMethod }
      : { kid: jwkThumbprint(publicJwk), x5c: certificate!.x5c };
  const header = { alg: ALG_OF[algorithm], typ: STATUS_LIST_JWT_TYPE, ...key };
  const input = `${encoded(header)}.${encoded(await statusListJwtClaims(list))}`;
  return `${input}.${Buffer.from(await signer.signAside(Buffer.from(input, 'latin1'))).toString('base64url')}`;
};

/** Token Status List §5.2, as base64. `kid` is that of CWT credentials: the fragment of the verification method's id. */
const signCwt: SignToken = async (list, signer, policy) => {
  const { algorithm, certificate, keyId } = signer;
  if (algorithm !== 'P-256') throw new Error(`key ${keyId} is not of P-256`);
  const key: TypedCwt['key'] =
    policy.kind === 'pinnedKey'
      ? { kid: Buffer.from(policy.verificationMethod.slice(policy.verificationMethod.indexOf('#') + 1)) }
      : { x5chain: certificate!.x5c.map((der) => Buffer.from(der, 'base64')) };
  const claims = await statusListCwtClaims(list);
  const { toBeSigned, assemble } = prepareTypedCwt({ type: STATUS_LIST_CWT_TYPE, claims, key });
  return Buffer.from(assemble(await signer.signAside(toBeSigned))).toString('base64');
};

const TOKENS: Readonly<Record<TokenType, { mediaType: string; isBinary?: true; sign: SignToken }>> = {
  jwt: { mediaType: `application/${STATUS_LIST_JWT_TYPE}`, sign: signJwt },
  cose: { mediaType: STATUS_LIST_CWT_TYPE, isBinary: true, sign: signCwt },
};
const BINARY: ReadonlySet<string> = new Set(
  Object.values(TOKENS).flatMap(({ mediaType, isBinary }) => (isBinary ? [mediaType] : [])),
);

export const mediaTypeOfToken = (type: TokenType): string => TOKENS[type].mediaType;

/** The body of a response with a stored token. */
export const bodyOfToken = (mediaType: string, token: string): Pick<HttpAnswer['$http'], 'body' | 'base64'> =>
  BINARY.has(mediaType) ? { base64: token } : { body: token };

/** The token of a list as it is stored; binary ones as base64. */
export const signStatusList = (
  list: UnsignedTokenStatusList & { tokenType: TokenType; signer: ListSigner },
  signer: IssuingSigner,
): Promise<string> => TOKENS[list.tokenType].sign(list, signer, list.signer);
