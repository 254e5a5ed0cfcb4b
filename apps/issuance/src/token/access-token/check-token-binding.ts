import {
  bearerChallenge,
  dpopChallenge,
  oauthError,
  type Operation,
  type RawRequest,
  type TenantContext,
} from '@attestry/contracts';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import { dpopResourceError, type DpopProofs } from '../../wallets/dpop/dpop-proofs.js';
import type { AccessTokenCredentials } from './check-access-token-location.js';

const BOUND = 'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof';
const UNBOUND = 'the access token is not bound to a DPoP key: send it with the scheme Bearer';

/**
 * RFC 9449 §7.1 and §7.2, unless a token that is not bound is sent as Bearer: a bound token only with a proof of its key, any other never as DPoP.
 * @returns the proof, not yet spent
 * @throws AppError 401
 */
export const checkTokenBinding = async (
  { scheme, token }: AccessTokenCredentials,
  { jkt }: Pick<Grant, 'jkt'>,
  raw: RawRequest,
  operation: Pick<Operation, 'http'>,
  tenant: TenantContext,
  dpop: Pick<DpopProofs, 'verifyProof'>,
): Promise<DpopProof> => {
  const check = 'check-token-binding';
  if (jkt === undefined)
    throw oauthError('invalid_token', UNBOUND, { check, headers: bearerChallenge('invalid_token', UNBOUND) });
  if (scheme === 'bearer')
    throw oauthError('invalid_token', BOUND, { check, headers: dpopChallenge('invalid_token', BOUND) });
  const proof = await dpop.verifyProof(raw, operation, tenant, token);
  if (!proof) throw dpopResourceError('a DPoP proof is required');
  if (proof.jkt !== jkt) throw dpopResourceError('the DPoP proof must be made with the key of the access token');
  return proof;
};
