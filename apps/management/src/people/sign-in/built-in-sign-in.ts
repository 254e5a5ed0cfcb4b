import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import type { Provider } from 'oidc-provider';
import { acceptInvitation, AppError, type JwkSet } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs, Sealing, SigningKeys, SignInStore } from '@attestry/keys';
import {
  CLOCK,
  LOGGER,
  Metrics,
  PlatformConfig,
  SignInRegistry,
  type Logger,
  type PersonOfIssuer,
  type SignIn,
  type SignInCall,
} from '@attestry/service-kit';
import { accountNameFault, MIN_PASSWORD, passwordFault } from '../account/account.decisions.js';
import { Accounts, isTaken, type AccountHolder } from './accounts.js';
import { Attempts, type KnownBrowser, type UsedUp } from './attempts.js';
import { commonPasswords } from './common-passwords.js';
import { DeviceCookies } from './device-cookies.js';
import { DeviceLinks } from './device-links.js';
import { FormGuard } from './form-guard.js';
import { InvitationLookup, type DeadLink } from './invitation-lookup.js';
import { hasEnded } from './stored-records.js';
import { field, form, html, page, pageHeaders, type FormFault, type Html } from './pages.js';
import { listProviderKeys, openProvider, originOf, SESSION_SECONDS } from './provider.js';
import { readForm } from './read-form.js';

interface PageCall extends SignInCall {
  request: IncomingMessage;
  response: ServerResponse;
  provider: Provider;
  url: URL;
  /** Hidden field of a form of our own pages. */
  fields: Record<string, string>;
}

type Session = InstanceType<Provider['Session']>;

/** Result of checking a password: its account, or the error to show. */
type Judged = { holder: AccountHolder } | Refused;
interface Refused {
  faults: FormFault[];
  retryAfter?: number;
  /** Account whose budget for unknown browsers is exhausted: a link to its mailbox makes this browser a known one. */
  lockedEmail?: string;
}

/** Longest address that is looked up. */
const MAX_EMAIL = 320;

/** One message for an unknown account and for a wrong password. */
const WRONG = 'The e-mail address or the password is wrong';

/** What happened, and the alternative to waiting. */
const USED_UP: Record<UsedUp, string> = {
  account: 'Too many failed attempts for this account from browsers that have not signed in to it before',
  address: 'Too many failed attempts from your network',
  device: 'Too many failed attempts in this browser',
  link: 'Too many failed attempts with this link',
};

const DEAD_LINKS: Record<DeadLink, { title: string; text: string; status: number }> = {
  unknown: {
    title: 'This link is not valid',
    text: 'Check that you opened the complete link from the e-mail. If you did, ask the sender for a new invitation.',
    status: 404,
  },
  used: {
    title: 'This invitation has already been used',
    text: 'An invitation can be accepted only once. If you accepted it, you are already a member.',
    status: 410,
  },
  expired: {
    title: 'This invitation has expired',
    text: 'Invitations expire after five days. Ask the sender for a new one.',
    status: 410,
  },
  replaced: {
    title: 'This invitation was replaced',
    text: 'A newer invitation was sent to you. Open the link in the latest e-mail.',
    status: 410,
  },
  withdrawn: {
    title: 'This invitation was withdrawn',
    text: 'If you think that this is a mistake, contact the person who invited you.',
    status: 410,
  },
};

/**
 * The built-in sign-in of people: an OpenID provider, and plain pages that work without scripts. It has only accounts; users and
 * memberships are handled by operations that it calls through the gateway as the person.
 */
@Injectable()
export class BuiltInSignIn implements SignIn, OnModuleInit {
  private readonly base: string;
  private readonly origin: string;
  private readonly isSecure: boolean;
  private opening: Promise<Provider> | undefined;

  constructor(
    private readonly config: PlatformConfig,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly signingKeys: SigningKeys,
    private readonly accounts: Accounts,
    private readonly attempts: Attempts,
    private readonly devices: DeviceCookies,
    private readonly deviceLinks: DeviceLinks,
    private readonly guard: FormGuard,
    private readonly links: InvitationLookup,
    private readonly signIns: SignInRegistry,
    private readonly metrics: Metrics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    /** Absent where the built-in sign-in is not enabled. */
    @Optional() private readonly store?: SignInStore,
  ) {
    const { origin, pathname, protocol } = new URL(config.signInIssuer);
    this.base = pathname;
    this.origin = origin;
    this.isSecure = protocol === 'https:';
  }

