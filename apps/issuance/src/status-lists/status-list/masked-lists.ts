import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, type SelectiveProjection } from '@attestry/read-model';
import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import { withdrawnDomains } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';
import { hostsOf } from './list-series.js';
import { statusList } from './status-list.state.js';

/** Columns of a list that may be masked. */
export interface MaskedList {
  /** 1 while the tenant has lost one of its hosts: every status is published as INVALID. */
  masked: number;
}

export interface MaskTables {
  issuance_withdrawn_domains: { tenant_id: string; domain: string };
  /** `hostsOf` each list. */
  issuance_status_list_hosts: { tenant_id: string; host: string; list_id: string };
}

interface Tables extends MaskTables {
  issuance_status_lists: MaskedList &
    Record<'tenant_id' | 'list_id' | 'changed_at', string> &
    Record<'changes' | 'dirty', number>;
}
type Db = Transaction<Tables>;

/**
 * A projection of status lists, which are masked while the tenant has lost a domain of their issuer (ADR 0081). It is not declared: whether a list
 * is masked follows from a join.
 */
export const maskingLists = <Masked extends MaskTables>(
  projection: SelectiveProjection<Masked>,
): SelectiveProjection<Masked> => ({
  ...projection,
  categories: [...projection.categories, withdrawnDomains.category],
  types: [...projection.types, ...Object.keys(withdrawnDomains.types)],
  tables: [...projection.tables, 'issuance_withdrawn_domains', 'issuance_status_list_hosts'],
  async create(db) {
    await projection.create(db);
    const masks = db as unknown as Kysely<MaskTables>;
    await createTable(masks, 'issuance_withdrawn_domains', {
      text: ['tenant_id', 'domain'],
      primaryKey: ['tenant_id', 'domain'],
    });
    await createTable(masks, 'issuance_status_list_hosts', {
      text: ['tenant_id', 'host', 'list_id'],
      primaryKey: ['tenant_id', 'host', 'list_id'],
    });
  },
  async project(trx, events, to) {
    const masks = trx as unknown as Db;
    let before: RecordedEvent[] = [];
    const projectBefore = async () => {
      if (!before.length) return;
      await projection.project(trx, before, to);
      await maskOpened(masks, before);
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

/** Lists that were opened after a domain was lost. */
const maskOpened = async (trx: Db, events: readonly RecordedEvent[]): Promise<void> => {
  const hosts: MaskTables['issuance_status_list_hosts'][] = [];
  for (const stored of events) {
    if (!stored.stream.startsWith(`${statusList.category}-`)) continue;
    const event = readEvent(statusList, stored);
    if (event.type !== 'StatusListOpened') continue;
    const ofList = { tenant_id: stored.metadata.tenantId, list_id: event.data.listId };
    hosts.push(...hostsOf(event.data.signer).map((host) => ({ ...ofList, host })));
  }
  if (!hosts.length) return;
  await insertRows(trx, 'issuance_status_list_hosts', hosts);
  await trx
    .updateTable('issuance_status_lists')
    .set({ masked: 1 })
    .where('tenant_id', 'in', [...new Set(hosts.map((row) => row.tenant_id))])
    .where('masked', '=', 0)
    .where(hasLostHost)
    .execute();
};

const hasLostHost = ({ exists, selectFrom }: ExpressionBuilder<Tables, 'issuance_status_lists'>) =>
  exists(
    selectFrom('issuance_withdrawn_domains as lost')
      .innerJoin('issuance_status_list_hosts as its', (join) =>
        join.onRef('its.tenant_id', '=', 'lost.tenant_id').onRef('its.host', '=', 'lost.domain'),
      )
      .select('lost.domain')
      .whereRef('lost.tenant_id', '=', 'issuance_status_lists.tenant_id')
      .whereRef('its.list_id', '=', 'issuance_status_lists.list_id'),
  );

const changeDomain = async (trx: Db, stored: RecordedEvent): Promise<void> => {
  const { tenantId } = stored.metadata;
  const {
    type,
    data: { domain },
  } = readEvent(withdrawnDomains, stored);
  const { numDeletedRows } = await trx
    .deleteFrom('issuance_withdrawn_domains')
    .where('tenant_id', '=', tenantId)
    .where('domain', '=', domain)
    .executeTakeFirst();
  // Verified for the first time: no list was masked.
  if (type === 'IssuerDomainVerified' && numDeletedRows === 0n) return;
  if (type === 'IssuerDomainWithdrawn')
    await insertRows(trx, 'issuance_withdrawn_domains', [{ tenant_id: tenantId, domain }]);
  await trx
    .updateTable('issuance_status_lists')
    .set((row) => ({
      masked: row.case().when(hasLostHost(row)).then(row.lit(1)).else(row.lit(0)).end(),
      changes: row('changes', '+', 1),
      dirty: 1,
      // Lists that changed before come first: those of other tenants are not held up.
      changed_at: stored.metadata.occurredAt,
    }))
    .where('tenant_id', '=', tenantId)
    .where('list_id', 'in', (row) =>
      row
        .selectFrom('issuance_status_list_hosts')
        .select('issuance_status_list_hosts.list_id')
        .where('issuance_status_list_hosts.tenant_id', '=', tenantId)
        .where('host', '=', domain),
    )
    .execute();
};
