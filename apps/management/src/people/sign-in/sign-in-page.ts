import { Injectable } from '@nestjs/common';
import { BrowserSessions, whoIs } from './browser-sessions.js';
import { isPost, sendPage, type Page, type PageCall } from './page-call.js';
import { field, form, html, type FormFault, type Html } from './pages.js';
import { PasswordCheck } from './password-check.js';
import { isRefused, showAgain } from './refused-form.js';

/** Signing in without an application. */
@Injectable()
export class SignInPage implements Page {
  readonly path = /^(\/sign-in|\/?)$/;

  constructor(
    private readonly sessions: BrowserSessions,
    private readonly passwords: PasswordCheck,
  ) {}

  async answer(pageCall: PageCall): Promise<void> {
    if (!isPost(pageCall)) {
      const known = await this.sessions.signedIn(pageCall);
      if (known) return sendPage(pageCall, 200, 'You are signed in', whoIs(pageCall, known));
      return sendPage(pageCall, 200, 'Sign in', signInForm(pageCall));
    }
    const checked = await this.passwords.check(pageCall, pageCall.fields['email'] ?? '');
    if (isRefused(checked)) return showAgain(pageCall, checked, 'Sign in', (faults) => signInForm(pageCall, faults));
    await this.sessions.begin(pageCall, checked.holder);
    return sendPage(pageCall, 200, 'You are signed in', whoIs(pageCall, checked.holder));
  }
}

export const signInForm = (pageCall: PageCall, faults: readonly FormFault[] = [], canCancel = false): Html => {
  const email = pageCall.fields['email'];
  return form(
    pageCall.url.pathname,
    { form: pageCall.formField() },
    html`${field({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', value: email }, faults)}
      ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, faults)}
      <button name="action" value="sign-in">Sign in</button>
      ${canCancel && html`<button class="second" name="action" value="cancel" formnovalidate>Cancel</button>`}`,
  );
};
