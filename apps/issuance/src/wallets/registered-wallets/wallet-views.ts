import {
  createAttestedWallet,
  deleteAttestedWallet,
  listAttestedWallets,
  retrieveAttestedWallet,
  updateAttestedWallet,
  type CallContext,
  type RegisteredWallet as WalletView,
  type WalletRequest,
} from '@attestry/contracts';
import type { WalletKind } from './wallets.decisions.js';
import type { RegisteredWallet } from './wallets.events.js';

const OF_ATTESTED_WALLETS: ReadonlySet<string> = new Set(
  [createAttestedWallet, listAttestedWallets, retrieveAttestedWallet, updateAttestedWallet, deleteAttestedWallet].map(
    ({ name }) => name,
  ),
);

/** One class handles an operation under both paths. */
export const walletKindOf = ({ operation }: Pick<CallContext, 'operation'>): WalletKind =>
  OF_ATTESTED_WALLETS.has(operation) ? 'attested' : 'any';

export const walletView = (wallet: RegisteredWallet): WalletView => ({
  ...wallet,
  attestationRequired: wallet.rootCertificates !== undefined,
});

/** Stored form: members that a request leaves out have their default. */
export const walletOf = (
  id: string,
  { name, clientId, redirectUris, dpopRequired = false, disabled = false }: WalletRequest,
  rootCertificates: string[] | undefined,
): RegisteredWallet => ({
  id,
  name,
  clientId,
  ...(redirectUris && { redirectUris }),
  ...(rootCertificates && { rootCertificates }),
  dpopRequired,
  disabled,
});
