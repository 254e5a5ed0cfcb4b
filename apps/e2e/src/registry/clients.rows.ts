import { expectStatus } from '@attestry/testing';
import type { Row } from './row.js';
import { NO_SUCH, unique } from './things.js';

export const clientsRows: Record<string, Row> = {
  'management.create-client': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { name: 'second', roles: ['issuer'] } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { name: 'second', roles: ['emperor'] } }),
    refusal: { status: 400, param: 'roles', location: 'body' },
    foreign: () => ({ params: { tenantId: NO_SUCH }, body: { name: 'second', roles: ['issuer'] } }),
  },
  'management.list-clients': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 1001 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.retrieve-client': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, clientId: own.client } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, clientId: 'short' } }),
    refusal: { status: 400, param: 'clientId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, clientId: foreign.client } }),
  },
  'management.update-client': {
    right: ({ tenant, own }) => ({
      params: { tenantId: tenant.id, clientId: own.client },
      body: { name: unique('renamed '), roles: ['holder', 'auditor'] },
    }),
    wrong: ({ tenant, own }) => ({ params: { tenantId: tenant.id, clientId: own.client }, body: { name: 'one' } }),
    refusal: { status: 400, param: 'roles', location: 'body' },
    foreign: ({ tenant, foreign }) => ({
      params: { tenantId: tenant.id, clientId: foreign.client },
      body: { name: 'one', roles: ['holder'] },
    }),
  },
  'management.rotate-client-secret': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, clientId: own.client }, body: {} }),
    wrong: ({ tenant, own }) => ({
      params: { tenantId: tenant.id, clientId: own.client },
      body: { overlapSeconds: 604_801 },
    }),
    refusal: { status: 400, param: 'overlapSeconds', location: 'body' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, clientId: foreign.client }, body: {} }),
  },
  'management.delete-client': {
    right: async ({ management, tenant }) => {
      const client = expectStatus(await management.clients.create(tenant.id, { name: 'x', roles: ['auditor'] }), 201);
      return { params: { tenantId: tenant.id, clientId: client.clientId } };
    },
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, clientId: 'short' } }),
    refusal: { status: 400, param: 'clientId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, clientId: foreign.client } }),
  },
};
