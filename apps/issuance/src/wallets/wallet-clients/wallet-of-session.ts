import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';
import type { WalletCall, WalletEngines } from '../wallet-endpoints/wallet-call.js';

/** The wallet that is registered under the client id of the session; none for a pre-authorized code. */
export const walletOfSession = async (
  { tenant, session: { origin } }: WalletCall & { session: Pick<RedeemedSession, 'origin'> },
  { wallets }: Pick<WalletEngines, 'wallets'>,
): Promise<{ wallet?: RegisteredWallet }> => {
  const wallet =
    origin.kind === 'authorizationRequest' ? await wallets.findWallet(tenant.id, origin.clientId) : undefined;
  return wallet ? { wallet } : {};
};
