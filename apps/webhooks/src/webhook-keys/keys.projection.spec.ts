import { projected } from '@attestry/testing';
import { keysProjection } from './keys.projection.js';

const given = projected(keysProjection);
const at = (day: number) => `2026-03-0${day}T00:00:00.000Z`;
const chosen = { type: 'WebhookKeyCreated', data: { keyId: 'k1', createdAt: at(1) } } as const;
const rotated = {
  type: 'WebhookKeyRotated',
  data: { keyId: 'k2', previousKeyId: 'k1', signsFrom: at(3), overlapEndsAt: at(5) },
} as const;
const row = (id: string, signs_from: string, published_until: string | null) => ({
  tenant_id: 't1',
  id,
  signs_from,
  published_until,
});

describe('the keys of webhooks', () => {
  it('are published until the overlap with the next one ends', () => {
    given(chosen).expectRows({ webhook_key: [row('k1', at(1), null)] });
    given(chosen, rotated).expectRows({ webhook_key: [row('k1', at(1), at(5)), row('k2', at(3), null)] });
    given(chosen, rotated, { type: 'WebhookKeyRetired', data: { keyId: 'k1' } }).expectRows({
      webhook_key: [row('k2', at(3), null)],
    });
  });

  it('end with the tenant', () => {
    given(chosen, rotated, { type: 'WebhookKeysEnded', data: {} }).expectRows({});
    given(chosen, { type: 'TenantDataPurged', data: { tenantId: 't1' } }).expectRows({});
  });
});
