import { randomUUID } from 'node:crypto';
import { expectStatus } from '@attestry/testing';
import { pageRow, publicDocument, type Row } from './row.js';

export const didsRows: Record<string, Row> = {
  'dids.create-did': {
    right: () => ({ body: { method: 'key', options: { keyType: 'P-256' } } }),
    wrong: () => ({ body: { method: 'ion', options: { keyType: 'Ed25519' } } }),
    refusal: { status: 400, param: 'method', location: 'body' },
  },
  'dids.list-dids': pageRow,
  'dids.retrieve-did': {
    right: ({ own }) => ({ params: { id: own.did } }),
    wrong: () => ({ params: { id: 'did' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    // Its did:key would resolve, as any does; this one is published nowhere.
    foreign: ({ foreign }) => ({ params: { id: foreign.unpublished } }),
  },
  'dids.update-did-document': {
    right: async ({ tenant }) => {
      const url = `${tenant.host}/updated/${randomUUID()}`;
      const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url } }), 201);
      return { params: { id: did } };
    },
    wrong: () => ({ params: { id: 'did' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.did } }),
  },
  'dids.delete-did': {
    right: async ({ tenant }) => ({
      params: {
        id: expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201).did,
      },
    }),
    wrong: () => ({ params: { id: 'did' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.did } }),
  },
  'dids.retrieve-did-document': {
    right: async ({ tenant }) => {
      const created = await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } });
      // Only the first of all calls creates it.
      if (created.status !== 400) expectStatus(created, 201);
      return {};
    },
    wrong: () => ({ path: '/nobody/did.json' }),
    refusal: { status: 404 },
  },
  'dids.retrieve-did-configuration': publicDocument,
};
