import { Injectable } from '@nestjs/common';
import type { Provider } from 'oidc-provider';
import type { AccountHolder } from './accounts.js';
import { BrowserSessions, signOutLink } from './browser-sessions.js';
import { isPost, sendPage, type Page, type PageCall } from './page-call.js';
import { form, html, type Html } from './pages.js';
import { PasswordCheck } from './password-check.js';
import { originOf } from './provider.js';
import { isRefused, showAgain } from './refused-form.js';
import { signInForm } from './sign-in-page.js';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Signing in for an application: the page in the middle of an authorization request. */
@Injectable()
export class InteractionPage implements Page {
  readonly path = /^\/sign-in\/[A-Za-z0-9_-]{1,64}$/;

  constructor(
    private readonly sessions: BrowserSessions,
    private readonly passwords: PasswordCheck,
  ) {}

  async answer(pageCall: PageCall): Promise<void> {
    const { provider, request, response, fields } = pageCall;
    const details = await findInteraction(pageCall);
    if (!details)
      return sendPage(
        pageCall,
        410,
        'This sign-in has ended',
        html`<p>
          It was completed already, or it took too long. Start again from the application that you came from.
        </p>`,
      );
    const leadsTo = originOf(details.params['redirect_uri']);
    const client = await provider.Client.find(String(details.params['client_id']));
    const clientName = client?.clientName ?? 'an application';
    const known = details.prompt.name === 'consent' ? await this.sessions.signedIn(pageCall) : undefined;
    const action = isPost(pageCall) ? fields['action'] : undefined;
    if (action === 'cancel')
      return provider.interactionFinished(
        request,
        response,
        { error: 'access_denied' },
        { mergeWithLastSubmission: false },
      );
    if (known) {
      if (action === 'continue')
        return provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
      return sendPage(pageCall, 200, 'Continue?', consentForm(pageCall, clientName, known), [], leadsTo);
    }
    const title = `Sign in to continue to ${clientName}`;
    if (!isPost(pageCall)) return sendPage(pageCall, 200, title, signInForm(pageCall, [], true), [], leadsTo);
    const checked = await this.passwords.check(pageCall, fields['email'] ?? '');
    if (isRefused(checked))
      return showAgain(pageCall, checked, title, (faults) => signInForm(pageCall, faults, true), leadsTo);
    // Typing a password for this client is the consent.
    const result = { login: { accountId: checked.holder.accountId, amr: ['pwd'] }, consent: {} };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
}

/** `undefined` once the interaction has ended. */
const findInteraction = async ({ provider, request, response }: PageCall): Promise<Interaction | undefined> => {
  try {
    return await provider.interactionDetails(request, response);
  } catch (error) {
    if ((error as Error).name === 'SessionNotFound') return undefined;
    throw error;
  }
};

const consentForm = (pageCall: PageCall, clientName: string, { name, email }: AccountHolder): Html =>
  html`<p>
      You are signed in as <strong>${name}</strong> (${email}). Do you allow ${clientName} to use the management API on
      your behalf for one hour?
    </p>
    <p>Continue only if you started this sign-in yourself.</p>
    ${form(
      pageCall.url.pathname,
      { form: pageCall.formField() },
      html`<button name="action" value="continue">Continue</button>
        <button class="second" name="action" value="cancel">Cancel</button>`,
    )}
    ${signOutLink(pageCall)}`;
