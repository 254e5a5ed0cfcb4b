import { Injectable } from '@nestjs/common';
import { acceptInvitation, AppError } from '@attestry/contracts';
import { PlatformConfig, type PersonOfIssuer } from '@attestry/service-kit';
import { accountNameFault, MIN_PASSWORD, passwordFault } from '../account/account.decisions.js';
import { Accounts, isTaken, type AccountHolder } from './accounts.js';
import { BrowserSessions, signOutLink, whoIs } from './browser-sessions.js';
import { commonPasswords } from './common-passwords.js';
import { DeviceCookies } from './device-cookies.js';
import { InvitationLookup, type DeadLink } from './invitation-lookup.js';
import { isPost, sendPage, type Page, type PageCall } from './page-call.js';
import { field, form, html, type FormFault, type Html } from './pages.js';
import { PasswordCheck, type CheckedPassword } from './password-check.js';
import { isRefused, showAgain } from './refused-form.js';
import { DEAD_LINKS } from './sign-in-texts.js';

/** An invitation that is open, and the link's token. */
interface Invited {
  token: string;
  tenantName: string;
  /** Address that the invitation was sent to. */
  email: string;
}

/** Accepting an invitation, with an account or a new one. */
@Injectable()
export class InvitationPage implements Page {
  readonly path = /^\/invitation$/;

  constructor(
    private readonly config: PlatformConfig,
    private readonly accounts: Accounts,
    private readonly devices: DeviceCookies,
    private readonly links: InvitationLookup,
    private readonly sessions: BrowserSessions,
    private readonly passwords: PasswordCheck,
  ) {}

  async answer(pageCall: PageCall): Promise<void> {
    const { fields, url } = pageCall;
    const token = (isPost(pageCall) ? fields['token'] : url.searchParams.get('token')) ?? '';
    const link = await this.links.findInvitation(token);
    if (link.status !== 'open') return sendDead(pageCall, link.status);
    const invited: Invited = { token, tenantName: link.tenantName, email: link.email };
    const title = `Join ${invited.tenantName}`;
    const known = await this.sessions.signedIn(pageCall);
    const isAccepted = isPost(pageCall) && fields['action'] === 'accept';
    if (isAccepted && known) return this.accept(pageCall, known, invited);
    if (!isPost(pageCall) && known && url.searchParams.get('as') !== 'invited')
      return sendPage(pageCall, 200, title, acceptForm(pageCall, invited, known));

    const isNew = !(await this.accounts.exists(invited.email));
    if (!isPost(pageCall) || isAccepted)
      return sendPage(pageCall, 200, title, invitedForm(pageCall, invited, isNew, []));
    const checked = isNew
      ? await this.signUp(pageCall, invited.email)
      : await this.passwords.check(pageCall, invited.email, token);
    if (isRefused(checked))
      return showAgain(pageCall, checked, title, (faults) => invitedForm(pageCall, invited, isNew, faults));
    await this.sessions.begin(pageCall, checked.holder);
    return this.accept(pageCall, checked.holder, invited);
  }

  /** Only with a link: its holder can read the mailbox, which proves the address. */
  private async signUp(pageCall: PageCall, email: string): Promise<CheckedPassword> {
    const { fields, requestId, request, response, address, isSecure } = pageCall;
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
      const holder = await this.accounts.createAccount({ email, name, password }, requestId, `address ${address}`);
      this.devices.addDevice(request, response, this.accounts.macOf(email), isSecure);
      return { holder };
    } catch (error) {
      if (!isTaken(error)) throw error;
      return { faults: [{ text: 'The account was created a moment ago. Open the link again and sign in.' }] };
    }
  }

  private async accept(pageCall: PageCall, holder: AccountHolder, { token, tenantName }: Invited): Promise<void> {
    try {
      await pageCall.call(this.personOf(holder), acceptInvitation, { token });
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'invalid') throw error;
      const { status } = await this.links.findInvitation(token);
      // Valid, but not for this person.
      if (status === 'open') return sendNotForYou(pageCall, holder);
      return sendDead(pageCall, status);
    }
    return sendPage(
      pageCall,
      200,
      `You are now a member of ${tenantName}`,
      html`<p>You have accepted the invitation.</p>
        ${whoIs(pageCall, holder)}`,
    );
  }

  private personOf({ accountId, email, name }: AccountHolder): PersonOfIssuer {
    return { issuer: this.config.signInIssuer, subject: accountId, email, emailVerified: true, name };
  }
}

const invitedForm = (
  pageCall: PageCall,
  { token, tenantName, email }: Invited,
  isNew: boolean,
  faults: readonly FormFault[],
): Html => {
  const address = field({
    name: 'email',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'username',
    value: email,
    fixed: true,
  });
  const { name } = pageCall.fields;
  const rest = isNew
    ? html`${field({ name: 'name', label: 'Your name', type: 'text', autocomplete: 'name', value: name }, faults)}
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
    ${form(invitationPath(pageCall), { form: pageCall.formField(), token }, html`${address}${rest}`)}`;
};

const acceptForm = (
  pageCall: PageCall,
  { token, tenantName, email: invited }: Invited,
  { name, email }: AccountHolder,
): Html => {
  const isOther = email !== invited.toLowerCase();
  const asInvited = new URLSearchParams({ token, as: 'invited' }).toString();
  return html`<p>You have been invited to become a member of <strong>${tenantName}</strong>.</p>
    <p>You are signed in as <strong>${name}</strong> (${email}).</p>
    ${form(
      invitationPath(pageCall),
      { form: pageCall.formField(), token },
      html`<button name="action" value="accept">Accept as ${name}</button>`,
    )}
    ${isOther && html`<p><a href="${invitationPath(pageCall)}?${asInvited}">Accept as ${invited} instead</a></p>`}`;
};

const invitationPath = ({ base }: PageCall): string => `${base}/invitation`;

const sendNotForYou = (pageCall: PageCall, { email }: AccountHolder): void =>
  sendPage(
    pageCall,
    409,
    'You cannot accept this invitation',
    html`<p>
        You are signed in as <strong>${email}</strong>. This account is already a member, or the invitation was sent to
        another person.
      </p>
      ${signOutLink(pageCall)}`,
  );

const sendDead = (pageCall: PageCall, fate: DeadLink): void => {
  const { title, text, status } = DEAD_LINKS[fate];
  sendPage(
    pageCall,
    status,
    title,
    html`<p>${text}</p>
      <p><a href="${pageCall.base}/sign-in">Sign in</a></p>`,
  );
};
