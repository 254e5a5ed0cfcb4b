import { oauthError } from '@attestry/contracts';
import type { OpenIdSettings } from '../../settings/openid-settings/openid-settings.events.js';
import { effectiveSettings } from '../../settings/openid-settings/openid-settings.decisions.js';
import { checkEnabled } from '../registered-wallets/check-wallet.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';
import type { WalletsState } from '../registered-wallets/wallets.state.js';
import { isRegisteredRedirect, redirectFault } from './redirect-policy.js';

/** How a client may use the authorization code flow. */
export type ClientClass =
  /** Responses, errors included, are redirected without a page. */
  | { kind: 'registered'; wallet: RegisteredWallet }
  /** By `WALLET_REDIRECT_URIS` of the operator (ADR 0052). */
  | { kind: 'listed' }
  /** The person must consent first. */
  | { kind: 'unregistered' };

/** Facts that decide the class of a client. */
export interface ClientRules {
  wallets: WalletsState;
  settings: OpenIdSettings;
  /** The request was pushed, or is being pushed: a wallet with root certificates has attested itself. */
  isPushed?: boolean;
  config: { nodeEnv: string; walletRedirectUris?: readonly string[] | undefined };
}

/**
 * Class of the client of an authorization request; a refusal is shown on a page, because nothing shows that its address belongs to the
 * client (RFC 6749 §4.1.2.1).
 * @throws AppError 400
 */
export const classifyClient = (
  { clientId, redirectUri }: { clientId: string; redirectUri: string },
  { wallets, settings, config, isPushed }: ClientRules,
): ClientClass => {
  const fault = redirectFault(redirectUri);
  if (fault) throw refused(`redirect_uri ${fault}`);
  const isHaip = settings.profile === 'haip';
  const wallet = wallets.find((one) => one.clientId === clientId);
  if (wallet) {
    // RFC 9126 §2.4: an authenticated wallet may push an address that is not registered.
    const isFree = isPushed && wallet.rootCertificates && !wallet.redirectUris && /^https:/i.test(redirectUri);
    if (!isFree && !isRegisteredRedirect(redirectUri, wallet.redirectUris ?? []))
      throw refused('redirect_uri must be one of the redirect URIs that are registered for the wallet');
    checkEnabled(wallet);
    if (isHaip && !wallet.rootCertificates)
      throw unauthorized('client_id must be the one of a wallet that attests itself (HAIP 1.0)');
    return { kind: 'registered', wallet };
  }
  const isListApplied = !isHaip && wallets.length === 0 && settings.allowUnregisteredWallets === undefined;
  if (isListApplied && config.walletRedirectUris?.includes(redirectUri)) return { kind: 'listed' };
  if (!effectiveSettings(settings, config).allowUnregisteredWallets)
    throw unauthorized('client_id must be the one of a wallet that is registered with this issuer');
  if (!/^https:/i.test(redirectUri))
    throw refused('redirect_uri must be an https URL, because the wallet is not registered with this issuer');
  return { kind: 'unregistered' };
};

const unauthorized = (description: string) =>
  oauthError('unauthorized_client', description, { check: 'classify-client' });
const refused = (description: string) => oauthError('invalid_request', description, { check: 'classify-client' });
