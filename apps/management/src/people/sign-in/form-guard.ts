import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Macs, randomSecret } from '@attestry/keys';

const COOKIE = 'attestry_form';
const CONTEXT = 'people-form';

/** Allowed cookie names; other cookies are ignored. */
const cookieOf = (request: IncomingMessage): string | undefined => {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=');
    if (name === COOKIE && value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value)) return value;
  }
  return undefined;
};

/**
 * Against forms of other sites (CSRF, also of the sign-in itself): a form is accepted from the browser that received it. The cookie has a
 * secret, the form its MAC, which other sites cannot compute.
 */
@Injectable()
export class FormGuard {
  constructor(private readonly macs: Macs) {}

  /** The value of the form's hidden field; sets the cookie if missing. */
  fieldFor(request: IncomingMessage, response: ServerResponse, isSecure: boolean): string {
    let secret = cookieOf(request);
    if (secret === undefined) {
      secret = randomSecret();
      response.appendHeader(
        'set-cookie',
        `${COOKIE}=${secret}; Path=/people; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
      );
    }
    const { pepper, mac } = this.macs.mac(secret, CONTEXT);
    return `${pepper}.${mac}`;
  }

  /** @param origin of this site, as browsers send it */
  isOwn(request: IncomingMessage, field: string | undefined, origin: string): boolean {
    const { origin: from, 'sec-fetch-site': site } = request.headers;
    if (site !== undefined && site !== 'same-origin') return false;
    // Browsers send `null` under `Referrer-Policy: no-referrer`.
    if (from !== undefined && from !== 'null' && from !== origin) return false;
    const secret = cookieOf(request);
    const [pepper, mac, ...rest] = (field ?? '').split('.');
    if (secret === undefined || !pepper || !mac || rest.length) return false;
    return this.macs.verifyMac(secret, { pepper, mac }, CONTEXT);
  }
}
