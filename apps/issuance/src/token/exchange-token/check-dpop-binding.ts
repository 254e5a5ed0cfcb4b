import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import { dpopError } from '../../wallets/dpop/dpop-proofs.js';
import type { RegisteredWallet } from '../../wallets/registered-wallets/wallets.events.js';

/** RFC 9449 §10: a proof of the key that the authorization request named; of a registered wallet with `dpopRequired`, a proof of any key. */
export const checkDpopBinding = (
  state: IssuanceSessionState,
  wallet: RegisteredWallet | undefined,
  proof: DpopProof | undefined,
): void => {
  const origin = 'origin' in state ? state.origin : undefined;
  const wanted = origin?.kind === 'authorizationRequest' ? origin.dpopJkt : undefined;
  if (wanted !== undefined && proof?.jkt !== wanted)
    throw dpopError('a DPoP proof of the key that dpop_jkt of the authorization request named is required');
  if (!proof && wallet?.dpopRequired) throw dpopError('a DPoP proof is required of this client');
};
