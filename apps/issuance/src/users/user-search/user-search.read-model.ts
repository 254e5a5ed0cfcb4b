import { Injectable } from '@nestjs/common';
import { MAX_SEARCHABLE_VALUES } from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { isErased, Macs } from '@attestry/keys';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
import { user } from '../user/user.state.js';
import { UserClaims } from '../user/user-claims.js';
import { searchValues, type SearchValue } from './search-values.js';

export interface UserSearchTables {
  /** `term`: MAC of a value, or '' for the user; the index of a user's values ends with the user (ADR 0094). */
  issuance_user_terms: { tenant_id: string; user_id: string; part: Part | ''; term: string; created_at: string };
}
type Row = UserSearchTables['issuance_user_terms'];

/** Parts of a user that events replace as a whole. */
type Part = 'claims' | 'authenticationProvider';
const PARTS: readonly Part[] = ['claims', 'authenticationProvider'];

/** 128 bits: a collision only makes the search open claims that do not match. */
const TERM_CHARACTERS = 22;

/** Keyed, so that values cannot be guessed from the index, and by tenant, so that equal values of tenants are not equal there. */
export const termOf = (macs: Macs, tenantId: string, { path, text }: SearchValue): string =>
  macs.mac(`${JSON.stringify(path)}${text}`, `user-search:${tenantId}`).mac.slice(0, TERM_CHARACTERS);

/** Rows that are written at once. */
const MAX_ROWS = 2000;

/** Changes of a user in a batch: the last sealed value of each part. */
interface Changes {
  tenantId: string;
  userId: string;
  createdAt?: string;
  sealed: Partial<Record<Part, string>>;
  isGone?: true;
}

const changesOf = (events: readonly RecordedEvent[]): Changes[] => {
  const users = new Map<string, Changes>();
  for (const stored of events) {
    const { tenantId } = stored.metadata;
    const known = users.get(stored.stream);
    const userId = stored.stream.slice(`${user.category}-${tenantId}+`.length);
    const changes: Changes = known ?? { tenantId, userId, sealed: {} };
    users.set(stored.stream, changes);
    const event = readEvent(user, stored);
    switch (event.type) {
      case 'UserCreated':
        changes.createdAt = event.data.createdAt;
        if (event.data.sealedClaims !== undefined) changes.sealed.claims = event.data.sealedClaims;
        break;
      case 'UserLinked':
        changes.sealed.authenticationProvider = event.data.sealedLink;
        break;
      case 'UserClaimsReplaced':
        changes.sealed.claims = event.data.sealedClaims;
        break;
      case 'UserDeleted':
      case 'UserExpired':
        changes.isGone = true;
        break;
    }
  }
  return [...users.values()];
};

/** Terms of a sealed value. */
type TermsOf = (tenantId: string, part: Part, sealed: string) => Promise<string[]>;

/**
 * `termsOf` opens the values: the events have no MACs, because they stay when the person is deleted; rows do not (ADR 0094). It is therefore not
 * declared: its rows do not follow from the events alone.
 */
export const userSearch = (termsOf: TermsOf): Projection<UserSearchTables> => {
  const rowsOf = async (
    trx: Transaction<UserSearchTables>,
    { tenantId, userId, createdAt, sealed }: Changes,
  ): Promise<Row[]> => {
    const ofUser = trx
      .selectFrom('issuance_user_terms')
      .where('tenant_id', '=', tenantId)
      .where('user_id', '=', userId);
    const known =
      createdAt ?? (await ofUser.where('part', '=', '').select('created_at').executeTakeFirst())?.created_at;
    // Deleted, with its rows.
    if (known === undefined) return [];
    const rows: Row[] = [];
    const row = (part: Row['part'], term: string) =>
      rows.push({ tenant_id: tenantId, user_id: userId, part, term, created_at: known });
    if (createdAt !== undefined) row('', '');
    for (const part of PARTS) {
      const text = sealed[part];
      if (text === undefined) continue;
      if (createdAt === undefined) await deleteRows(trx, tenantId, userId, part);
      for (const term of await termsOf(tenantId, part, text)) row(part, term);
    }
    return rows;
  };

  return purgingTenants('issuance', {
    name: 'issuance.user-search',
    version: 1,
    categories: [user.category],
    types: Object.keys(user.types),
    tables: ['issuance_user_terms'],
    async create(db) {
      await createTable(db, 'issuance_user_terms', {
        text: ['tenant_id', 'user_id', 'part', 'term', 'created_at'],
        primaryKey: ['tenant_id', 'term', 'created_at', 'user_id'],
        indexes: { issuance_user_terms_by_user: ['user_id', 'tenant_id', 'part'] },
      });
    },
    async project(trx, events) {
      let rows: Row[] = [];
      for (const changes of changesOf(events)) {
        if (changes.isGone) await deleteRows(trx, changes.tenantId, changes.userId);
        else rows.push(...(await rowsOf(trx, changes)));
        if (rows.length < MAX_ROWS) continue;
        await insertRows(trx, 'issuance_user_terms', rows);
        rows = [];
      }
      await insertRows(trx, 'issuance_user_terms', rows);
    },
  });
};

/** All of a user's, or of one part. */
const deleteRows = async (
  trx: Transaction<UserSearchTables>,
  tenantId: string,
  userId: string,
  part?: Part,
): Promise<void> => {
  const rows = trx.deleteFrom('issuance_user_terms').where('tenant_id', '=', tenantId).where('user_id', '=', userId);
  await (part === undefined ? rows : rows.where('part', '=', part)).execute();
};

/** Users by the values of their claims and of their identity at the authentication provider. */
@Injectable()
export class UserSearchReadModel extends ReadModel<UserSearchTables> {
  constructor(readModels: ReadModels, health: Health, claims: UserClaims, macs: Macs) {
    super(
      readModels,
      health,
      userSearch(async (tenantId, part, sealed) => {
        const opened = await claims.openSealedClaims(tenantId, sealed);
        const values = isErased(opened) ? [] : searchValues(part, opened, MAX_SEARCHABLE_VALUES);
        return values.map((value) => termOf(macs, tenantId, value));
      }),
    );
  }
}

/** For what is run outside of the service: rebuilds are requested there, and made in the service. */
export const userSearchTables = userSearch(() => Promise.reject(new Error('terms are made in the service')));
