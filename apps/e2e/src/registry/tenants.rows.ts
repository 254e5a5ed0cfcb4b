import { expectStatus } from '@attestry/testing';
import { pageRow, type Row } from './row.js';
import { NO_SUCH, unique } from './things.js';

export const tenantsRows: Record<string, Row> = {
  'management.create-tenant': {
    right: ({ environmentId }) => ({ body: { subdomain: unique('fresh-'), environmentId } }),
    wrong: ({ environmentId }) => ({ body: { subdomain: 'No_Good', environmentId } }),
    refusal: { status: 400, param: 'subdomain', location: 'body' },
  },
  'management.list-tenants': pageRow,
  'management.retrieve-tenant': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id } }),
    wrong: () => ({ params: { tenantId: '42' } }),
    refusal: { status: 400, param: 'tenantId', location: 'params' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.update-tenant': {
    right: ({ tenant }) => ({
      params: { tenantId: tenant.id },
      body: { name: unique('Acme '), restrictIdentityRoles: false },
    }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { name: '' } }),
    refusal: { status: 400, param: 'name', location: 'body' },
    foreign: () => ({ params: { tenantId: NO_SUCH }, body: { name: 'mine' } }),
  },
  'management.list-tenant-events': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { dateFrom: 'yesterday' } }),
    refusal: { status: 400, param: 'dateFrom', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.delete-tenant': {
    right: async ({ management, environmentId }) => ({
      params: {
        tenantId: expectStatus(await management.tenants.create({ subdomain: unique('short-'), environmentId }), 201).id,
      },
    }),
    wrong: () => ({ params: { tenantId: '42' } }),
    refusal: { status: 400, param: 'tenantId', location: 'params' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
};
