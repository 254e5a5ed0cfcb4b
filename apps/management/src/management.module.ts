import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AcceptInvitationHandler } from './accept-invitation/accept-invitation.js';
import { AdmitUserHandler } from './admit-user/admit-user.js';
import { CreateClientHandler } from './create-client/create-client.js';
import { CreateTenantHandler } from './create-tenant/create-tenant.js';
import { DeleteClientHandler } from './delete-client/delete-client.js';
import { DeleteMembershipHandler } from './delete-membership/delete-membership.js';
import { DeleteTenantHandler } from './delete-tenant/delete-tenant.js';
import { TenantDirectory } from './directory/tenant-directory.js';
import { InviteMemberHandler } from './invite-member/invite-member.js';
import { IssueTokenHandler } from './issue-token/issue-token.js';
import { TokenKeys } from './issue-token/token-keys.js';
import { ListClientsHandler } from './list-clients/list-clients.js';
import { ListEnvironmentsHandler } from './list-environments/list-environments.js';
import { ListMembersHandler } from './list-members/list-members.js';
import { ListTenantsHandler } from './list-tenants/list-tenants.js';
import { LookUpManagementClientHandler } from './look-up-management-client/look-up-management-client.js';
import { LookUpTenantHandler } from './look-up-tenant/look-up-tenant.js';
import { ManagementReactions } from './management.reactions.js';
import { People } from './people/people.js';
import { FirstManagementClient } from './register-management-client/first-management-client.js';
import { ManagementClientInbox } from './register-management-client/management-client-inbox.js';
import { RetrieveMemberHandler } from './retrieve-member/retrieve-member.js';
import { RetrieveTenantHandler } from './retrieve-tenant/retrieve-tenant.js';
import { RetrieveTokenKeysHandler } from './retrieve-token-keys/retrieve-token-keys.js';
import { RetrieveUserInformationHandler } from './retrieve-user-information/retrieve-user-information.js';
import { Mailer } from './send-invitations/mailer.js';
import { SendInvitations } from './send-invitations/send-invitations.js';
import { Accounts } from './sign-in/accounts.js';
import { Attempts } from './sign-in/attempts.js';
import { BuiltInSignIn } from './sign-in/built-in-sign-in.js';
import { FormGuard } from './sign-in/form-guard.js';
import { InvitationLinks } from './sign-in/invitation-links.js';
import { Passwords } from './sign-in/passwords.js';
import { TenantListsReadModel } from './tenant-lists/tenant-lists.read-model.js';
import { UpdateMembershipHandler } from './update-membership/update-membership.js';
import { UpdateUserInformationHandler } from './update-user-information/update-user-information.js';

@Module({
  imports: [CqrsModule],
  providers: [
    // tokens
    TokenKeys,
    IssueTokenHandler,
    RetrieveTokenKeysHandler,
    // environments and tenants
    TenantDirectory,
    ListEnvironmentsHandler,
    CreateTenantHandler,
    ListTenantsHandler,
    RetrieveTenantHandler,
    DeleteTenantHandler,
    // clients of tenants
    CreateClientHandler,
    ListClientsHandler,
    DeleteClientHandler,
    // people and members of tenants
    People,
    RetrieveUserInformationHandler,
    UpdateUserInformationHandler,
    InviteMemberHandler,
    ListMembersHandler,
    RetrieveMemberHandler,
    UpdateMembershipHandler,
    DeleteMembershipHandler,
    AcceptInvitationHandler,
    Mailer,
    SendInvitations,
    // the built-in sign-in
    Passwords,
    Accounts,
    Attempts,
    FormGuard,
    InvitationLinks,
    BuiltInSignIn,
    // what the gateway asks
    AdmitUserHandler,
    LookUpTenantHandler,
    LookUpManagementClientHandler,
    // management clients
    FirstManagementClient,
    ManagementClientInbox,
    // lists and reactions
    TenantListsReadModel,
    ManagementReactions,
  ],
})
export class ManagementModule {}
