import { defineProjection } from '@attestry/read-model';
import { publishedKeys } from '@attestry/service-kit';
import { webhookKeys } from './webhook-keys.state.js';

const keys = publishedKeys('webhook_key');

export const keysProjection = defineProjection({
  name: 'webhooks.keys',
  version: 1,
  aggregates: [webhookKeys],
  tables: keys.tables,
  on: {
    WebhookKeyCreated: ({ data }, source) => keys.choose(source, { keyId: data.keyId, signsFrom: data.createdAt }),
    WebhookKeyRotated: ({ data }, source) => keys.rotate(source, data),
    WebhookKeyRetired: ({ data }, source) => keys.retire(source, data),
    WebhookKeysEnded: (_, source) => keys.end(source),
  },
});
