import { expectStatus } from '@attestry/testing';
import { pageRow, type Row } from './row.js';
import { deferredRequest } from './things.js';

const decisionRow = (decision: 'approve' | 'deny'): Record<string, Row> => ({
  [`issuance.${decision}-deferred-issuance`]: {
    right: async ({ tenant, own }) => ({ params: { id: (await deferredRequest(tenant.api, own.approvedJwtVc)).id } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.deferral } }),
  },
});

export const deferralsRows: Record<string, Row> = {
  'issuance.issue-deferred-credential': {
    right: async (world) => {
      const { api } = world.tenant;
      const { id, token, transactionId } = await deferredRequest(api, world.own.approvedJwtVc);
      expectStatus(await api.deferred.approve(id), 204);
      return { token, body: { transaction_id: transactionId } };
    },
    wrong: () => ({ token: 'not-a-token', body: {} }),
    refusal: { status: 401, error: 'invalid_token' },
  },
  'issuance.list-deferred-issuances': pageRow,
  ...decisionRow('approve'),
  ...decisionRow('deny'),
};
