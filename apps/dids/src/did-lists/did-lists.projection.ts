import { declareTables, defineProjection, nothing } from '@attestry/read-model';
import { did } from '../did/did.state.js';
import type { DidKey, KeyAlgorithm } from '../did/did.events.js';

export interface DidListTables {
  did: {
    tenant_id: string;
    did: string;
    /** Id of the event that created it: a DID itself is too long for a cursor. */
    id: string;
    created_at: string;
    /** Milliseconds since the epoch. */
    registered: number;
    /** JSON of DidKey[]. */
    keys: string;
    /** JSON. */
    document: string;
    /** 1 when it can sign credentials with such a key. */
    signs_p256: number;
    signs_ed25519: number;
  };
  did_reservation: { tenant_id: string; configuration_id: string; did: string };
}

const signs = (keys: readonly DidKey[], algorithm: KeyAlgorithm): number =>
  keys.some((key) => key.algorithm === algorithm && key.purposes.includes('assertionMethod')) ? 1 : 0;

const tables = declareTables<DidListTables>({
  did: {
    text: ['tenant_id', 'did', 'id', 'created_at', 'keys', 'document'],
    integer: ['registered', 'signs_p256', 'signs_ed25519'],
    primaryKey: ['tenant_id', 'did'],
    indexes: { did_by_time: ['tenant_id', 'created_at', 'id'] },
  },
  did_reservation: {
    text: ['tenant_id', 'configuration_id', 'did'],
    primaryKey: ['tenant_id', 'configuration_id', 'did'],
  },
});
const { did: dids, did_reservation: reservations } = tables;

/** Active DIDs in the order of their creation, and which configurations hold them. */
export const didLists = defineProjection({
  name: 'dids.did-lists',
  version: 1,
  aggregates: [did],
  tables,
  on: {
    DidCreated: ({ data: { keys, document, registered } }, { tenantId, id, eventId }) =>
      dids.put({
        tenant_id: tenantId,
        did: id,
        id: eventId,
        created_at: new Date(registered).toISOString(),
        registered,
        keys: JSON.stringify(keys),
        document: JSON.stringify(document),
        signs_p256: signs(keys, 'P-256'),
        signs_ed25519: signs(keys, 'Ed25519'),
      }),
    DidDocumentUpdated: ({ data }, { tenantId, id }) =>
      dids.set({ tenant_id: tenantId, did: id }, { document: JSON.stringify(data.document) }),
    DidReserved: ({ data }, { tenantId, id }) =>
      reservations.insert({ tenant_id: tenantId, configuration_id: data.configurationId, did: id }),
    DidReleased: ({ data }, { tenantId, id }) =>
      reservations.remove({ tenant_id: tenantId, configuration_id: data.configurationId, did: id }),
    DidDeletionStarted: (_, { tenantId, id }) => dids.remove({ tenant_id: tenantId, did: id }),
    DidPublicationSeen: nothing,
    DidMultikeysSeen: nothing,
    DidDeleted: nothing,
  },
});