  onModuleInit(): void {
    if (this.store) this.signIns.offer(this);
  }

  async keySet(): Promise<JwkSet> {
    const keys = await listProviderKeys(this.signingKeys);
    return { keys: keys.map(({ keyId, publicJwk }) => ({ ...publicJwk, kid: keyId, alg: 'ES256', use: 'sig' })) };
  }

  async hasEnded(grantId: string): Promise<boolean> {
    return this.store !== undefined && hasEnded(this.store.records, grantId);
  }

  async handle(request: IncomingMessage, response: ServerResponse, pageCall: SignInCall): Promise<void> {
    for (const [name, value] of Object.entries(pageHeaders())) response.setHeader(name, value);
    try {
      const provider = await this.provider();
      await this.route({
        ...pageCall,
        request,
        response,
        provider,
        url: new URL(request.url ?? '/', this.origin),
        fields: {},
      });
    } catch (error) {
      this.fail(response, error, pageCall.requestId);
    }
  }

  /** Opened on the first use: many platforms never show a page. */
  private provider(): Promise<Provider> {
    const { config, macs, sealing, signingKeys, accounts, logger, store, clock } = this;
    if (!store) throw new Error('the built-in sign-in is not enabled');
    const { records } = store;
    const now = () => clock.now().getTime();
    this.opening ??= openProvider({ config, macs, sealing, signingKeys, records, accounts, logger, now });
    this.opening.catch(() => (this.opening = undefined));
    return this.opening;
  }

  private async route(pageCall: PageCall): Promise<void> {
    const path = pageCall.url.pathname.slice(this.base.length);
    const interaction = /^\/sign-in\/([A-Za-z0-9_-]{1,64})$/.exec(path)?.[1];
    const ours =
      path === '/invitation'
        ? this.invitation
        : path === '/sign-in' || path === '' || path === '/'
          ? this.signIn
          : path === '/browser'
            ? this.browser
            : interaction !== undefined
              ? this.interaction
              : undefined;
    if (!ours) return this.toProvider(pageCall);
    const { request, response } = pageCall;
    if (request.method === 'GET' || request.method === 'HEAD') return ours.call(this, pageCall);
    if (request.method !== 'POST') {
      response.setHeader('allow', 'GET, HEAD, POST');
      return this.sendPage(pageCall, 405, 'This request is not supported', html`<p>Open the page in a browser.</p>`);
    }
    const read = await readForm(request);
    if (!read) return;
    // The rest of the form is not read (RFC 9110 §15.5.9).
    if (read.status === 408) response.setHeader('connection', 'close');
    if (read.status !== 200)
      return this.sendPage(
        pageCall,
        read.status,
        'The form could not be read',
        html`<p>Open the page again and retry.</p>`,
      );
    if (!this.guard.isOwn(request, read.fields['form'], this.origin))
      return this.sendPage(
        pageCall,
        403,
        'The form is out of date',
        html`<p>
          The form was not sent from this page, or your browser blocks cookies. Open the page again and retry.
        </p>`,
      );
    return ours.call(this, { ...pageCall, fields: read.fields });
  }

  /** All other paths are the library's: it is mounted below the issuer's path. */
  private async toProvider({ request, response, provider }: PageCall): Promise<void> {
    const original = request.url ?? '/';
    const mounted = request as IncomingMessage & { originalUrl?: string };
    mounted.originalUrl = original;
    mounted.url = original.slice(this.base.length) || '/';
    await provider.callback()(mounted, response);
  }

  // Signing in

  private async signIn(pageCall: PageCall): Promise<void> {
    const known = await this.signedIn(pageCall);
    if (pageCall.request.method !== 'POST') {
      if (known) return this.sendPage(pageCall, 200, 'You are signed in', this.whoIs(known));
      return this.sendPage(pageCall, 200, 'Sign in', this.signInForm(pageCall));
    }
    const judged = await this.judge(pageCall, pageCall.fields['email'] ?? '');
    if ('faults' in judged)
      return this.showAgain(pageCall, judged, 'Sign in', this.signInForm(pageCall, judged.faults));
    await this.beginSession(pageCall, judged.holder);
    return this.sendPage(pageCall, 200, 'You are signed in', this.whoIs(judged.holder));
  }

