import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, BatchedRows, type Projection } from '@attestry/read-model';
import { purgingTenants } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
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

/** Active DIDs in the order of their creation, and which configurations hold them. */
export const didLists: Projection<DidListTables> = purgingTenants('dids', {
  name: 'dids.did-lists',
  version: 1,
  categories: [did.category],
  types: Object.keys(did.types),
  tables: ['did', 'did_reservation'],
  async create(db) {
    await createTable(db, 'did', {
      text: ['tenant_id', 'did', 'id', 'created_at', 'keys', 'document'],
      integer: ['registered', 'signs_p256', 'signs_ed25519'],
      primaryKey: ['tenant_id', 'did'],
      indexes: { did_by_time: ['tenant_id', 'created_at', 'id'] },
    });
    await createTable(db, 'did_reservation', {
      text: ['tenant_id', 'configuration_id', 'did'],
      primaryKey: ['tenant_id', 'configuration_id', 'did'],
    });
  },
  async project(trx, events) {
    const rows: Rows = {
      dids: new BatchedRows(trx, 'did', ['tenant_id', 'did']),
      reservations: new BatchedRows(trx, 'did_reservation', ['tenant_id', 'did', 'configuration_id']),
    };
    for (const stored of events) await projectOne(trx, rows, stored);
    await rows.dids.write();
    await rows.reservations.write();
  },
});

interface Rows {
  dids: BatchedRows<DidListTables, 'did'>;
  reservations: BatchedRows<DidListTables, 'did_reservation'>;
}

const projectOne = async (
  trx: Transaction<DidListTables>,
  { dids, reservations }: Rows,
  stored: RecordedEvent,
): Promise<void> => {
  const event = readEvent(did, stored);
  const { tenantId } = stored.metadata;
  const name = stored.stream.slice(`${did.category}-${tenantId}+`.length);
  switch (event.type) {
    case 'DidCreated': {
      const { keys, document, registered } = event.data;
      dids.put({
        tenant_id: tenantId,
        did: name,
        id: stored.id,
        created_at: new Date(registered).toISOString(),
        registered,
        keys: JSON.stringify(keys),
        document: JSON.stringify(document),
        signs_p256: signs(keys, 'P-256'),
        signs_ed25519: signs(keys, 'Ed25519'),
      });
      return;
    }
    case 'DidReserved':
      reservations.insert({ tenant_id: tenantId, configuration_id: event.data.configurationId, did: name });
      return;
    case 'DidReleased':
      reservations.remove(tenantId, name, event.data.configurationId);
      return;
    case 'DidDeletionStarted':
      dids.remove(tenantId, name);
      return;
    case 'DidDocumentUpdated': {
      const document = JSON.stringify(event.data.document);
      const gathered = dids.gathered(tenantId, name);
      if (gathered) dids.put({ ...gathered, document });
      else
        await trx
          .updateTable('did')
          .set({ document })
          .where('tenant_id', '=', tenantId)
          .where('did', '=', name)
          .execute();
      return;
    }
    case 'DidPublicationSeen':
    case 'DidMultikeysSeen':
    case 'DidDeleted':
      return;
  }
};
