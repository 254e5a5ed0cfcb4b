import type { KeySuccession, PublishedKey } from '@attestry/contracts';
import { declareTables, type Changes, type DeclaredTables, type EventSource } from '@attestry/read-model';

/** A key that is not retired; `published_until` is null for a tenant's newest. */
export interface PublishedKeyRow {
  tenant_id: string;
  id: string;
  signs_from: string;
  published_until: string | null;
}

/** One table, whose name the projection has. */
export type PublishedKeyTables = Record<string, PublishedKeyRow>;

export interface PublishedKeys {
  tables: DeclaredTables<PublishedKeyTables>;
  choose(source: EventSource, key: Pick<PublishedKey, 'keyId' | 'signsFrom'>): Changes;
  rotate(source: EventSource, succession: KeySuccession & { keyId: string }): Changes;
  retire(source: EventSource, event: { keyId: string }): Changes;
  end(source: EventSource): Changes;
}

/** The table of a projection of the keys of all tenants that a {@link KeyRotation} replaces and retires, and what its events change. */
export const publishedKeys = (table: string): PublishedKeys => {
  const tables = declareTables<PublishedKeyTables>({
    [table]: {
      text: ['tenant_id', 'id', 'signs_from'],
      nullableText: ['published_until'],
      primaryKey: ['tenant_id', 'id'],
      indexes: { [`${table}_due`]: ['published_until', 'signs_from'] },
    },
  });
  const keys = tables[table]!;
  const choose: PublishedKeys['choose'] = ({ tenantId }, { keyId, signsFrom }) =>
    keys.insert({ tenant_id: tenantId, id: keyId, signs_from: signsFrom, published_until: null });
  return {
    tables,
    choose,
    rotate: (source, { keyId, previousKeyId, signsFrom, overlapEndsAt }) => [
      keys.set({ tenant_id: source.tenantId, id: previousKeyId }, { published_until: overlapEndsAt }),
      choose(source, { keyId, signsFrom }),
    ],
    retire: ({ tenantId }, { keyId }) => keys.remove({ tenant_id: tenantId, id: keyId }),
    end: ({ tenantId }) => keys.remove({ tenant_id: tenantId }),
  };
};
