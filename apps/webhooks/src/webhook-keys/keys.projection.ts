import { readEvent } from '@attestry/event-store';
import { insertRows, createTable, type Projection } from '@attestry/read-model';
import { purgingTenants } from '@attestry/service-kit';
import { webhookKeys } from './webhook-keys.state.js';

export interface KeyTables {
  /** Keys that are not retired; `published_until` is null for a tenant's newest. */
  webhook_key: { tenant_id: string; id: string; signs_from: string; published_until: string | null };
}

export const keysProjection: Projection<KeyTables> = purgingTenants('webhooks', {
  name: 'webhooks.keys',
  version: 1,
  categories: [webhookKeys.category],
  types: Object.keys(webhookKeys.types),
  tables: ['webhook_key'],
  async create(db) {
    await createTable(db, 'webhook_key', {
      text: ['tenant_id', 'id', 'signs_from'],
      nullableText: ['published_until'],
      primaryKey: ['tenant_id', 'id'],
      indexes: { webhook_key_due: ['published_until', 'signs_from'] },
    });
  },
  async project(trx, events) {
    for (const stored of events) {
      const { tenantId } = stored.metadata;
      const event = readEvent(webhookKeys, stored);
      const add = (id: string, signsFrom: string) =>
        insertRows(trx, 'webhook_key', [{ tenant_id: tenantId, id, signs_from: signsFrom, published_until: null }]);
      switch (event.type) {
        case 'WebhookKeyChosen':
          await add(event.data.keyId, event.data.chosenAt);
          break;
        case 'WebhookKeyRotated': {
          const { keyId, previousKeyId, signsFrom, overlapEndsAt } = event.data;
          await trx
            .updateTable('webhook_key')
            .set({ published_until: overlapEndsAt })
            .where('tenant_id', '=', tenantId)
            .where('id', '=', previousKeyId)
            .execute();
          await add(keyId, signsFrom);
          break;
        }
        case 'WebhookKeyRetired':
          await trx
            .deleteFrom('webhook_key')
            .where('tenant_id', '=', tenantId)
            .where('id', '=', event.data.keyId)
            .execute();
          break;
        case 'WebhookKeysEnded':
          await trx.deleteFrom('webhook_key').where('tenant_id', '=', tenantId).execute();
          break;
      }
    }
  },
});
