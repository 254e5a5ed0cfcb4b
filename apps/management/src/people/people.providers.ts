import { InvitationLinksReadModel } from './invitation-links/invitation-links.read-model.js';
import { MailLimits } from './mail-limits/mail-limits.js';
import { DeferredInvitations } from './send-invitations/deferred-invitations.js';
import { InvitationMails } from './send-invitations/invitation-mails.js';
import { Mailer } from './send-invitations/mailer.js';
import { SendInvitations } from './send-invitations/send-invitations.js';
import { Accounts } from './sign-in/accounts.js';
import { Attempts } from './sign-in/attempts.js';
import { BrowserPage } from './sign-in/browser-page.js';
import { BrowserSessions } from './sign-in/browser-sessions.js';
import { BuiltInSignIn } from './sign-in/built-in-sign-in.js';
import { DeviceCookies } from './sign-in/device-cookies.js';
import { DeviceLinks } from './sign-in/device-links.js';
import { FormGuard } from './sign-in/form-guard.js';
import { InteractionPage } from './sign-in/interaction-page.js';
import { InvitationLookup } from './sign-in/invitation-lookup.js';
import { InvitationPage } from './sign-in/invitation-page.js';
import { PAGES, type Page } from './sign-in/page-call.js';
import { PasswordCheck } from './sign-in/password-check.js';
import { Passwords } from './sign-in/passwords.js';
import { SignInPage } from './sign-in/sign-in-page.js';
import { SignInProvider } from './sign-in/sign-in-provider.js';

const pages = [SignInPage, InteractionPage, BrowserPage, InvitationPage];

export const peopleProviders = [
  MailLimits,
  Mailer,
  DeferredInvitations,
  InvitationMails,
  SendInvitations,
  Passwords,
  Accounts,
  Attempts,
  DeviceCookies,
  DeviceLinks,
  FormGuard,
  InvitationLookup,
  BrowserSessions,
  PasswordCheck,
  SignInProvider,
  ...pages,
  { provide: PAGES, useFactory: (...all: Page[]) => all, inject: pages },
  BuiltInSignIn,
  InvitationLinksReadModel,
];
