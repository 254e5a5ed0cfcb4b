import {
  createClient,
  createTenant,
  deleteClient,
  deleteTenant,
  issueToken,
  listClients,
  listEnvironments,
  listTenants,
  lookUpManagementClient,
  lookUpTenant,
  retrieveTenant,
  retrieveTokenKeys,
} from '@attestry/contracts';
import { command, query } from '@attestry/service-kit';
import { CreateClient } from './create-client/create-client.js';
import { CreateTenant } from './create-tenant/create-tenant.js';
import { DeleteClient } from './delete-client/delete-client.js';
import { DeleteTenant } from './delete-tenant/delete-tenant.js';
import { IssueToken } from './issue-token/issue-token.js';
import { ListClients } from './list-clients/list-clients.js';
import { ListEnvironments } from './list-environments/list-environments.js';
import { ListTenants } from './list-tenants/list-tenants.js';
import { LookUpManagementClient } from './look-up-management-client/look-up-management-client.js';
import { LookUpTenant } from './look-up-tenant/look-up-tenant.js';
import { RetrieveTenant } from './retrieve-tenant/retrieve-tenant.js';
import { RetrieveTokenKeys } from './retrieve-token-keys/retrieve-token-keys.js';

export const managementEndpoints = [
  command(issueToken, IssueToken),
  query(retrieveTokenKeys, RetrieveTokenKeys),
  query(listEnvironments, ListEnvironments),
  command(createTenant, CreateTenant),
  query(listTenants, ListTenants),
  query(retrieveTenant, RetrieveTenant),
  command(deleteTenant, DeleteTenant),
  command(createClient, CreateClient),
  query(listClients, ListClients),
  command(deleteClient, DeleteClient),
  query(lookUpTenant, LookUpTenant),
  query(lookUpManagementClient, LookUpManagementClient),
];
