import type { RegisteredWallet } from '../wallets/wallets.events.js';

/** How a client may use the authorization code flow. */
export type ClientClass =
  /** Responses, errors included, are redirected without a page. */
  | { kind: 'registered'; wallet: RegisteredWallet }
  /** By `WALLET_REDIRECT_URIS` of the operator (ADR 0052). */
  | { kind: 'listed' }
  /** The person must consent first. */
  | { kind: 'unregistered' };
