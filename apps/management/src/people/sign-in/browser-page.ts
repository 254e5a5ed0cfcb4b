import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import { Accounts } from './accounts.js';
import { Attempts, remainingWait } from './attempts.js';
import { DeviceCookies } from './device-cookies.js';
import { DeviceLinks } from './device-links.js';
import { isPost, sendPage, type Page, type PageCall } from './page-call.js';
import { form, html } from './pages.js';
import { MAX_EMAIL } from './password-check.js';

/** Makes a browser known to an account by a link to its mailbox; the password is still needed. */
@Injectable()
export class BrowserPage implements Page {
  readonly path = /^\/browser$/;

  constructor(
    private readonly accounts: Accounts,
    private readonly attempts: Attempts,
    private readonly devices: DeviceCookies,
    private readonly deviceLinks: DeviceLinks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  answer(pageCall: PageCall): Promise<void> {
    if (!isPost(pageCall)) return this.showLink(pageCall);
    const { email } = pageCall.fields;
    return email === undefined ? this.useLink(pageCall) : this.sendLink(pageCall, email.slice(0, MAX_EMAIL));
  }

  private async showLink(pageCall: PageCall): Promise<void> {
    const token = pageCall.url.searchParams.get('token') ?? '';
    if ((await this.deviceLinks.accountOf(pageCall.store.records, token)) === undefined) return sendDead(pageCall);
    return sendPage(
      pageCall,
      200,
      'Sign in with this browser',
      html`<p>Continue only if you requested this link yourself.</p>
        ${form(
          `${pageCall.base}/browser`,
          { form: pageCall.formField(), token },
          html`<button name="action" value="use">Use this browser</button>`,
        )}`,
    );
  }

  private async useLink(pageCall: PageCall): Promise<void> {
    const account = await this.deviceLinks.spend(pageCall.store.records, pageCall.fields['token'] ?? '');
    if (account === undefined) return sendDead(pageCall);
    this.devices.addDevice(pageCall.request, pageCall.response, account, pageCall.isSecure);
    return sendPage(
      pageCall,
      200,
      'You can now sign in with this browser',
      html`<p>Failed attempts from other browsers no longer prevent you from signing in with this one.</p>
        <p><a href="${pageCall.base}/sign-in">Sign in</a></p>`,
    );
  }

  private async sendLink(pageCall: PageCall, email: string): Promise<void> {
    const { store, address, requestId, response } = pageCall;
    const account = this.accounts.macOf(email);
    const until = await this.attempts.beginLink(store.attempts, account, address);
    if (until) {
      const { retryAfter, wait } = remainingWait(until, this.clock.now());
      response.setHeader('retry-after', retryAfter);
      const faults = [{ text: `Too many links were requested. Try again in ${wait}.` }];
      return sendPage(pageCall, 429, 'Check your e-mail', html`<p>Use the link in the latest e-mail.</p>`, faults);
    }
    // In the background: the response time would reveal whether the account exists.
    void this.deviceLinks.send(store.records, email, account, requestId);
    return sendPage(
      pageCall,
      200,
      'Check your e-mail',
      html`<p>
        If there is an account with this address, a link is being sent to it. The link can be used once and expires
        after one hour.
      </p>`,
    );
  }
}

const sendDead = (pageCall: PageCall): void =>
  sendPage(
    pageCall,
    410,
    'This link is not valid',
    html`<p>A link can be used once and expires after one hour. Sign in again to request a new one.</p>
      <p><a href="${pageCall.base}/sign-in">Sign in</a></p>`,
  );
