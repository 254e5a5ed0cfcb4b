import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { TenantDirectory } from './directory/tenant-directory.js';
import { InvitationLinksReadModel } from './invitation-links/invitation-links.read-model.js';
import { TokenKeys } from './token-keys/token-keys.js';
import { MailLimits } from './mail-limits/mail-limits.js';
import { ManagementReactions } from './management.reactions.js';
import { PurgeTenants } from './purge-tenants/purge-tenants.js';
import { ReplayedPurges } from './purge-tenants/replayed-purges.js';
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
import { TenantChanges } from './tenant-changes/tenant-changes.js';
import { TenantListsReadModel } from './tenant-lists/tenant-lists.read-model.js';
import { usersProviders } from './users/users.providers.js';
import { platformProviders } from './platform/platform.providers.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    ...usersProviders,
    ...platformProviders,
    // tokens
    TokenKeys,
    KeepTokenKeysFresh,
    // environments and tenants
    TenantDirectory,
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
    TenantListsReadModel,
    TenantChanges,
    InvitationLinksReadModel,
    ManagementReactions,
    PurgeTenants,
    ReplayedPurges,
  ],
})
export class ManagementModule {}
