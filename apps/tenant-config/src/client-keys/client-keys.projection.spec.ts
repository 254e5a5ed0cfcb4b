import { projected } from '@attestry/testing';
import { clientKeysProjection } from './client-keys.projection.js';

const given = projected(clientKeysProjection);
const at = (day: number) => `2026-03-0${day}T00:00:00.000Z`;
const chosen = { type: 'ClientKeyCreated', data: { keyId: 'k1', createdAt: at(1) } } as const;
const rotated = {
  type: 'ClientKeyRotated',
  data: { keyId: 'k2', previousKeyId: 'k1', signsFrom: at(3), overlapEndsAt: at(5) },
} as const;

describe('the keys of clients', () => {
  it('are published until the overlap with the next one ends', () => {
    const first = { tenant_id: 't1', id: 'k1', signs_from: at(1), published_until: null };
    const second = { tenant_id: 't1', id: 'k2', signs_from: at(3), published_until: null };
    given(chosen).expectRows({ client_key: [first] });
    given(chosen, rotated).expectRows({ client_key: [{ ...first, published_until: at(5) }, second] });
    given(chosen, rotated, { type: 'ClientKeyRetired', data: { keyId: 'k1' } }).expectRows({ client_key: [second] });
    given(chosen, { type: 'TenantDataPurged', data: { tenantId: 't1' } }).expectRows({});
  });
});
