import type { IssuanceSessionState } from '../issuance-session/issuance-session.state.js';
import type { DpopProof } from '../protocol/dpop-proof.js';
import { dpopError } from '../protocol/dpop-proofs.js';
import type { TenantWallets } from '../wallets/tenant-wallets.js';

/** RFC 9449 §10: a proof of the key that the authorization request named; of a registered wallet with `dpopRequired`, a proof of any key. */
export const checkDpopBinding = async (
  state: IssuanceSessionState,
  clientId: string | undefined,
  proof: DpopProof | undefined,
  tenantId: string,
  wallets: Pick<TenantWallets, 'listWallets'>,
): Promise<void> => {
  const origin = 'origin' in state ? state.origin : undefined;
  const wanted = origin?.kind === 'authorizationRequest' ? origin.dpopJkt : undefined;
  if (wanted !== undefined && proof?.jkt !== wanted)
    throw dpopError('a DPoP proof of the key that dpop_jkt of the authorization request named is required');
  if (proof || clientId === undefined) return;
  const isRequired = (await wallets.listWallets(tenantId)).some((one) => one.clientId === clientId && one.dpopRequired);
  if (isRequired) throw dpopError('a DPoP proof is required of this client');
};
