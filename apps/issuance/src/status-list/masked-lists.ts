import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, type SelectiveProjection } from '@attestry/read-model';
import type { Kysely, Transaction } from 'kysely';
import { issuerHost } from '../credential-configuration/configurations-under.js';
import { withdrawnDomains } from '../withdrawn-domains/withdrawn-domains.state.js';
import { issuerOf, type ListSeries } from './list-series.js';

/** Columns of a list that may be masked. */
export interface MaskedList {
  /** Of the issuer of its credentials; empty where a domain does not identify it. */
  host: string;
  /** 1 while the tenant has lost that domain: every status is published as INVALID. */
  masked: number;
}

export interface MaskTables {
  issuance_withdrawn_domains: { tenant_id: string; domain: string };
}

type Db = Transaction<
  MaskTables & { issuance_status_lists: MaskedList & { tenant_id: string; changes: number; dirty: number } }
>;

/** Of a list that is opened. */
export const unmasked = ({ signer }: Pick<ListSeries, 'signer'>): MaskedList => ({
  host: issuerHost(issuerOf(signer)) ?? '',
  masked: 0,
});

/** A projection of status lists, which are masked while the tenant has lost the domain of their issuer (ADR 0081). */
export const maskingLists = <Tables extends MaskTables>(
  projection: SelectiveProjection<Tables>,
): SelectiveProjection<Tables> => ({
  ...projection,
  categories: [...projection.categories, withdrawnDomains.category],
  types: [...projection.types, ...Object.keys(withdrawnDomains.types)],
  tables: [...projection.tables, 'issuance_withdrawn_domains'],
  async create(db) {
    await projection.create(db);
    await createTable(db as unknown as Kysely<MaskTables>, 'issuance_withdrawn_domains', {
      text: ['tenant_id', 'domain'],
      primaryKey: ['tenant_id', 'domain'],
    });
  },
  async project(trx, events, to) {
    const masks = trx as unknown as Db;
    let before: RecordedEvent[] = [];
    const projectBefore = async () => {
      if (!before.length) return;
      await projection.project(trx, before, to);
      const opened = before.filter(({ type }) => type === 'StatusListOpened').map(({ metadata }) => metadata.tenantId);
      if (opened.length) await maskOpened(masks, [...new Set(opened)]);
      before = [];
    };
    for (const stored of events) {
      if (!stored.stream.startsWith(`${withdrawnDomains.category}-`)) {
        before.push(stored);
        continue;
      }
      // In order, so that `changes` does not depend on the batches.
      await projectBefore();
      await changeDomain(masks, stored);
    }
    await projectBefore();
  },
});

/** Lists that were opened after their domain was lost. */
const maskOpened = async (trx: Db, tenantIds: readonly string[]): Promise<void> => {
  await trx
    .updateTable('issuance_status_lists')
    .set({ masked: 1 })
    .where('tenant_id', 'in', tenantIds)
    .where('masked', '=', 0)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('issuance_withdrawn_domains')
          .select('domain')
          .whereRef('issuance_withdrawn_domains.tenant_id', '=', 'issuance_status_lists.tenant_id')
          .whereRef('domain', '=', 'host'),
      ),
    )
    .execute();
};

const changeDomain = async (trx: Db, stored: RecordedEvent): Promise<void> => {
  const { tenantId } = stored.metadata;
  const {
    type,
    data: { domain },
  } = readEvent(withdrawnDomains, stored);
  const isWithdrawn = type === 'IssuerDomainWithdrawn';
  await trx
    .deleteFrom('issuance_withdrawn_domains')
    .where('tenant_id', '=', tenantId)
    .where('domain', '=', domain)
    .execute();
  if (isWithdrawn) await insertRows(trx, 'issuance_withdrawn_domains', [{ tenant_id: tenantId, domain }]);
  await trx
    .updateTable('issuance_status_lists')
    .set((row) => ({ masked: Number(isWithdrawn), changes: row('changes', '+', 1), dirty: 1 }))
    .where('tenant_id', '=', tenantId)
    .where('host', '=', domain)
    .execute();
};
