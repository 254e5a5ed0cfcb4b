import { expectStatus, waitUntil } from '@attestry/testing';
import { publicDocument, type Row } from './row.js';
import { verifyDomain } from './tenant-settings.rows.js';

export const metadataRows: Record<string, Row> = {
  'issuance.retrieve-issuer-metadata': {
    ...publicDocument,
    right: async (world) => {
      await verifyDomain(world);
      const isBranded = async () => 'display' in expectStatus(await world.tenant.api.metadata(), 200);
      await waitUntil(isBranded, { what: 'the name of the domain in the metadata' });
      return {};
    },
  },
  'issuance.retrieve-authorization-server-metadata': publicDocument,
  'issuance.retrieve-oauth-keys': publicDocument,
  'issuance.retrieve-jwt-vc-issuer': publicDocument,
  'issuance.retrieve-issuer-ca': publicDocument,
  'issuance.retrieve-type-metadata': {
    right: async ({ tenant, own }) => {
      const { type } = expectStatus(await tenant.api.sdJwt.retrieve(own.sdJwt), 200);
      return { params: { type, version: '1' } };
    },
    wrong: () => ({ params: { type: 'Type', version: 'latest' } }),
    refusal: { status: 400, param: 'version', location: 'params' },
  },
  'issuance.retrieve-context': publicDocument,
};
