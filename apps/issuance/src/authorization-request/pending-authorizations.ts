import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isUuid } from '@attestry/contracts';
import type { Clock, Ids } from '@attestry/event-store';
import { ExpiringState, isErased } from '@attestry/keys';
import { CLOCK, IDS } from '@attestry/service-kit';
import type { OfferEntry } from '../issuance-session/issuance-session.events.js';

/** How long a person may take to sign in, seconds. */
const SIGN_IN_SECONDS = 1200;

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

/** An authorization request whose person is signing in at the provider. */
export interface PendingAuthorization extends RequestingClient, RequestedEntries {
  codeChallenge: string;
  /** Pinned when the request begins, so that a change of the custom domain does not alter it (ADR 0056). */
  issuer: string;
  providerId: string;
  identitySpaceId?: string;
  /** For the provider. */
  nonce: string;
  codeVerifier: string;
}

interface PendingRecord {
  request: PendingAuthorization;
  /** SHA-256 of the value of the browser's cookie, base64url. */
  browser: string;
}

/** What the browser keeps until it returns. */
export interface BrowserBinding {
  /** `state` for the provider, and part of the cookie's name: a browser may have several requests pending. */
  id: string;
  secret: string;
}

const COOKIE_PATH = '/v1/oauth/authentication';
/** Path of the provider's `redirectUrl`. */
export const CALLBACK = `${COOKIE_PATH}/callback`;
const nameOf = (id: string): string => `authorization:${id}`;
const cookieName = (id: string): string => `attestry-sign-in-${id}`;
const digest = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** RFC 6265. A provider's redirect is a navigation from another site, for which `Lax` is enough. */
export const setCookie = ({ id, secret }: BrowserBinding, issuer: string): string =>
  cookie(id, secret, SIGN_IN_SECONDS, issuer);
export const dropCookie = (id: string, issuer: string): string => cookie(id, '', 0, issuer);
const cookie = (id: string, value: string, maxAge: number, issuer: string): string =>
  [
    `${cookieName(id)}=${value}`,
    `Path=${COOKIE_PATH}`,
    `Max-Age=${maxAge}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(issuer.startsWith('https:') ? ['Secure'] : []),
  ].join('; ');

export const cookieOf = (header: string | undefined, id: string): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${cookieName(id)}=`))
    ?.slice(cookieName(id).length + 1);

/**
 * Authorization requests whose person is signing in at the provider. They can be created without credentials, so they are expiring state
 * and no events; the browser may return to any process.
 */
@Injectable()
export class PendingAuthorizations {
  constructor(
    private readonly state: ExpiringState,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  binding(): BrowserBinding {
    return { id: this.ids.uuid(), secret: randomBytes(32).toString('base64url') };
  }

  async store(tenantId: string, { id, secret }: BrowserBinding, request: PendingAuthorization): Promise<void> {
    const record: PendingRecord = { request, browser: digest(secret).toString('base64url') };
    const expiresAt = this.clock.now().getTime() + SIGN_IN_SECONDS * 1000;
    await this.state.write(tenantId, nameOf(id), JSON.stringify(record), { expiresAt });
  }

  /**
   * The request of this `state`, once, and only for the browser that began it: the redirect address alone is not enough (RFC 9700 §4.7).
   */
  async redeem(tenantId: string, id: string, cookies: string | undefined): Promise<PendingAuthorization | undefined> {
    if (!isUuid(id)) return undefined;
    const found = await this.state.read(tenantId, nameOf(id));
    if (!found || isErased(found) || found.expiresAt <= this.clock.now().getTime()) return undefined;
    const record = JSON.parse(found.text) as Partial<PendingRecord>;
    const secret = cookieOf(cookies, id);
    if (!record.request || !record.browser || secret === undefined) return undefined;
    if (!timingSafeEqual(digest(secret), Buffer.from(record.browser, 'base64url'))) return undefined;
    // Of two concurrent redemptions one succeeds.
    const taken = await this.state.write(tenantId, nameOf(id), '{}', {
      after: found.version,
      expiresAt: found.expiresAt,
    });
    return taken === undefined ? undefined : record.request;
  }
}