  /** A client requests a sign-in: the page in the middle of an authorization request. */
  private async interaction(pageCall: PageCall): Promise<void> {
    const { provider, request, response, fields } = pageCall;
    let details;
    try {
      details = await provider.interactionDetails(request, response);
    } catch (error) {
      if ((error as Error).name !== 'SessionNotFound') throw error;
      return this.sendPage(
        pageCall,
        410,
        'This sign-in has ended',
        html`<p>
          It was completed already, or it took too long. Start again from the application that you came from.
        </p>`,
      );
    }
    const leadsTo = originOf(details.params['redirect_uri']);
    const client = await provider.Client.find(String(details.params['client_id']));
    const clientName = client?.clientName ?? 'an application';
    const known = details.prompt.name === 'consent' ? await this.signedIn(pageCall) : undefined;
    const isPost = request.method === 'POST';
    if (isPost && fields['action'] === 'cancel')
      return provider.interactionFinished(
        request,
        response,
        { error: 'access_denied' },
        { mergeWithLastSubmission: false },
      );
    if (known) {
      if (isPost && fields['action'] === 'continue')
        return provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
      return this.sendPage(pageCall, 200, 'Continue?', this.consentForm(pageCall, clientName, known), [], leadsTo);
    }
    const title = `Sign in to continue to ${clientName}`;
    if (!isPost) return this.sendPage(pageCall, 200, title, this.signInForm(pageCall, [], true), [], leadsTo);
    const judged = await this.judge(pageCall, fields['email'] ?? '');
    if ('faults' in judged)
      return this.showAgain(pageCall, judged, title, this.signInForm(pageCall, judged.faults, true), leadsTo);
    // Typing a password for this client is the consent.
    const result = { login: { accountId: judged.holder.accountId, amr: ['pwd'] }, consent: {} };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  /**
   * Whether the password is the account's. Failures are limited, whether the account exists or not.
   * @param link that was sent to the account's mailbox and opened in this browser
   */
  private async judge(pageCall: PageCall, email: string, link?: string): Promise<Judged> {
    const password = pageCall.fields['password'] ?? '';
    const faults: FormFault[] = [
      ...(email.trim() === '' ? [{ field: 'email', text: 'Enter your e-mail address' }] : []),
      ...(password === '' ? [{ field: 'password', text: 'Enter your password' }] : []),
    ];
    if (faults.length) return { faults };
    const { attempts } = this.store!;
    const account = this.accounts.macOf(email.slice(0, MAX_EMAIL));
    const known = this.knownBrowser(pageCall, account, link);
    const begun = await this.attempts.begin(attempts, { account, address: pageCall.address, known });
    if ('until' in begun) return this.usedUpFault(begun, email);
    // Other callers behind the same address do not lock out a browser known to the account.
    const caller = known ? `account ${account}` : `address ${pageCall.address}`;
    let holder: AccountHolder | undefined;
    try {
      holder = await this.accounts.verifyPassword(email.slice(0, MAX_EMAIL), password.slice(0, 1024), caller);
    } catch (error) {
      // Only verified passwords count: a full queue does not use up the owner's budget.
      await this.attempts.takeBack(attempts, begun.attempt);
      throw error;
    }
    this.metrics.counter('signInAttempts').inc({ outcome: holder ? 'ok' : 'wrong' });
    if (!holder) return { faults: [{ field: 'email', text: WRONG }] };
    await this.attempts.takeBack(attempts, begun.attempt);
    this.devices.addDevice(pageCall.request, pageCall.response, account, this.isSecure);
    return { holder };
  }

  private knownBrowser({ request }: PageCall, account: string, link: string | undefined): KnownBrowser | undefined {
    const device = this.devices.deviceOf(request, account, this.isSecure);
    if (device !== undefined) return { kind: 'device', key: device };
    return link === undefined ? undefined : { kind: 'link', key: link };
  }

  private usedUpFault({ usedUp, until }: { usedUp: UsedUp; until: Date }, email: string): Refused {
    this.metrics.counter('signInAttempts').inc({ outcome: usedUp });
    const { retryAfter, wait } = this.waitUntil(until);
    const faults = [{ text: `${USED_UP[usedUp]}. Try again in ${wait}.` }];
    return { faults, retryAfter, ...(usedUp === 'account' && { lockedEmail: email.slice(0, MAX_EMAIL) }) };
  }

  private waitUntil(until: Date): { retryAfter: number; wait: string } {
    const retryAfter = Math.max(1, Math.ceil((until.getTime() - this.clock.now().getTime()) / 1000));
    const minutes = Math.ceil(retryAfter / 60);
    return { retryAfter, wait: minutes === 1 ? '1 minute' : `${minutes} minutes` };
  }

  // Browsers unknown to an account

  /** A link to the account's mailbox makes a browser known to the account; the password is still needed. */
  private async browser(pageCall: PageCall): Promise<void> {
    const isPost = pageCall.request.method === 'POST';
    if (isPost && pageCall.fields['email'] !== undefined)
      return this.sendDeviceLink(pageCall, pageCall.fields['email']);
    const token = (isPost ? pageCall.fields['token'] : pageCall.url.searchParams.get('token')) ?? '';
    const { records } = this.store!;
    const account = isPost
      ? await this.deviceLinks.spend(records, token)
      : await this.deviceLinks.accountOf(records, token);
    if (account === undefined)
      return this.sendPage(
        pageCall,
        410,
        'This link is not valid',
        html`<p>A link can be used once and expires after one hour. Sign in again to request a new one.</p>
          <p><a href="${this.base}/sign-in">Sign in</a></p>`,
      );
    if (isPost) {
      this.devices.addDevice(pageCall.request, pageCall.response, account, this.isSecure);
      return this.sendPage(
        pageCall,
        200,
        'You can now sign in with this browser',
        html`<p>Failed attempts from other browsers no longer prevent you from signing in with this one.</p>
          <p><a href="${this.base}/sign-in">Sign in</a></p>`,
      );
    }
    return this.sendPage(
      pageCall,
      200,
      'Sign in with this browser',
      html`<p>Continue only if you requested this link yourself.</p>
        ${form(
          `${this.base}/browser`,
          { form: this.formField(pageCall), token },
          html`<button name="action" value="use">Use this browser</button>`,
        )}`,
    );
  }

  private async sendDeviceLink(pageCall: PageCall, text: string): Promise<void> {
    const email = text.slice(0, MAX_EMAIL);
    const account = this.accounts.macOf(email);
    const until = await this.attempts.beginLink(this.store!.attempts, account, pageCall.address);
    if (until) {
      const { retryAfter, wait } = this.waitUntil(until);
      pageCall.response.setHeader('retry-after', retryAfter);
      const faults = [{ text: `Too many links were requested. Try again in ${wait}.` }];
      return this.sendPage(pageCall, 429, 'Check your e-mail', html`<p>Use the link in the latest e-mail.</p>`, faults);
    }
    // In the background: the response time would reveal whether the account exists.
    void this.deviceLinks.send(this.store!.records, email, account, pageCall.requestId);
    return this.sendPage(
      pageCall,
      200,
      'Check your e-mail',
      html`<p>
        If there is an account with this address, a link is being sent to it. The link can be used once and expires
        after one hour.
      </p>`,
    );
  }

  // Sessions

  /** The account of this browser's session. */
  private async signedIn(pageCall: PageCall): Promise<AccountHolder | undefined> {
    const { accountId } = await this.session(pageCall);
    return accountId === undefined ? undefined : this.accounts.byId(accountId);
  }

  private session({ provider, request, response }: PageCall): Promise<Session> {
    return provider.Session.get(provider.createContext(request, response) as never);
  }

  /** A new session under a new id, so that one known before the sign-in is worthless. */
  private async beginSession(pageCall: PageCall, { accountId }: AccountHolder): Promise<void> {
    const { provider, request, response } = pageCall;
    const before = await this.session(pageCall);
    if (before.accountId !== undefined) await before.destroy();
    const session = new provider.Session();
    session.loginAccount({ accountId, amr: ['pwd'] } as never);
    await session.save(SESSION_SECONDS);
    const { cookies } = provider.createContext(request, response);
    cookies.set(provider.cookieName('session'), session.jti, {
      path: this.base,
      httpOnly: true,
      sameSite: 'lax',
      signed: true,
      secure: this.isSecure,
      maxAge: SESSION_SECONDS * 1000,
    });
  }

  // Invitations

  private async invitation(pageCall: PageCall): Promise<void> {
    const isPost = pageCall.request.method === 'POST';
    const token = (isPost ? pageCall.fields['token'] : pageCall.url.searchParams.get('token')) ?? '';
    const link = await this.links.findInvitation(token);
    if (link.status !== 'open') return this.showDead(pageCall, link.status);
    const { tenantName, email } = link;
    const title = `Join ${tenantName}`;
    const known = await this.signedIn(pageCall);
    if (isPost && pageCall.fields['action'] === 'accept' && known)
      return this.accept(pageCall, known, token, tenantName);
    if (!isPost && known && pageCall.url.searchParams.get('as') !== 'invited')
      return this.sendPage(pageCall, 200, title, this.acceptForm(pageCall, token, tenantName, known, email));

    const isNew = !(await this.accounts.exists(email));
    if (!isPost || pageCall.fields['action'] === 'accept')
      return this.sendPage(pageCall, 200, title, this.invitedForm(pageCall, { token, tenantName, email, isNew }));
    const judged = isNew ? await this.signUp(pageCall, email) : await this.judge(pageCall, email, token);
    if ('faults' in judged) {
      const content = this.invitedForm(pageCall, { token, tenantName, email, isNew }, judged.faults);
      return this.showAgain(pageCall, judged, title, content);
    }
    await this.beginSession(pageCall, judged.holder);
    return this.accept(pageCall, judged.holder, token, tenantName);
  }

  /** Only with a link: its holder can read the mailbox, which proves the address. */
  private async signUp(pageCall: PageCall, email: string): Promise<Judged> {
    const { fields, requestId } = pageCall;
    const name = (fields['name'] ?? '').trim();
    const password = fields['password'] ?? '';
    const nameFault = accountNameFault(name);
    const fault = passwordFault(password, email, await commonPasswords());
    const faults: FormFault[] = [
      ...(nameFault === undefined ? [] : [{ field: 'name', text: nameFault }]),
      ...(fault === undefined ? [] : [{ field: 'password', text: fault }]),
    ];
    if (faults.length) return { faults };
    try {
      const holder = await this.accounts.createAccount(
        { email, name, password },
        requestId,
        `address ${pageCall.address}`,
      );
      this.devices.addDevice(pageCall.request, pageCall.response, this.accounts.macOf(email), this.isSecure);
      return { holder };
    } catch (error) {
      if (!isTaken(error)) throw error;
      return { faults: [{ text: 'The account was created a moment ago. Open the link again and sign in.' }] };
    }
  }

  private async accept(pageCall: PageCall, holder: AccountHolder, token: string, tenantName: string): Promise<void> {
    try {
      await pageCall.call(this.personOf(holder), acceptInvitation, { token });
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'invalid') throw error;
      const { status } = await this.links.findInvitation(token);
      // Valid, but not for this person.
      if (status === 'open')
        return this.sendPage(
          pageCall,
          409,
          'You cannot accept this invitation',
          html`<p>
              You are signed in as <strong>${holder.email}</strong>. This account is already a member, or the invitation
              was sent to another person.
            </p>
            ${this.signOutLink()}`,
        );
      return this.showDead(pageCall, status);
    }
    return this.sendPage(
      pageCall,
      200,
      `You are now a member of ${tenantName}`,
      html`<p>You have accepted the invitation.</p>
        ${this.whoIs(holder)}`,
    );
  }

