import { Injectable } from '@nestjs/common';
import type { CredentialProfile } from '@attestry/contracts';
import { readEvent, StaleEpoch, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import { sql, type ExpressionBuilder, type Transaction } from 'kysely';
import type { MobileCertificatesEvent } from '../../certificates/mobile-certificates/mobile-certificates.events.js';
import { mobileCertificates } from '../../certificates/mobile-certificates/mobile-certificates.state.js';
import { revocationListUri, STATUS_LIST_TOKENS, type ListSigner, type TokenType } from './list-series.js';
import type { ListKey } from './status-lists.read-model.js';
import { shardOf } from './shard-of.js';
import { statusList } from './status-list.state.js';

export interface PublishedListTables {
  issuance_status_list_tokens: {
    tenant_id: string;
    list_id: string;
    shard: number;
    token_type: TokenType;
    /** JSON of `ListSigner`. */
    signer: string;
    /** Id of the IACA, where the signer is one of mobile documents. */
    iaca_id: string | null;
    uri: string;
    /** Entries. */
    size: number;
    /** When another one is to be signed. */
    due_at: string;
    token: string | null;
    /** Read by release 0.2.0 only. */
    etag: string | null;
    expires_at: string | null;
    /** Profile of the revocation list, whose address, issuer and bytes the following members are; empty where the list is none. */
    revocation_profile: string;
    revocation_uri: string;
    /** DID. */
    issuer: string;
    opened_at: string;
    revocation_list: string | null;
    revocation_etag: string | null;
    /** Counts the tokens. */
    revision: number;
  };
}

interface Published {
  token: string;
  etag: string;
}

/** Token that the endpoint serves. */
export interface PublishedToken {
  tokenType: TokenType;
  /** Null until the first one is signed. */
  token: string | null;
  expiresAt: string | null;
  signer: ListSigner;
}

/** A list of mobile documents. */
export interface PublishedMobileList {
  listId: string;
  iacaId: string;
  docType: string;
  size: number;
  /** base64; null until the first one is signed. */
  token: string | null;
  expiresAt: string | null;
}

/** After each date in ISO 8601. */
const NEVER = '9999';

/** Another signer may have to sign, or may be able to. */
const SIGNER_CHANGES: ReadonlySet<MobileCertificatesEvent['type']> = new Set([
  'CrlPublished',
  'DocumentSignerUpdated',
  'DocumentSignerRevoked',
  'DocumentSignerDeleted',
]);

/** Tokens of the lists that the signer may have signed are due at once. A token that is being signed meanwhile is not stored. */
const renewSignatures = async (trx: Transaction<PublishedListTables>, stored: RecordedEvent): Promise<void> => {
  const event = readEvent(mobileCertificates, stored);
  if (!SIGNER_CHANGES.has(event.type)) return;
  // The CRL of a managed IACA, which is replaced regularly, follows the revocation of the signer.
  if (event.type === 'CrlPublished' && event.data.dueAt !== undefined) return;
  let lists = trx
    .updateTable('issuance_status_list_tokens')
    .set((row) => ({ due_at: stored.metadata.occurredAt, revision: row('revision', '+', 1) }))
    .where('tenant_id', '=', stored.metadata.tenantId)
    .where('due_at', '>', stored.metadata.occurredAt)
    .where('due_at', '<', NEVER);
  lists =
    event.type === 'CrlPublished'
      ? lists.where('iaca_id', '=', event.data.iacaId)
      : lists.where('iaca_id', 'is not', null);
  await lists.execute();
};

/**
 * The published token of each list. The events make and delete rows, and set when a token is due; the publisher writes the tokens. Apart from
 * the statuses, so that tokens continue to be served while those are rebuilt. It is not declared: `revision` counts tokens of the publisher, too.
 */
export const publishedLists: Projection<PublishedListTables> = purgingTenants('issuance', {
  name: 'issuance.status-list-tokens',
  version: 2,
  categories: [statusList.category, mobileCertificates.category],
  types: [...Object.keys(statusList.types), ...Object.keys(mobileCertificates.types)],
  tables: ['issuance_status_list_tokens'],
  async create(db) {
    await createTable(db, 'issuance_status_list_tokens', {
      text: [
        'tenant_id',
        'list_id',
        'token_type',
        'signer',
        'uri',
        'due_at',
        'revocation_profile',
        'revocation_uri',
        'issuer',
        'opened_at',
      ],
      nullableText: ['iaca_id', 'token', 'etag', 'expires_at', 'revocation_list', 'revocation_etag'],
      integer: ['shard', 'size', 'revision'],
      primaryKey: ['tenant_id', 'list_id'],
      indexes: {
        issuance_status_list_tokens_by_due: ['shard', 'due_at'],
        issuance_status_list_tokens_by_profile: ['tenant_id', 'revocation_profile', 'opened_at', 'list_id'],
      },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    const opened: PublishedListTables['issuance_status_list_tokens'][] = [];
    for (const stored of events) {
      if (stored.stream.startsWith(`${mobileCertificates.category}-`)) {
        await renewSignatures(trx, stored);
        continue;
      }
      const { type, data } = readEvent(statusList, stored);
      if (type !== 'StatusListOpened') continue;
      opened.push({
        tenant_id: stored.metadata.tenantId,
        list_id: data.listId,
        shard: shardOf(data.listId),
        token_type: data.tokenType,
        signer: JSON.stringify(data.signer),
        iaca_id: data.signer.kind === 'statusListSigner' ? data.signer.iacaId : null,
        uri: data.uri,
        size: data.size,
        due_at: data.openedAt,
        token: null,
        etag: null,
        expires_at: null,
        revocation_profile: data.revocationLists ?? '',
        revocation_uri: revocationListUri(data, data.listId) ?? '',
        issuer: data.signer.kind === 'pinnedKey' ? data.signer.verificationMethod.split('#', 1)[0]! : '',
        opened_at: data.openedAt,
        revocation_list: null,
        revocation_etag: null,
        revision: 0,
      });
    }
    await insertRows(trx, 'issuance_status_list_tokens', opened);
  },
});

type MobileRow = Pick<
  PublishedListTables['issuance_status_list_tokens'],
  'list_id' | 'signer' | 'size' | 'token' | 'expires_at'
>;
const mobileListOf = ({
  list_id: listId,
  signer,
  size,
  token,
  expires_at: expiresAt,
}: MobileRow): PublishedMobileList => {
  const { iacaId, docType } = JSON.parse(signer) as Extract<ListSigner, { kind: 'statusListSigner' }>;
  return { listId, iacaId, docType, size: Number(size), token, expiresAt };
};

export interface NewToken extends Published {
  /** Absent: not before the list changes. */
  dueAt?: Date;
  expiresAt: Date;
  revocationList?: Published | undefined;
}

/** A list whose first token is not signed yet is served too. */
const isServed = (now: Date) => (row: ExpressionBuilder<PublishedListTables, 'issuance_status_list_tokens'>) =>
  row.or([row('expires_at', 'is', null), row('expires_at', '>', now.toISOString())]);

/** In one document. */
const MOST_URIS = 1000;

@Injectable()
export class PublishedListsReadModel extends ReadModel<PublishedListTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, publishedLists);
  }

  /** Lists whose token is to be signed, the first ones first. */
  async listDue(shard: number, now: Date, limit: number): Promise<ListKey[]> {
    const rows = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select(['tenant_id', 'list_id'])
      .where('shard', '=', shard)
      .where('due_at', '<=', now.toISOString())
      .orderBy('due_at')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ tenantId: row.tenant_id, listId: row.list_id }));
  }

  /** When the next token is to be signed, milliseconds since 1970. */
  async nextDue(shard: number, now: Date): Promise<number | undefined> {
    const row = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select('due_at')
      .where('shard', '=', shard)
      .where('due_at', '>', now.toISOString())
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst();
    return row?.due_at ? Date.parse(row.due_at) : undefined;
  }

  async find({ tenantId, listId }: ListKey): Promise<PublishedToken | undefined> {
    const row = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select(['token_type', 'token', 'expires_at', 'signer'])
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    return (
      row && {
        tokenType: row.token_type,
        token: row.token,
        expiresAt: row.expires_at,
        signer: JSON.parse(row.signer) as ListSigner,
      }
    );
  }

  /** Status lists of mobile documents, by id, with the characters of their tokens: the database reads no token for them. */
  async listMobileSizes(
    tenantId: string,
    { after = '', limit }: { after?: string | undefined; limit: number },
  ): Promise<{ listId: string; characters: number }[]> {
    const rows = await this.ofDocuments(tenantId)
      .select(['list_id', sql<number | null>`octet_length(token)`.as('characters')])
      .where('list_id', '>', after)
      .orderBy('list_id')
      .limit(limit)
      .execute();
    return rows.map(({ list_id: listId, characters }) => ({ listId, characters: Number(characters) }));
  }

  /** Lists of mobile documents, by id. */
  async findMobile(tenantId: string, listIds: readonly string[]): Promise<PublishedMobileList[]> {
    if (!listIds.length) return [];
    const rows = await this.ofDocuments(tenantId)
      .select(['list_id', 'signer', 'size', 'token', 'expires_at'])
      .where('list_id', 'in', [...listIds])
      .orderBy('list_id')
      .execute();
    return rows.map(mobileListOf);
  }

  async isMobile({ tenantId, listId }: ListKey): Promise<boolean> {
    const row = await this.ofDocuments(tenantId).select('list_id').where('list_id', '=', listId).executeTakeFirst();
    return row !== undefined;
  }

  /** Addresses of the tenant's tokens that have not expired, Token Status Lists only; the newest lists first. */
  async listTokenUris(tenantId: string, now: Date): Promise<string[]> {
    const rows = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select('uri')
      .where('tenant_id', '=', tenantId)
      .where('token_type', 'in', STATUS_LIST_TOKENS)
      .where(isServed(now))
      .orderBy('opened_at', 'desc')
      .orderBy('list_id')
      .limit(MOST_URIS)
      .execute();
    return rows.map(({ uri }) => uri);
  }

  /** Addresses of the tokens of these IACAs that have not expired; the newest lists first. */
  async listMobileUris(
    tenantId: string,
    iacaIds: readonly string[],
    tokenType: 'cose' | 'identifierList',
    now: Date,
  ): Promise<string[]> {
    if (!iacaIds.length) return [];
    const rows = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select('uri')
      .where('tenant_id', '=', tenantId)
      .where('iaca_id', 'in', [...iacaIds])
      .where('token_type', '=', tokenType)
      .where(isServed(now))
      .orderBy('opened_at', 'desc')
      .orderBy('list_id')
      .limit(MOST_URIS)
      .execute();
    return rows.map(({ uri }) => uri);
  }

  private ofDocuments(tenantId: string) {
    return this.running.db
      .selectFrom('issuance_status_list_tokens')
      .where('tenant_id', '=', tenantId)
      .where('iaca_id', 'is not', null)
      .where('token_type', '=', 'cose');
  }

  /** Lists that are published as revocation lists of the profile. */
  revocationLists(tenantId: string, profile: CredentialProfile) {
    return this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select(['list_id', 'issuer', 'revocation_uri', 'opened_at'])
      .where('tenant_id', '=', tenantId)
      .where('revocation_profile', '=', profile);
  }

  findRevocationList({ tenantId, listId }: ListKey, profile: CredentialProfile) {
    return this.revocationLists(tenantId, profile)
      .select(['revocation_list', 'revocation_etag', 'expires_at'])
      .where('list_id', '=', listId)
      .executeTakeFirst();
  }

  /**
   * To be read before the statuses: a token replaces only the one that it was made after, so that none hides a later status. Absent: not
   * projected yet, or purged.
   */
  async findRevision({ tenantId, listId }: ListKey): Promise<number | undefined> {
    const row = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select('revision')
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    return row && Number(row.revision);
  }

  /** @throws StaleEpoch when another process has published the list since the revision was read */
  store(list: ListKey, published: NewToken, revision: number): Promise<void> {
    const { token, etag, dueAt, expiresAt, revocationList } = published;
    const values = { token, etag, due_at: dueAt?.toISOString() ?? NEVER, expires_at: expiresAt.toISOString() };
    const revocation = revocationList && {
      revocation_list: revocationList.token,
      revocation_etag: revocationList.etag,
    };
    return this.replace(list, { ...values, ...revocation }, revision);
  }

  /** Never, unless the list changes. @throws StaleEpoch as `store` */
  retire(list: ListKey, revision: number): Promise<void> {
    return this.replace(list, { due_at: NEVER }, revision);
  }

  /** Not before this time, unless the list changes: so that others that are due come first. */
  async postpone({ tenantId, listId }: ListKey, until: Date): Promise<void> {
    await this.running.db
      .updateTable('issuance_status_list_tokens')
      .set({ due_at: until.toISOString() })
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .execute();
  }

  private async replace(
    { tenantId, listId }: ListKey,
    values: Partial<PublishedListTables['issuance_status_list_tokens']>,
    revision: number,
  ): Promise<void> {
    const { numUpdatedRows } = await this.running.db
      .updateTable('issuance_status_list_tokens')
      .set({ ...values, revision: revision + 1 })
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .where('revision', '=', revision)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n)
      throw new StaleEpoch(`status list ${listId} was published or purged after revision ${revision}`);
  }
}
