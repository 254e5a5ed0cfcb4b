import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import type { UserSearchTables } from '../user-search/user-search.read-model.js';

/** Entries of a term that are counted at most. */
const MAX_COUNTED = 1000;

type Found = { id: string; created_at: string };

/** Users with all of the terms, read in the order of the rarest one. */
export const selectUsers = async (
  db: Kysely<UserSearchTables>,
  tenantId: string,
  terms: readonly string[],
): Promise<SelectQueryBuilder<UserSearchTables, 'issuance_user_terms', Found>> => {
  const counted = await Promise.all(terms.map(async (term) => ({ term, count: await countOf(db, tenantId, term) })));
  const [rarest, ...others] = counted.sort((a, b) => a.count - b.count).map(({ term }) => term);
  let rows = db
    .selectFrom('issuance_user_terms')
    .select(['user_id as id', 'created_at'])
    .where('tenant_id', '=', tenantId)
    .where('term', '=', rarest!);
  for (const term of others)
    rows = rows.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('issuance_user_terms as other')
          .select(sql`1`.as('one'))
          .where('other.tenant_id', '=', tenantId)
          .where('other.term', '=', term)
          .whereRef('other.created_at', '=', 'issuance_user_terms.created_at')
          .whereRef('other.user_id', '=', 'issuance_user_terms.user_id'),
      ),
    );
  return rows;
};

const countOf = async (db: Kysely<UserSearchTables>, tenantId: string, term: string): Promise<number> => {
  const { count } = await db
    .selectFrom(
      db
        .selectFrom('issuance_user_terms')
        .select('user_id')
        .where('tenant_id', '=', tenantId)
        .where('term', '=', term)
        .limit(MAX_COUNTED)
        .as('some'),
    )
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
};
