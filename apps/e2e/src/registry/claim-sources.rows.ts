import { expectStatus } from '@attestry/testing';
import { malformedId, pageRow, type Row } from './row.js';
import { claimSourceRequest } from './things.js';

export const claimSourcesRows: Record<string, Row> = {
  'issuance.create-claim-source': {
    right: () => ({ body: claimSourceRequest() }),
    wrong: () => ({ body: { ...claimSourceRequest(), url: 'x' } }),
    refusal: { status: 400, param: 'url', location: 'body' },
  },
  'issuance.list-claim-sources': pageRow,
  'issuance.retrieve-claim-source': {
    right: ({ own }) => ({ params: { id: own.claimSource } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.claimSource } }),
  },
  'issuance.update-claim-source': {
    right: ({ own }) => ({ params: { id: own.claimSource }, body: claimSourceRequest() }),
    wrong: ({ own }) => ({ params: { id: own.claimSource }, body: { ...claimSourceRequest(), requestMethod: 'PUT' } }),
    refusal: { status: 400, param: 'requestMethod', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.claimSource }, body: claimSourceRequest() }),
  },
  'issuance.delete-claim-source': {
    right: async ({ tenant: { api } }) => ({
      params: { id: expectStatus(await api.claimSources.create(claimSourceRequest()), 201).id },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.claimSource } }),
  },
};
