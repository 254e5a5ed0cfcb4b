import { defineProjection } from '@attestry/read-model';
import { publishedKeys } from '@attestry/service-kit';
import { clientKeys } from './client-keys.state.js';

const keys = publishedKeys('client_key');

export const clientKeysProjection = defineProjection({
  name: 'tenant-config.client-keys',
  version: 1,
  aggregates: [clientKeys],
  tables: keys.tables,
  on: {
    ClientKeyCreated: ({ data }, source) => keys.choose(source, { keyId: data.keyId, signsFrom: data.createdAt }),
    ClientKeyRotated: ({ data }, source) => keys.rotate(source, data),
    ClientKeyRetired: ({ data }, source) => keys.retire(source, data),
  },
});
