import type { PublishedKey, KeySuccession, ServiceName } from '@attestry/contracts';
import { readEvent, type Aggregate, type DomainEvent } from '@attestry/event-store';
import { createTable, insertRows, type SelectiveProjection } from '@attestry/read-model';
import { purgingTenants } from '../followers/purged-tenants.js';

/** A key that is not retired; `published_until` is null for a tenant's newest. */
export interface PublishedKeyRow {
  tenant_id: string;
  id: string;
  signs_from: string;
  published_until: string | null;
}

/** One table, whose name the projection has. */
export type PublishedKeyTables = Record<string, PublishedKeyRow>;

/** Change of a tenant's keys by an event. */
export type KeyChange =
  | { kind: 'chosen'; key: PublishedKey }
  | { kind: 'rotated'; succession: KeySuccession & { keyId: string } }
  | { kind: 'retired'; keyId: string }
  | { kind: 'ended' };

export interface PublishedKeysOptions<State, Event extends DomainEvent> {
  /** `<service>.<name>`; permanent. */
  name: `${string}.${string}`;
  table: string;
  aggregate: Aggregate<State, Event>;
  changeOf: (event: Event) => KeyChange;
}

/** Keys of all tenants that a {@link KeyRotation} replaces and retires. */
export const publishedKeysProjection = <State, Event extends DomainEvent>(
  service: ServiceName,
  { name, table, aggregate, changeOf }: PublishedKeysOptions<State, Event>,
): SelectiveProjection<PublishedKeyTables> =>
  purgingTenants<PublishedKeyTables>(service, {
    name,
    version: 1,
    categories: [aggregate.category],
    types: Object.keys(aggregate.types),
    tables: [table],
    async create(db) {
      await createTable(db, table, {
        text: ['tenant_id', 'id', 'signs_from'],
        nullableText: ['published_until'],
        primaryKey: ['tenant_id', 'id'],
        indexes: { [`${table}_due`]: ['published_until', 'signs_from'] },
      });
    },
    async project(trx, events) {
      for (const stored of events) {
        const { tenantId } = stored.metadata;
        const add = (id: string, signsFrom: string) =>
          insertRows(trx, table, [{ tenant_id: tenantId, id, signs_from: signsFrom, published_until: null }]);
        const change = changeOf(readEvent(aggregate, stored));
        switch (change.kind) {
          case 'chosen':
            await add(change.key.keyId, change.key.signsFrom);
            break;
          case 'rotated': {
            const { keyId, previousKeyId, signsFrom, overlapEndsAt } = change.succession;
            await trx
              .updateTable(table)
              .set({ published_until: overlapEndsAt })
              .where('tenant_id', '=', tenantId)
              .where('id', '=', previousKeyId)
              .execute();
            await add(keyId, signsFrom);
            break;
          }
          case 'retired':
            await trx.deleteFrom(table).where('tenant_id', '=', tenantId).where('id', '=', change.keyId).execute();
            break;
          case 'ended':
            await trx.deleteFrom(table).where('tenant_id', '=', tenantId).execute();
            break;
        }
      }
    },
  });
