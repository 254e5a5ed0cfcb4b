import { InvitationLinksReadModel } from './invitation-links/invitation-links.read-model.js';
import { MailLimits } from './mail-limits/mail-limits.js';
import { DeferredInvitations } from './send-invitations/deferred-invitations.js';
import { Mailer } from './send-invitations/mailer.js';
import { SendInvitations } from './send-invitations/send-invitations.js';
import { Accounts } from './sign-in/accounts.js';
import { Attempts } from './sign-in/attempts.js';
import { BuiltInSignIn } from './sign-in/built-in-sign-in.js';
import { DeviceCookies } from './sign-in/device-cookies.js';
import { DeviceLinks } from './sign-in/device-links.js';
import { FormGuard } from './sign-in/form-guard.js';
import { InvitationLookup } from './sign-in/invitation-lookup.js';
import { Passwords } from './sign-in/passwords.js';

export const peopleProviders = [
  MailLimits,
  Mailer,
  DeferredInvitations,
  SendInvitations,
  Passwords,
  Accounts,
  Attempts,
  DeviceCookies,
  DeviceLinks,
  FormGuard,
  InvitationLookup,
  BuiltInSignIn,
  InvitationLinksReadModel,
];
