import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';
import type { WalletClient } from '../wallet-clients/wallet-clients.js';
import type { WalletCall, WalletEngines } from '../wallet-endpoints/wallet-call.js';
import { checkHaipSession, checkHaipTokenRequest, type HaipTokenRequest } from './check-haip.js';

type Used = Pick<WalletEngines, 'haip'>;

/** Rules for a call with an access token. */
export const haipSession = (
  { tenant, session, wallet }: WalletCall & { session: RedeemedSession; wallet?: RegisteredWallet },
  { haip }: Used,
): Promise<void> => haip.enforce(tenant.id, () => checkHaipSession(session, wallet));

/** Rules for a token request. */
export const haipTokenRequest = (
  { tenant, wanted, client }: WalletCall & { wanted: HaipTokenRequest; client: WalletClient },
  { haip }: Used,
): Promise<void> => haip.enforce(tenant.id, () => checkHaipTokenRequest(wanted, client.wallet, client.proof));
