import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Budgets } from '@attestry/service-kit';
import { AcceptInvitationHandler } from './accept-invitation/accept-invitation.js';
import { AdmitUserHandler } from './admit-user/admit-user.js';
import { CancelInvitationHandler } from './cancel-invitation/cancel-invitation.js';
import { CheckAdminHandler } from './check-admin/check-admin.js';
import { CreateClientHandler } from './create-client/create-client.js';
import { CreateTenantHandler } from './create-tenant/create-tenant.js';
import { DeleteClientHandler } from './delete-client/delete-client.js';
import { DeleteMembershipHandler } from './delete-membership/delete-membership.js';
import { DeleteTenantHandler } from './delete-tenant/delete-tenant.js';
import { TenantDirectory } from './directory/tenant-directory.js';
import { InvitationLinksReadModel } from './invitation-links/invitation-links.read-model.js';
import { InviteMemberHandler } from './invite-member/invite-member.js';
import { ClientAuthentication } from './issue-token/client-authentication.js';
import { IssueTokenHandler } from './issue-token/issue-token.js';
import { TokenKeys } from './issue-token/token-keys.js';
import { ListClientsHandler } from './list-clients/list-clients.js';
import { ListEnvironmentsHandler } from './list-environments/list-environments.js';
import { ListInvitationsHandler } from './list-invitations/list-invitations.js';
import { ListMembersHandler } from './list-members/list-members.js';
import { ListTenantEventsHandler } from './list-tenant-events/list-tenant-events.js';
import { ListTenantsHandler } from './list-tenants/list-tenants.js';
import { LookUpManagementClientHandler } from './look-up-management-client/look-up-management-client.js';
import { LookUpTenantHandler } from './look-up-tenant/look-up-tenant.js';
import { LookUpTokenHandler } from './look-up-token/look-up-token.js';
import { MailLimits } from './mail-limits/mail-limits.js';
import { ManagementReactions } from './management.reactions.js';
import { People } from './people/people.js';
import { PurgeTenants } from './purge-tenants/purge-tenants.js';
import { ReplayedPurges } from './purge-tenants/replayed-purges.js';
import { FirstManagementClient } from './register-management-client/first-management-client.js';
import { ManagementClientInbox } from './register-management-client/management-client-inbox.js';
import { ResendInvitationHandler } from './resend-invitation/resend-invitation.js';
import { RetrieveClientHandler } from './retrieve-client/retrieve-client.js';
import { RetrieveMemberHandler } from './retrieve-member/retrieve-member.js';
import { RetrieveTenantHandler } from './retrieve-tenant/retrieve-tenant.js';
import { RetrieveTokenKeysHandler } from './retrieve-token-keys/retrieve-token-keys.js';
import { RetrieveUserInformationHandler } from './retrieve-user-information/retrieve-user-information.js';
import { RevokeTokenHandler } from './revoke-token/revoke-token.js';
import { RotateClientSecretHandler } from './rotate-client-secret/rotate-client-secret.js';
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
import { InvitationLinks } from './sign-in/invitation-links.js';
import { Passwords } from './sign-in/passwords.js';
import { TenantListsReadModel } from './tenant-lists/tenant-lists.read-model.js';
import { UpdateClientHandler } from './update-client/update-client.js';
import { UpdateMembershipHandler } from './update-membership/update-membership.js';
import { UpdateTenantHandler } from './update-tenant/update-tenant.js';
import { UpdateUserInformationHandler } from './update-user-information/update-user-information.js';

@Module({
  imports: [CqrsModule],
  providers: [
    // tokens
    TokenKeys,
    KeepTokenKeysFresh,
    ClientAuthentication,
    IssueTokenHandler,
    RevokeTokenHandler,
    RetrieveTokenKeysHandler,
    // environments and tenants
    TenantDirectory,
    ListEnvironmentsHandler,
    CreateTenantHandler,
    ListTenantsHandler,
    RetrieveTenantHandler,
    UpdateTenantHandler,
    DeleteTenantHandler,
    ListTenantEventsHandler,
    // clients of tenants
    CreateClientHandler,
    CheckAdminHandler,
    ListClientsHandler,
    RetrieveClientHandler,
    UpdateClientHandler,
    RotateClientSecretHandler,
    DeleteClientHandler,
    // people and members of tenants
    People,
    RetrieveUserInformationHandler,
    UpdateUserInformationHandler,
    InviteMemberHandler,
    ListInvitationsHandler,
    ResendInvitationHandler,
    CancelInvitationHandler,
    ListMembersHandler,
    RetrieveMemberHandler,
    UpdateMembershipHandler,
    DeleteMembershipHandler,
    AcceptInvitationHandler,
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
    InvitationLinks,
    BuiltInSignIn,
    // what the gateway asks
    AdmitUserHandler,
    LookUpTenantHandler,
    LookUpTokenHandler,
    LookUpManagementClientHandler,
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