  private personOf({ accountId, email, name }: AccountHolder): PersonOfIssuer {
    return { issuer: this.config.signInIssuer, subject: accountId, email, emailVerified: true, name };
  }

  // Responses

  private signInForm(pageCall: PageCall, faults: readonly FormFault[] = [], canCancel = false): Html {
    const email = pageCall.fields['email'];
    return form(
      pageCall.url.pathname,
      { form: this.formField(pageCall) },
      html`${field({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', ...(email !== undefined && { value: email }) }, faults)}
        ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, faults)}
        <button name="action" value="sign-in">Sign in</button>
        ${canCancel && html`<button class="second" name="action" value="cancel" formnovalidate>Cancel</button>`}`,
    );
  }

  private consentForm(pageCall: PageCall, clientName: string, { name, email }: AccountHolder): Html {
    return html`<p>
        You are signed in as <strong>${name}</strong> (${email}). Do you allow ${clientName} to use the management API
        on your behalf for one hour?
      </p>
      <p>Continue only if you started this sign-in yourself.</p>
      ${form(
        pageCall.url.pathname,
        { form: this.formField(pageCall) },
        html`<button name="action" value="continue">Continue</button>
          <button class="second" name="action" value="cancel">Cancel</button>`,
      )}
      ${this.signOutLink()}`;
  }

