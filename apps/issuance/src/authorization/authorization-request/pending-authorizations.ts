import { Injectable } from '@nestjs/common';
import type { UserInfoOutcome } from '@attestry/contracts';
import type { AcceptedRequest } from '../../wallets/wallet-record/accepted-request.js';
import { BrowserBoundRequests, cookiesOf } from './browser-bound-requests.js';

/** How long a person may take to sign in, seconds. */
export const SIGN_IN_SECONDS = 1200;

/** An authorization request whose person is signing in at the provider. */
export interface PendingAuthorization extends AcceptedRequest {
  providerId: string;
  identitySpaceId?: string;
  /** For the provider. */
  nonce: string;
  codeVerifier: string;
  /** When the sign-in began, milliseconds since the epoch. */
  begunAt: number;
}

/** An authorization request whose person signed in. */
export interface AuthenticatedRequest extends Omit<PendingAuthorization, 'nonce' | 'codeVerifier' | 'begunAt'> {
  userInfo?: UserInfoOutcome;
}

const COOKIE_PATH = '/v1/oauth/authentication';
/** Path of the provider's `redirectUrl`. */
export const CALLBACK = `${COOKIE_PATH}/callback`;

/** A provider's redirect is a navigation from another site, for which `Lax` is enough. */
export const signInCookies = cookiesOf({
  name: 'attestry-sign-in',
  path: COOKIE_PATH,
  sameSite: 'Lax',
  seconds: SIGN_IN_SECONDS,
});

/** Authorization requests whose person is signing in at the provider; the id is the `state` for the provider. */
@Injectable()
export class PendingAuthorizations extends BrowserBoundRequests<PendingAuthorization> {
  protected readonly kind = 'authorization';
  protected readonly seconds = SIGN_IN_SECONDS;

  /** The request of this `state`, once, and only for the browser that began it. */
  redeem(tenantId: string, id: string, cookies: string | undefined): Promise<PendingAuthorization | undefined> {
    return this.redeemWith(tenantId, id, signInCookies.find(cookies, id));
  }
}
