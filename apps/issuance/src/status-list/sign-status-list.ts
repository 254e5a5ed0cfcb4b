import { jwkThumbprint } from '@attestry/keys';
import type { IssuingSigner } from '../issuer-certificates/issuer-signers.js';
import type { ListSigner, TokenType } from './list-series.js';
import { STATUS_LIST_JWT_TYPE, statusListJwtClaims, type UnsignedTokenStatusList } from './token-status-list.js';

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

const TOKENS: Readonly<Record<TokenType, { mediaType: string; sign: SignToken }>> = {
  jwt: { mediaType: `application/${STATUS_LIST_JWT_TYPE}`, sign: signJwt },
};

export const mediaTypeOfToken = (type: TokenType): string => TOKENS[type].mediaType;

/** The token of a list, as it is stored and served. */
export const signStatusList = (
  list: UnsignedTokenStatusList & { tokenType: TokenType; signer: ListSigner },
  signer: IssuingSigner,
): Promise<string> => TOKENS[list.tokenType].sign(list, signer, list.signer);
