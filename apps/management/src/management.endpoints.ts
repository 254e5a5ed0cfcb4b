import {
  acceptInvitation,
  admitUser,
  cancelInvitation,
  createClient,
  createTenant,
  deleteClient,
  deleteMembership,
  deleteTenant,
  inviteMember,
  issueToken,
  listClients,
  listEnvironments,
  listInvitations,
  listMembers,
  listTenantEvents,
  listTenants,
  lookUpManagementClient,
  lookUpTenant,
  lookUpToken,
  resendInvitation,
  retrieveClient,
  retrieveMember,
  retrieveTenant,
  retrieveTokenKeys,
  retrieveUserInformation,
  revokeToken,
  rotateClientSecret,
  updateClient,
  updateMembership,
  updateTenant,
  updateUserInformation,
} from '@attestry/contracts';
import { command, query } from '@attestry/service-kit';
import { AcceptInvitation } from './accept-invitation/accept-invitation.js';
import { AdmitUser } from './admit-user/admit-user.js';
import { CancelInvitation } from './cancel-invitation/cancel-invitation.js';
import { CheckAdmin } from './check-admin/check-admin.js';
import { CreateClient } from './create-client/create-client.js';
import { CreateTenant } from './create-tenant/create-tenant.js';
import { DeleteClient } from './delete-client/delete-client.js';
import { DeleteMembership } from './delete-membership/delete-membership.js';
import { DeleteTenant } from './delete-tenant/delete-tenant.js';
import { InviteMember } from './invite-member/invite-member.js';
import { IssueToken } from './issue-token/issue-token.js';
import { ListClients } from './list-clients/list-clients.js';
import { ListEnvironments } from './list-environments/list-environments.js';
import { ListInvitations } from './list-invitations/list-invitations.js';
import { ListMembers } from './list-members/list-members.js';
import { ListTenantEvents } from './list-tenant-events/list-tenant-events.js';
import { ListTenants } from './list-tenants/list-tenants.js';
import { LookUpManagementClient } from './look-up-management-client/look-up-management-client.js';
import { LookUpTenant } from './look-up-tenant/look-up-tenant.js';
import { LookUpToken } from './look-up-token/look-up-token.js';
import { ResendInvitation } from './resend-invitation/resend-invitation.js';
import { RetrieveClient } from './retrieve-client/retrieve-client.js';
import { RetrieveMember } from './retrieve-member/retrieve-member.js';
import { RetrieveTenant } from './retrieve-tenant/retrieve-tenant.js';
import { RetrieveTokenKeys } from './retrieve-token-keys/retrieve-token-keys.js';
import { RetrieveUserInformation } from './retrieve-user-information/retrieve-user-information.js';
import { RevokeToken } from './revoke-token/revoke-token.js';
import { RotateClientSecret } from './rotate-client-secret/rotate-client-secret.js';
import { UpdateClient } from './update-client/update-client.js';
import { UpdateMembership } from './update-membership/update-membership.js';
import { UpdateTenant } from './update-tenant/update-tenant.js';
import { UpdateUserInformation } from './update-user-information/update-user-information.js';

export const managementEndpoints = [
  command(issueToken, IssueToken),
  command(revokeToken, RevokeToken),
  query(retrieveTokenKeys, RetrieveTokenKeys),
  query(listEnvironments, ListEnvironments),
  command(createTenant, CreateTenant),
  query(listTenants, ListTenants),
  query(retrieveTenant, RetrieveTenant),
  command(updateTenant, UpdateTenant),
  command(deleteTenant, DeleteTenant),
  command(createClient, CreateClient, { mayRepeat: CheckAdmin }),
  query(listClients, ListClients),
  query(retrieveClient, RetrieveClient),
  command(updateClient, UpdateClient),
  command(rotateClientSecret, RotateClientSecret, { mayRepeat: CheckAdmin }),
  command(deleteClient, DeleteClient),
  query(retrieveUserInformation, RetrieveUserInformation),
  command(updateUserInformation, UpdateUserInformation),
  command(inviteMember, InviteMember, { mayRepeat: CheckAdmin }),
  query(listInvitations, ListInvitations),
  command(resendInvitation, ResendInvitation),
  command(cancelInvitation, CancelInvitation),
  query(listMembers, ListMembers),
  query(retrieveMember, RetrieveMember),
  command(updateMembership, UpdateMembership),
  command(deleteMembership, DeleteMembership),
  command(acceptInvitation, AcceptInvitation),
  query(listTenantEvents, ListTenantEvents),
  query(lookUpTenant, LookUpTenant),
  query(lookUpToken, LookUpToken),
  query(lookUpManagementClient, LookUpManagementClient),
  command(admitUser, AdmitUser),
];
