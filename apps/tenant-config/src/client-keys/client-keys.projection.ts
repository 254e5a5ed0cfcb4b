import { publishedKeysProjection } from '@attestry/service-kit';
import { clientKeys } from './client-keys.state.js';

export const clientKeysProjection = publishedKeysProjection('tenant-config', {
  name: 'tenant-config.client-keys',
  table: 'client_key',
  aggregate: clientKeys,
  changeOf: (event) => {
    switch (event.type) {
      case 'ClientKeyChosen':
        return { kind: 'chosen', key: { keyId: event.data.keyId, signsFrom: event.data.chosenAt } };
      case 'ClientKeyRotated':
        return { kind: 'rotated', succession: event.data };
      case 'ClientKeyRetired':
        return { kind: 'retired', keyId: event.data.keyId };
    }
  },
});
