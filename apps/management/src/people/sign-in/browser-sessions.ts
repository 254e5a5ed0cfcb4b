import { Injectable } from '@nestjs/common';
import type { Provider } from 'oidc-provider';
import { Accounts, type AccountHolder } from './accounts.js';
import type { PageCall } from './page-call.js';
import { html, type Html } from './pages.js';
import { SESSION_SECONDS } from './provider.js';

type Session = InstanceType<Provider['Session']>;

/** Sessions of the provider, by the cookie of a browser. */
@Injectable()
export class BrowserSessions {
  constructor(private readonly accounts: Accounts) {}

  /** The account of this browser's session. */
  async signedIn(pageCall: PageCall): Promise<AccountHolder | undefined> {
    const { accountId } = await sessionOf(pageCall);
    return accountId === undefined ? undefined : this.accounts.byId(accountId);
  }

  /** A new session under a new id, so that one known before the sign-in is worthless. */
  async begin(pageCall: PageCall, { accountId }: AccountHolder): Promise<void> {
    const { provider, request, response, base, isSecure } = pageCall;
    const before = await sessionOf(pageCall);
    if (before.accountId !== undefined) await before.destroy();
    const session = new provider.Session();
    session.loginAccount({ accountId, amr: ['pwd'] } as never);
    await session.save(SESSION_SECONDS);
    const { cookies } = provider.createContext(request, response);
    cookies.set(provider.cookieName('session'), session.jti, {
      path: base,
      httpOnly: true,
      sameSite: 'lax',
      signed: true,
      secure: isSecure,
      maxAge: SESSION_SECONDS * 1000,
    });
  }
}

const sessionOf = ({ provider, request, response }: PageCall): Promise<Session> =>
  provider.Session.get(provider.createContext(request, response) as never);

export const whoIs = (pageCall: PageCall, { name, email }: AccountHolder): Html =>
  html`<p>You are signed in as <strong>${name}</strong> (${email}).</p>
    ${signOutLink(pageCall)}`;

export const signOutLink = ({ base }: PageCall): Html => html`<p><a href="${base}/sign-out">Sign out</a></p>`;
