import { publishedKeysProjection } from '@attestry/service-kit';
import { webhookKeys } from './webhook-keys.state.js';

export const keysProjection = publishedKeysProjection('webhooks', {
  name: 'webhooks.keys',
  table: 'webhook_key',
  aggregate: webhookKeys,
  changeOf: (event) => {
    switch (event.type) {
      case 'WebhookKeyChosen':
        return { kind: 'chosen', key: { keyId: event.data.keyId, signsFrom: event.data.chosenAt } };
      case 'WebhookKeyRotated':
        return { kind: 'rotated', succession: event.data };
      case 'WebhookKeyRetired':
        return { kind: 'retired', keyId: event.data.keyId };
      case 'WebhookKeysEnded':
        return { kind: 'ended' };
    }
  },
});
