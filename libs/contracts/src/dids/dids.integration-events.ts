import { defineIntegrationEvent } from '../integration-event.js';

export const didCreated = defineIntegrationEvent<{ tenantId: string; did: string; method: 'key' | 'web' }>(
  'dids.did-created',
);
export const didDeleted = defineIntegrationEvent<{ tenantId: string; did: string }>('dids.did-deleted');
