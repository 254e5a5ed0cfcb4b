import type { RegisteredWallet } from './wallets.events.js';
import type { WalletsState } from './wallets.state.js';

/** The wallet of a client id, unless it is disabled. */
export const findRegisteredWallet = (wallets: WalletsState, clientId: string): RegisteredWallet | undefined =>
  wallets.find((wallet) => wallet.clientId === clientId && !wallet.disabled);
