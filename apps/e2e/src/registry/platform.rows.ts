import { pageRow, publicDocument, type Row } from './row.js';

export const platformRows: Record<string, Row> = {
  'management.issue-token': {
    right: ({ tenant }) => ({
      body: {
        client_id: tenant.admin.clientId,
        client_secret: tenant.admin.clientSecret,
        audience: tenant.url,
        grant_type: 'client_credentials',
      },
    }),
    wrong: ({ tenant }) => ({ body: { client_id: tenant.admin.clientId, grant_type: 'client_credentials' } }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'management.revoke-token': {
    right: ({ tenant }) => ({
      body: new URLSearchParams({
        token: 'not.a.token',
        client_id: tenant.admin.clientId,
        client_secret: tenant.admin.clientSecret,
      }),
    }),
    wrong: ({ tenant }) => ({ body: new URLSearchParams({ client_id: tenant.admin.clientId }) }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'management.retrieve-token-keys': publicDocument,
  'management.list-environments': pageRow,
};
