import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isUuid } from '@attestry/contracts';
import type { Clock, Ids } from '@attestry/event-store';
import { ExpiringState, isErased } from '@attestry/keys';
import { CLOCK, IDS } from '@attestry/service-kit';

/** Data that the browser keeps until it returns. */
export interface BrowserBinding {
  /** Part of the cookie's name: a browser may have several requests pending. */
  id: string;
  secret: string;
}

export interface BindingCookie {
  name: string;
  path: string;
  sameSite: 'Lax' | 'Strict';
  /** How long a request waits. */
  seconds: number;
}

interface StoredRequest<Request> {
  request: Request;
  /** SHA-256 of the secret, base64url. */
  browser: string;
}

const digest = (secret: string): Buffer => createHash('sha256').update(secret).digest();
export const makeSecret = (): string => randomBytes(32).toString('base64url');

/** RFC 6265. */
export const cookiesOf = ({ name, path, sameSite, seconds }: BindingCookie) => {
  const nameOf = (id: string): string => `${name}-${id}`;
  const cookie = (id: string, value: string, maxAge: number, issuer: string): string =>
    [
      `${nameOf(id)}=${value}`,
      `Path=${path}`,
      `Max-Age=${maxAge}`,
      'HttpOnly',
      `SameSite=${sameSite}`,
      ...(issuer.startsWith('https:') ? ['Secure'] : []),
    ].join('; ');
  return {
    set: ({ id, secret }: BrowserBinding, issuer: string): string => cookie(id, secret, seconds, issuer),
    drop: (id: string, issuer: string): string => cookie(id, '', 0, issuer),
    /** @param header `Cookie` */
    find: (header: string | undefined, id: string): string | undefined =>
      header
        ?.split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(`${nameOf(id)}=`))
        ?.slice(nameOf(id).length + 1),
  };
};

/**
 * Authorization requests that wait for a person at a browser. They can be created without credentials, so they are expiring state and no
 * events; the browser may return to any process.
 */
@Injectable()
export abstract class BrowserBoundRequests<Request> {
  /** Prefix of the names of the expiring state. */
  protected abstract readonly kind: string;
  protected abstract readonly seconds: number;

  constructor(
    private readonly state: ExpiringState,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  binding(): BrowserBinding {
    return { id: this.ids.uuid(), secret: makeSecret() };
  }

  async store(
    tenantId: string,
    { id, secret }: BrowserBinding,
    request: Request,
    seconds = this.seconds,
  ): Promise<void> {
    const record: StoredRequest<Request> = { request, browser: digest(secret).toString('base64url') };
    const expiresAt = this.clock.now().getTime() + seconds * 1000;
    await this.state.write(tenantId, `${this.kind}:${id}`, JSON.stringify(record), { expiresAt });
  }

  /** The request of this id, once, and only with its secret: the address alone is not enough (RFC 9700 §4.7). */
  protected async redeemWith(tenantId: string, id: string, secret: string | undefined): Promise<Request | undefined> {
    if (!isUuid(id) || secret === undefined) return undefined;
    const name = `${this.kind}:${id}`;
    const found = await this.state.read(tenantId, name);
    if (!found || isErased(found) || found.expiresAt <= this.clock.now().getTime()) return undefined;
    const record = JSON.parse(found.text) as Partial<StoredRequest<Request>>;
    if (!record.request || !record.browser) return undefined;
    if (!timingSafeEqual(digest(secret), Buffer.from(record.browser, 'base64url'))) return undefined;
    // Only one of two concurrent redemptions succeeds.
    const taken = await this.state.write(tenantId, name, '{}', { after: found.version, expiresAt: found.expiresAt });
    return taken === undefined ? undefined : record.request;
  }
}
