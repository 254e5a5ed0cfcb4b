import {
  invalidBody,
  MAX_SEARCH_VALUES,
  searchUsers,
  type ClientContext,
  type PageOf,
  type SearchUsersRequest,
  type User,
} from '@attestry/contracts';
import { isErased, Macs } from '@attestry/keys';
import { countFitting, InvalidCursor, storedBytes } from '@attestry/read-model';
import { listCursors, listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { UserClaims } from '../user/user-claims.js';
import { UsersReadModel } from '../user/users.read-model.js';
import { hasValue, searchValues, type SearchValue } from '../user-search/search-values.js';
import { termOf, UserSearchReadModel } from '../user-search/user-search.read-model.js';
import { selectUsers } from './select-users.js';

@Operation(searchUsers)
export class SearchUsers {
  constructor(
    private readonly search: UserSearchReadModel,
    private readonly users: UsersReadModel,
    private readonly claims: UserClaims,
    private readonly macs: Macs,
  ) {}

  async execute({ body }: RequestOf<typeof searchUsers>, { tenant }: ClientContext): Promise<PageOf<User>> {
    const criteria = criteriaOf(body);
    const terms = criteria.map((value) => termOf(this.macs, tenant.id, value)).sort();
    await Promise.all([this.search.running.ownWrites(), this.users.running.ownWrites()]);
    const { data: ids, ...page } = await this.page(tenant.id, terms, body);
    const found = await this.load(tenant.id, ids);
    // The user may have changed since the values were indexed.
    return { ...page, data: found.filter((one) => criteria.every((value) => hasValue(one, value))) };
  }

  /** Ids of users, as many as make a page; without terms, of all. */
  private async page(
    tenantId: string,
    terms: readonly string[],
    { limit, cursor }: SearchUsersRequest,
  ): Promise<PageOf<string>> {
    const asked = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
    const list = [tenantId, 'user-search', ...terms];
    const users = this.users.running.db.selectFrom('issuance_users').select(['id', 'created_at']);
    try {
      const { data, ...page } = terms.length
        ? await listPage(await selectUsers(this.search.running.db, tenantId, terms), asked, this.macs, list, {
            contents: [],
            idColumn: 'user_id',
          })
        : await listPage(users.where('tenant_id', '=', tenantId), asked, this.macs, list, { contents: [] });
      const sizes = await this.sizesOf(
        tenantId,
        data.map(({ id }) => id),
      );
      const fitting = countFitting(data.map(({ id }) => sizes.get(id) ?? 0));
      const last = data[fitting - 1];
      return {
        ...page,
        ...(last &&
          fitting < data.length && {
            nextCursor: listCursors(this.macs, list).encode({ time: last.created_at, id: last.id }),
          }),
        data: data.slice(0, fitting).map(({ id }) => id),
      };
    } catch (error) {
      if (error instanceof InvalidCursor) throw invalidBody('cursor', 'must be a nextCursor of this search');
      throw error;
    }
  }

  /** Before the claims, which are in another projection than the terms. */
  private async sizesOf(tenantId: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    const rows = await this.users.running.db
      .selectFrom('issuance_users')
      .select(['id', storedBytes(['sealed_claims', 'sealed_link']).as('bytes')])
      .where('tenant_id', '=', tenantId)
      .where('id', 'in', ids)
      .execute();
    return new Map(rows.map(({ id, bytes }) => [id, Number(bytes)]));
  }

  /** In the order of the ids; users that were deleted meanwhile are left out. */
  private async load(tenantId: string, ids: readonly string[]): Promise<User[]> {
    if (ids.length === 0) return [];
    const rows = await this.users.running.db
      .selectFrom('issuance_users')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('id', 'in', ids)
      .execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    const found = ids.flatMap((id) => byId.get(id) ?? []);
    const opened = await Promise.all(
      found.map((row) =>
        this.claims.viewOf(tenantId, { id: row.id, sealedClaims: row.sealed_claims, sealedLink: row.sealed_link }),
      ),
    );
    return opened.filter((one): one is User => !isErased(one));
  }
}

/** @throws AppError 400 for more than {@link MAX_SEARCH_VALUES} */
const criteriaOf = ({ claims = {}, authenticationProvider = {} }: SearchUsersRequest): SearchValue[] => {
  const most = MAX_SEARCH_VALUES + 1;
  const values = [
    ...searchValues('claims', claims, most),
    ...searchValues('authenticationProvider', authenticationProvider, most),
  ];
  if (values.length > MAX_SEARCH_VALUES)
    throw invalidBody('claims', `must have at most ${MAX_SEARCH_VALUES} values together with authenticationProvider`);
  return values;
};
