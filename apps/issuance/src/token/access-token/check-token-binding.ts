import { bearerChallenge, dpopChallenge, oauthError } from '@attestry/contracts';
import type { Spending } from '@attestry/keys';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import { dpopResourceError } from '../../wallets/dpop/dpop-proofs.js';
import type { WalletCall, WalletEngines } from '../../wallets/wallet-endpoints/wallet-call.js';
import type { AccessTokenCredentials } from './check-access-token-location.js';

const BOUND = 'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof';
const UNBOUND = 'the access token is not bound to a DPoP key: send it with the scheme Bearer';

/**
 * RFC 9449 §7.1 and §7.2: a bound token only with a proof of its key, any other never as DPoP.
 * @returns nothing for a token that is not bound and is sent as Bearer; otherwise the proof, which is not yet spent
 * @throws AppError 401
 */
export const checkTokenBinding = async (
  call: WalletCall & AccessTokenCredentials & { session: { accessToken: Pick<Grant, 'jkt'> } },
  { dpop }: Pick<WalletEngines, 'dpop'>,
): Promise<{ proof?: DpopProof; spending?: Spending }> => {
  const { scheme, token, tenant } = call;
  const { jkt } = call.session.accessToken;
  if (scheme === 'bearer' && jkt === undefined) return {};
  const check = 'check-token-binding';
  if (jkt === undefined)
    throw oauthError('invalid_token', UNBOUND, { check, headers: bearerChallenge('invalid_token', UNBOUND) });
  if (scheme === 'bearer')
    throw oauthError('invalid_token', BOUND, { check, headers: dpopChallenge('invalid_token', BOUND) });
  const proof = await dpop.verifyProof(call, call.operation, tenant, token);
  if (!proof) throw dpopResourceError('a DPoP proof is required');
  if (proof.jkt !== jkt) throw dpopResourceError('the DPoP proof must be made with the key of the access token');
  return { proof, spending: dpop.spendingOf(tenant.id, proof) };
};

/** For an endpoint that spends the proof whatever becomes of the request. @throws AppError 401 when it was used before */
export const spendProof = ({ spending }: WalletCall): Promise<void> | undefined => spending?.store();
