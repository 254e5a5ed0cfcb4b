import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { InvitationLinksReadModel } from './invitation-links/invitation-links.read-model.js';
import { TokenKeys } from './token-keys/token-keys.js';
import { MailLimits } from './mail-limits/mail-limits.js';
import { ManagementReactions } from './management.reactions.js';
import { KeepTokenKeysFresh } from './rotate-token-keys/keep-token-keys-fresh.js';
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
import { usersProviders } from './users/users.providers.js';
import { platformProviders } from './platform/platform.providers.js';
import { tenantsProviders } from './tenants/tenants.providers.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    ...usersProviders,
    ...platformProviders,
    ...tenantsProviders,
    // tokens
    TokenKeys,
    KeepTokenKeysFresh,
    // people and members of tenants
    Budgets,
    MailLimits,
    Mailer,
    DeferredInvitations,
    SendInvitations,
    // the built-in sign-in
    Passwords,
    Accounts,
    Attempts,
    DeviceCookies,
    DeviceLinks,
    FormGuard,
    InvitationLookup,
    BuiltInSignIn,
    // lists and reactions
    InvitationLinksReadModel,
    ManagementReactions,
  ],
})
export class ManagementModule {}
