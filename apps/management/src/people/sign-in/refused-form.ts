import type { CheckedPassword, Refused } from './password-check.js';
import { sendPage, type PageCall } from './page-call.js';
import { form, html, type FormFault, type Html } from './pages.js';

export const isRefused = (checked: CheckedPassword): checked is Refused => 'faults' in checked;

/** Shows a form again, with the faults of what was sent, and an offer of a link where unknown browsers are locked out. */
export const showAgain = (
  pageCall: PageCall,
  { faults, retryAfter, lockedEmail }: Refused,
  title: string,
  formWith: (faults: readonly FormFault[]) => Html,
  leadsTo: readonly string[] = [],
): void => {
  if (retryAfter !== undefined) pageCall.response.setHeader('retry-after', retryAfter);
  const content = formWith(faults);
  const shown = lockedEmail === undefined ? content : html`${content} ${deviceLinkForm(pageCall, lockedEmail)}`;
  sendPage(pageCall, retryAfter === undefined ? 400 : 429, title, shown, faults, leadsTo);
};

const deviceLinkForm = (pageCall: PageCall, email: string): Html =>
  html`<h2>Is this your account?</h2>
    <p>
      You can still sign in with a browser that you have used before. To use this browser, send a link to the account’s
      e-mail address.
    </p>
    ${form(
      `${pageCall.base}/browser`,
      { form: pageCall.formField(), email },
      html`<button class="second" name="action" value="send">Send a link</button>`,
    )}`;
