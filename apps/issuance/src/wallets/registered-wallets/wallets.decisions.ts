import { conflict, invalid, invalidBody, notFound } from '@attestry/contracts';
import { redirectFault } from '../wallet-clients/redirect-policy.js';
import type { RegisteredWallet, WalletsEvent } from './wallets.events.js';
import type { WalletsState } from './wallets.state.js';

const MAX_WALLETS = 100;

/** Wallets with roots are found under the path of attested wallets too. */
export type WalletKind = 'any' | 'attested';

export const isOfKind = ({ rootCertificates }: RegisteredWallet, kind: WalletKind): boolean =>
  kind === 'any' || rootCertificates !== undefined;

/** @throws AppError 400 with a detail per fault */
const checkWallet = (state: WalletsState, wallet: RegisteredWallet): void => {
  const { id, clientId, redirectUris, rootCertificates } = wallet;
  if (!redirectUris && !rootCertificates)
    throw invalidBody('redirectUris', 'is required for a wallet without rootCertificates');
  const faults = (redirectUris ?? []).flatMap((value, index) => {
    const msg = redirectFault(value);
    return msg ? [{ value, msg, param: `redirectUris.${index}`, location: 'body' as const }] : [];
  });
  if (faults.length) throw invalid(...faults);
  if (state.some((other) => other.clientId === clientId && other.id !== id))
    throw invalidBody('clientId', 'must be unique: another wallet of the tenant has it', clientId);
};

/** @throws AppError 400, 409 */
export const registerWallet = (state: WalletsState, wallet: RegisteredWallet): WalletsEvent[] => {
  checkWallet(state, wallet);
  if (state.length >= MAX_WALLETS) throw conflict(`A tenant can have at most ${MAX_WALLETS} wallets`);
  return [{ type: 'WalletRegistered', data: wallet }];
};

/** @throws AppError 404 */
export const requireWallet = (state: WalletsState, id: string, kind: WalletKind): RegisteredWallet => {
  const found = state.find((one) => one.id === id && isOfKind(one, kind));
  if (!found) throw notFound();
  return found;
};

/** @throws AppError 404, 400 */
export const changeWallet = (state: WalletsState, wallet: RegisteredWallet, kind: WalletKind): WalletsEvent[] => {
  const before = requireWallet(state, wallet.id, kind);
  checkWallet(state, wallet);
  return JSON.stringify(wallet) === JSON.stringify(before) ? [] : [{ type: 'WalletUpdated', data: wallet }];
};

/** @throws AppError 404 */
export const removeWallet = (state: WalletsState, id: string, kind: WalletKind): WalletsEvent[] => {
  requireWallet(state, id, kind);
  return [{ type: 'WalletDeleted', data: { id } }];
};
