import type { WalletCall, WalletEngines } from '../wallet-endpoints/wallet-call.js';
import type { WalletClient } from './wallet-clients.js';

/** The client of a request to the token or the revocation endpoint. @throws AppError */
export const authenticateClient = async (
  call: WalletCall & { wanted: { clientId?: string } },
  { clients }: Pick<WalletEngines, 'clients'>,
): Promise<{ client: WalletClient }> => ({
  client: await clients.authenticate(call, call.operation, call.wanted.clientId, call.tenant),
});