  private invitedForm(
    pageCall: PageCall,
    { token, tenantName, email, isNew }: { token: string; tenantName: string; email: string; isNew: boolean },
    faults: readonly FormFault[] = [],
  ): Html {
    const address = field({
      name: 'email',
      label: 'E-mail address',
      type: 'email',
      autocomplete: 'username',
      value: email,
      fixed: true,
    });
    const name = pageCall.fields['name'];
    const rest = isNew
      ? html`${field({ name: 'name', label: 'Your name', type: 'text', autocomplete: 'name', ...(name !== undefined && { value: name }) }, faults)}
          ${field(
            {
              name: 'password',
              label: 'Choose a password',
              type: 'password',
              autocomplete: 'new-password',
              hint: `At least ${MIN_PASSWORD} characters. Do not use a common password or a part of your e-mail address. A few words are easier to remember than symbols.`,
            },
            faults,
          )} <button name="action" value="sign-up">Create account and accept</button>`
      : html`${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, faults)}
          <button name="action" value="sign-in">Sign in and accept</button>`;
    return html`<p>
        You have been invited to become a member of <strong>${tenantName}</strong>.
        ${isNew ? 'Create an account to accept.' : 'Sign in to accept.'}
      </p>
      ${form(`${this.base}/invitation`, { form: this.formField(pageCall), token }, html`${address}${rest}`)}`;
  }

