import { Injectable } from '@nestjs/common';
import { BrowserBoundRequests, cookiesOf, makeSecret, type BrowserBinding } from './browser-bound-requests.js';
import type { AcceptedRequest } from '../../wallets/wallet-record/accepted-request.js';

/** How long a person may take to decide, seconds. */
export const CONSENT_SECONDS = 600;
/** Path of the form. */
export const CONSENT_PATH = '/v1/oauth/authorize/consent';

/** An authorization request whose person decides whether the wallet may have the credentials. */
export interface PendingConsent extends AcceptedRequest {
  /** Query with the parameters that the provider can get. */
  query: string;
}

/** The form is on a page of the issuer, so that its own requests alone need the cookie. */
export const consentCookies = cookiesOf({
  name: 'attestry-consent',
  path: CONSENT_PATH,
  sameSite: 'Strict',
  seconds: CONSENT_SECONDS,
});

/** The cookie's secret and the form's token; one comparison covers both. */
export interface ConsentBinding {
  cookie: BrowserBinding;
  token: string;
}
const combined = (secret: string, token: string): string => `${secret}.${token}`;

/** Authorization requests that wait for consent: nothing is sent to the provider before it. */
@Injectable()
export class PendingConsents extends BrowserBoundRequests<PendingConsent> {
  protected readonly kind = 'consent';
  protected readonly seconds = CONSENT_SECONDS;

  async begin(tenantId: string, request: PendingConsent): Promise<ConsentBinding> {
    const [cookie, token] = [this.binding(), makeSecret()];
    await this.store(tenantId, { id: cookie.id, secret: combined(cookie.secret, token) }, request);
    return { cookie, token };
  }

  /** The request, once, and only for the browser that got the form, with the form's token. */
  redeem(
    tenantId: string,
    { request: id, token }: { request: string; token: string },
    cookies: string | undefined,
  ): Promise<PendingConsent | undefined> {
    const secret = consentCookies.find(cookies, id);
    return this.redeemWith(tenantId, id, secret === undefined ? undefined : combined(secret, token));
  }
}
