import { readEvent, type RecordedEvent } from '@attestry/event-store';
import type { Projection } from '@attestry/read-model';
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

/** Living DIDs in the order in which they were created, and which configurations hold them. */
export const didLists: Projection<DidListTables> = {
  name: 'dids.did-lists',
  version: 1,
  categories: [did.category],
  types: Object.keys(did.types),
  tables: ['did', 'did_reservation'],
  async create(db) {
    await db.schema
      .createTable('did')
      .addColumn('tenant_id', 'text', (c) => c.notNull())
      .addColumn('did', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('registered', 'bigint', (c) => c.notNull())
      .addColumn('keys', 'text', (c) => c.notNull())
      .addColumn('document', 'text', (c) => c.notNull())
      .addColumn('signs_p256', 'integer', (c) => c.notNull())
      .addColumn('signs_ed25519', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('did_pk', ['tenant_id', 'did'])
      .execute();
    await db.schema.createIndex('did_by_time').on('did').columns(['tenant_id', 'created_at', 'id']).execute();
    await db.schema
      .createTable('did_reservation')
      .addColumn('tenant_id', 'text', (c) => c.notNull())
      .addColumn('configuration_id', 'text', (c) => c.notNull())
      .addColumn('did', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('did_reservation_pk', ['tenant_id', 'configuration_id', 'did'])
      .execute();
  },
  async project(trx, events) {
    for (const stored of events) await projectOne(trx, stored);
  },
};

const projectOne = async (trx: Transaction<DidListTables>, stored: RecordedEvent): Promise<void> => {
  const event = readEvent(did, stored);
  const { tenantId } = stored.metadata;
  const name = stored.stream.slice(`${did.category}-${tenantId}+`.length);
  switch (event.type) {
    case 'DidCreated': {
      const { keys, document, registered } = event.data;
      const row = {
        id: stored.id,
        created_at: new Date(registered).toISOString(),
        registered,
        keys: JSON.stringify(keys),
        document: JSON.stringify(document),
        signs_p256: signs(keys, 'P-256'),
        signs_ed25519: signs(keys, 'Ed25519'),
      };
      await trx
        .insertInto('did')
        .values({ tenant_id: tenantId, did: name, ...row })
        .onConflict((conflict) => conflict.columns(['tenant_id', 'did']).doUpdateSet(row))
        .execute();
      return;
    }
    case 'DidReserved': {
      await trx
        .insertInto('did_reservation')
        .values({ tenant_id: tenantId, configuration_id: event.data.configurationId, did: name })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return;
    }
    case 'DidReleased': {
      await trx
        .deleteFrom('did_reservation')
        .where('tenant_id', '=', tenantId)
        .where('configuration_id', '=', event.data.configurationId)
        .where('did', '=', name)
        .execute();
      return;
    }
    case 'DidDeletionStarted': {
      await trx.deleteFrom('did').where('tenant_id', '=', tenantId).where('did', '=', name).execute();
      return;
    }
    case 'DidDeleted':
      return;
  }
};