  private acceptForm(
    pageCall: PageCall,
    token: string,
    tenantName: string,
    { name, email }: AccountHolder,
    invited: string,
  ): Html {
    const isOther = email !== invited.toLowerCase();
    return html`<p>You have been invited to become a member of <strong>${tenantName}</strong>.</p>
      <p>You are signed in as <strong>${name}</strong> (${email}).</p>
      ${form(
        `${this.base}/invitation`,
        { form: this.formField(pageCall), token },
        html`<button name="action" value="accept">Accept as ${name}</button>`,
      )}
      ${isOther && html`<p><a href="${this.base}/invitation?${new URLSearchParams({ token, as: 'invited' }).toString()}">Accept as ${invited} instead</a></p>`}`;
  }

  private whoIs({ name, email }: AccountHolder): Html {
    return html`<p>You are signed in as <strong>${name}</strong> (${email}).</p>
      ${this.signOutLink()}`;
  }

  private signOutLink(): Html {
    return html`<p><a href="${this.base}/sign-out">Sign out</a></p>`;
  }

  private showDead(pageCall: PageCall, fate: DeadLink): void {
    const { title, text, status } = DEAD_LINKS[fate];
    this.sendPage(
      pageCall,
      status,
      title,
      html`<p>${text}</p>
        <p><a href="${this.base}/sign-in">Sign in</a></p>`,
    );
  }

  private showAgain(
    pageCall: PageCall,
    { faults, retryAfter, lockedEmail }: Refused,
    title: string,
    content: Html,
    leadsTo: readonly string[] = [],
  ): void {
    if (retryAfter !== undefined) pageCall.response.setHeader('retry-after', retryAfter);
    const shown = lockedEmail === undefined ? content : html`${content} ${this.deviceLinkForm(pageCall, lockedEmail)}`;
    this.sendPage(pageCall, retryAfter === undefined ? 400 : 429, title, shown, faults, leadsTo);
  }

  private deviceLinkForm(pageCall: PageCall, email: string): Html {
    return html`<h2>Is this your account?</h2>
      <p>
        You can still sign in with a browser that you have used before. To use this browser, send a link to the
        account’s e-mail address.
      </p>
      ${form(
        `${this.base}/browser`,
        { form: this.formField(pageCall), email },
        html`<button class="second" name="action" value="send">Send a link</button>`,
      )}`;
  }

  private sendPage(
    { request, response }: PageCall,
    status: number,
    title: string,
    content: Html,
    faults: readonly FormFault[] = [],
    leadsTo: readonly string[] = [],
  ): void {
    for (const [name, value] of Object.entries(pageHeaders(leadsTo))) response.setHeader(name, value);
    response.statusCode = status;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(request.method === 'HEAD' ? undefined : page(title, content, faults));
  }

  private formField({ request, response }: PageCall): string {
    return this.guard.fieldFor(request, response, this.isSecure);
  }

  private fail(response: ServerResponse, error: unknown, requestId: string): void {
    if (error instanceof AppError && error.kind === 'tooManyRequests' && !response.headersSent) {
      for (const [name, value] of Object.entries(error.headers ?? {})) response.setHeader(name, value);
      response.statusCode = 429;
      response.setHeader('content-type', 'text/html; charset=utf-8');
      return void response.end(page('Too many sign-ins', html`<p>${error.message}. Try again in a moment.</p>`));
    }
    const isAway = error instanceof AppError && error.kind === 'unavailable';
    this.logger.error(
      { requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      'sign-in page failed',
    );
    if (response.headersSent) return void response.destroy();
    response.statusCode = isAway ? 503 : 500;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(page('Something went wrong', html`<p>The error is on our side. Try again in a moment.</p>`));
  }
}
