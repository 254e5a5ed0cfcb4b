import { Injectable } from '@nestjs/common';
import type { UserInfoOutcome } from '@attestry/contracts';
import type { OfferEntry } from '../issuance-session/issuance-session.events.js';
import type { ClientClass } from './classify-client.js';
import { BrowserBoundRequests, cookiesOf } from './browser-bound-requests.js';

/** How long a person may take to sign in, seconds. */
export const SIGN_IN_SECONDS = 1200;

/** The wallet's client id and redirect address. */
export interface RequestingClient {
  clientId: string;
  redirectUri: string;
  /** Returned with the response, whatever its value. */
  state?: string;
}

export interface RequestedEntries {
  entries: OfferEntry[];
  /** Configurations whose identifiers the token response returns. */
  detailed?: string[];
  /** Stored offer that the request names. */
  offerId?: string;
}

/** An authorization request that was accepted. */
export interface AcceptedRequest extends RequestingClient, RequestedEntries {
  /** The callback accepts no other one. */
  clientKind: ClientClass['kind'];
  codeChallenge: string;
  dpopJkt?: string;
  /** Of a pushed request: thumbprint of the wallet's attested key, of which the token request must have a proof. */
  instanceJkt?: string;
  /** Authorization server: the tenant's host, `iss` of the response (RFC 9207). */
  issuer: string;
  /** Pinned when the request begins, so that a change of the custom domain does not alter it (ADR 0056); absent in requests of earlier releases. */
  credentialIssuer?: string;
  /** Id of the pushed request that it is for, which gets one code (`PushedAuthorizations`). */
  pushed?: string;
}

/** An authorization request whose person is signing in at the provider. */
export interface PendingAuthorization extends AcceptedRequest {
  providerId: string;
  identitySpaceId?: string;
  /** For the provider. */
  nonce: string;
  codeVerifier: string;
  /** When the sign-in began, milliseconds since the epoch; absent in requests of earlier releases. */
  begunAt?: number;
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
