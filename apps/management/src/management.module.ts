import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { AcceptInvitation } from './accept-invitation/accept-invitation.js';
import { AdmitUser } from './admit-user/admit-user.js';
import { CancelInvitation } from './cancel-invitation/cancel-invitation.js';
import { CreateClient } from './create-client/create-client.js';
import { CreateTenant } from './create-tenant/create-tenant.js';
import { DeleteClient } from './delete-client/delete-client.js';
import { DeleteMembership } from './delete-membership/delete-membership.js';
import { DeleteTenant } from './delete-tenant/delete-tenant.js';
import { TenantDirectory } from './directory/tenant-directory.js';
import { InvitationLinksReadModel } from './invitation-links/invitation-links.read-model.js';
import { InviteMember } from './invite-member/invite-member.js';
import { ClientAuthentication } from './client-credentials/client-authentication.js';
import { IssueToken } from './issue-token/issue-token.js';
import { TokenKeys } from './token-keys/token-keys.js';
import { ListClients } from './list-clients/list-clients.js';
import { ListEnvironments } from './list-environments/list-environments.js';
import { ListInvitations } from './list-invitations/list-invitations.js';
import { ListMembers } from './list-members/list-members.js';
import { ListTenantEvents } from './list-tenant-events/list-tenant-events.js';
import { ListTenants } from './list-tenants/list-tenants.js';
import { LookUpManagementClient } from './look-up-management-client/look-up-management-client.js';
import { LookUpTenant } from './look-up-tenant/look-up-tenant.js';
import { LookUpToken } from './look-up-token/look-up-token.js';
import { MailLimits } from './mail-limits/mail-limits.js';
import { ManagementReactions } from './management.reactions.js';
import { People } from './people/people.js';
import { PurgeTenants } from './purge-tenants/purge-tenants.js';
import { ReplayedPurges } from './purge-tenants/replayed-purges.js';
import { FirstManagementClient } from './register-management-client/first-management-client.js';
import { ManagementClientInbox } from './register-management-client/management-client-inbox.js';
import { ResendInvitation } from './resend-invitation/resend-invitation.js';
import { RetrieveClient } from './retrieve-client/retrieve-client.js';
import { RetrieveMember } from './retrieve-member/retrieve-member.js';
import { RetrieveTenant } from './retrieve-tenant/retrieve-tenant.js';
import { RetrieveTokenKeys } from './retrieve-token-keys/retrieve-token-keys.js';
import { RetrieveUserInformation } from './retrieve-user-information/retrieve-user-information.js';
import { RevokeToken } from './revoke-token/revoke-token.js';
import { RotateClientSecret } from './rotate-client-secret/rotate-client-secret.js';
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
import { TenantListsReadModel } from './tenant-lists/tenant-lists.read-model.js';
import { UpdateClient } from './update-client/update-client.js';
import { UpdateMembership } from './update-membership/update-membership.js';
import { UpdateTenant } from './update-tenant/update-tenant.js';
import { UpdateUserInformation } from './update-user-information/update-user-information.js';

@Module({
  providers: [
    // tokens
    TokenKeys,
    KeepTokenKeysFresh,
    ClientAuthentication,
    IssueToken,
    RevokeToken,
    RetrieveTokenKeys,
    // environments and tenants
    TenantDirectory,
    ListEnvironments,
    CreateTenant,
    ListTenants,
    RetrieveTenant,
    UpdateTenant,
    DeleteTenant,
    ListTenantEvents,
    // clients of tenants
    CreateClient,
    ListClients,
    RetrieveClient,
    UpdateClient,
    RotateClientSecret,
    DeleteClient,
    // people and members of tenants
    People,
    RetrieveUserInformation,
    UpdateUserInformation,
    InviteMember,
    ListInvitations,
    ResendInvitation,
    CancelInvitation,
    ListMembers,
    RetrieveMember,
    UpdateMembership,
    DeleteMembership,
    AcceptInvitation,
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
    // called by the gateway
    AdmitUser,
    LookUpTenant,
    LookUpToken,
    LookUpManagementClient,
    // management clients
    FirstManagementClient,
    ManagementClientInbox,
    // lists and reactions
    TenantListsReadModel,
    InvitationLinksReadModel,
    ManagementReactions,
    PurgeTenants,
    ReplayedPurges,
  ],
})
export class ManagementModule {}
