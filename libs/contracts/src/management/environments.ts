import { defineOperation, managementAccess } from '../operation.js';
import { PageQuery } from '../pagination.js';

export class Region {
  id: string;
  /** Name in lower case, for example `local`. */
  name: string;
  displayName: string;
}

export class Environment {
  id: string;
  name: string;
  /** Domain of the tenants: each has the host `<subdomain>.<domain>`. */
  domain: string;
  /** Host of the token endpoint. */
  authorizationServerDomain: string;
  deploymentModel: string;
  region: Region;
}

export const listEnvironments = defineOperation({
  name: 'management.list-environments',
  summary: 'Retrieve the environments',
  http: { method: 'GET', path: '/v1/environments', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'ENVIRONMENT_RETRIEVE_LIST', category: 'environment' },
  query: PageQuery,
  response: [Environment],
  errorStatuses: [400],
});
