import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@attestry/event-store';
import { Macs, randomSecret } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';

const YEAR_SECONDS = 365 * 86_400;
/** Accounts known per browser; the least recently used one is dropped. */
const MOST_ACCOUNTS = 3;
/** Id of the device, issue time in seconds, pepper and MAC. */
const ENTRY = /^([A-Za-z0-9_-]{22})\.(\d{1,12})\.([A-Za-z0-9]{1,16})\.([A-Za-z0-9_-]{43})$/;

/**
 * Device cookies (OWASP, Slow Down Online Guessing Attacks with Device Cookies): a browser in which a user has signed in to an account
 * has a separate budget for that account. The cookie neither opens a session nor names the account: each entry is a random id
 * with a MAC that is bound to the account.
 */
@Injectable()
export class DeviceCookies {
  constructor(
    private readonly macs: Macs,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The browser's id for this account. @param account MAC of the address */
  deviceOf(request: IncomingMessage, account: string, isSecure: boolean): string | undefined {
    const now = this.seconds();
    for (const entry of entriesOf(request, isSecure)) {
      const [, id, issued, pepper, mac] = ENTRY.exec(entry)!;
      const isGenuine = this.macs.verifyMac(`${id}.${issued}`, { pepper: pepper!, mac: mac! }, contextOf(account));
      const age = now - Number(issued);
      if (isGenuine && age >= 0 && age < YEAR_SECONDS) return id;
    }
    return undefined;
  }

  /** Makes the browser known to the account, under a new id. */
  addDevice(request: IncomingMessage, response: ServerResponse, account: string, isSecure: boolean): void {
    const claims = `${randomSecret(16)}.${this.seconds()}`;
    const { pepper, mac } = this.macs.mac(claims, contextOf(account));
    const known = this.deviceOf(request, account, isSecure);
    const others = entriesOf(request, isSecure).filter(
      (entry) => known === undefined || !entry.startsWith(`${known}.`),
    );
    const value = [`${claims}.${pepper}.${mac}`, ...others].slice(0, MOST_ACCOUNTS).join('~');
    // `__Host-` needs Secure and the path `/`, and keeps other hosts of the domain from setting it (RFC 6265bis §4.1.3.2).
    const scope = isSecure ? 'Path=/; Secure' : 'Path=/people';
    response.appendHeader(
      'set-cookie',
      `${nameOf(isSecure)}=${value}; ${scope}; HttpOnly; SameSite=Lax; Max-Age=${YEAR_SECONDS}`,
    );
  }

  private seconds(): number {
    return Math.floor(this.clock.now().getTime() / 1000);
  }
}

const contextOf = (account: string): string => `people-device ${account}`;
const nameOf = (isSecure: boolean): string => (isSecure ? '__Host-attestry_device' : 'attestry_device');

const entriesOf = (request: IncomingMessage, isSecure: boolean): string[] => {
  const prefix = `${nameOf(isSecure)}=`;
  const pair = (request.headers.cookie ?? '')
    .split(';')
    .map((it) => it.trim())
    .find((it) => it.startsWith(prefix));
  if (pair === undefined) return [];
  return pair
    .slice(prefix.length)
    .split('~', MOST_ACCOUNTS)
    .filter((entry) => ENTRY.test(entry));
};
