import { Injectable } from '@nestjs/common';
import { MAX_INTERACTION_SECONDS } from '@attestry/contracts';
import { BrowserBoundRequests, cookiesOf } from '../authorization-request/browser-bound-requests.js';
import type { AuthenticatedRequest } from '../authorization-request/pending-authorizations.js';

/** An authorization request whose person signed in and is at the interaction hook. */
export interface PendingInteraction extends AuthenticatedRequest {
  userId: string;
  /** JSON of the provider's claims, sealed under the user's key. */
  sealedClaims: string;
  /** Hook that the person was sent to: it must not have changed. */
  hook: { url: string; secretKeyId: string; sessionTimeoutInSec: number };
}

const COOKIE_PATH = '/v1/oauth/interaction';
/** Path of `redirectUrl` of the token for the hook. */
export const INTERACTION_CALLBACK = `${COOKIE_PATH}/callback`;

/** The hook's redirect is a navigation from another site, for which `Lax` is enough. */
export const interactionCookies = cookiesOf({
  name: 'attestry-interaction',
  path: COOKIE_PATH,
  sameSite: 'Lax',
  seconds: MAX_INTERACTION_SECONDS,
});

/** Authorization requests whose person is at the interaction hook; the id is `state` of the tokens. */
@Injectable()
export class PendingInteractions extends BrowserBoundRequests<PendingInteraction> {
  protected readonly kind = 'interaction';
  protected readonly seconds = MAX_INTERACTION_SECONDS;

  /** The request of this `state`, once, and only for the browser that began it. */
  redeem(tenantId: string, id: string, cookies: string | undefined): Promise<PendingInteraction | undefined> {
    return this.redeemWith(tenantId, id, interactionCookies.find(cookies, id));
  }
}
