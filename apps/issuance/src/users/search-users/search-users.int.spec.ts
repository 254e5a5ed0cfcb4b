/** @engines embedded postgres */
import {
  AppError,
  createUser,
  deleteUser,
  searchUsers,
  updateUser,
  type ClientContext,
  type Operation,
  type PageOf,
  type SearchUsersRequest,
  type User,
} from '@attestry/contracts';
import { serviceContext } from '@attestry/service-kit';
import { insertRows } from '@attestry/read-model';
import { isOnPostgres, plansOf, ServiceUnderTest } from '@attestry/testing/services';
import { sql } from 'kysely';
import { issuanceService } from '../../index.js';
import { SignedInUsers } from '../user/signed-in-users.js';
import { UserClaims } from '../user/user-claims.js';
import { UsersReadModel } from '../user/users.read-model.js';
import { searchValues } from '../user-search/search-values.js';
import { termOf, UserSearchReadModel } from '../user-search/user-search.read-model.js';
import { SearchUsers } from './search-users.js';

const ACME = '10000000-0000-4000-8000-00000000000a';
const BETA = '10000000-0000-4000-8000-00000000000b';
const MANY = { tenantId: '20000000-0000-4000-8000-00000000000a', size: 20_000 };
const FEW = { tenantId: '20000000-0000-4000-8000-00000000000b', size: 2000 };

const service = new ServiceUnderTest(issuanceService);

beforeAll(() => service.open(), 60_000);
afterAll(() => service.remove());

const call = <T>(operation: Operation, request: object, tenantId = ACME) =>
  service.admin(operation, request, tenantId) as Promise<T>;
const search = (body: SearchUsersRequest, tenantId = ACME) => call<PageOf<User>>(searchUsers, { body }, tenantId);
const idsOf = async (body: SearchUsersRequest, tenantId = ACME) =>
  (await search(body, tenantId)).data.map(({ id }) => id);
const create = async (claims: Record<string, unknown>, tenantId = ACME) =>
  (await call<User>(createUser, { body: { claims } }, tenantId)).id;
const searchModel = () => service.get(UserSearchReadModel);
const terms = async (userId: string) =>
  searchModel().running.db.selectFrom('issuance_user_terms').selectAll().where('user_id', '=', userId).execute();
const details = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => undefined,
    (refused: unknown) => refused,
  );
  return error instanceof AppError ? error.details : error;
};

describe('users are found', () => {
  it('by all criteria, nested and exact, with their claims [T440]', async () => {
    const address = { locality: 'Perth', country: 'AU' };
    const ada = await create({ given_name: 'Ada', family: 'Lovelace', address });
    const bob = await create({ given_name: 'Bob', family: 'Lovelace', address: { ...address, locality: 'Sydney' } });
    expect((await search({ claims: { given_name: 'Ada' } })).data).toEqual([
      { id: ada, claims: { given_name: 'Ada', family: 'Lovelace', address } },
    ]);
    expect(await idsOf({ claims: { family: 'Lovelace' } })).toEqual([ada, bob]);
    expect(await idsOf({ claims: { family: 'Lovelace', address: { country: 'AU', locality: 'Sydney' } } })).toEqual([
      bob,
    ]);
    expect(await idsOf({ claims: { family: 'Lovelace', given_name: 'Eve' } })).toEqual([]);
    for (const claims of [{ family: 'lovelace' }, { family: 'Love' }, { address: {} }, { family: ['Lovelace'] }])
      expect([claims, await idsOf({ claims })]).toEqual([claims, []]);
  });

  it('by what they have now: replaced claims find nothing, new ones at once [T441]', async () => {
    const id = await create({ stage: 'one', kept: 'of stage' });
    await call(updateUser, { params: { id }, body: { claims: { stage: 'two', kept: 'of stage' } } });
    expect(await idsOf({ claims: { stage: 'one' } })).toEqual([]);
    expect(await idsOf({ claims: { stage: 'two', kept: 'of stage' } })).toEqual([id]);
    await call(updateUser, { params: { id }, body: {} });
    expect(await idsOf({ claims: { kept: 'of stage' } })).toEqual([]);
    expect((await terms(id)).map(({ term }) => term)).toEqual(['']);
  });

  it('by their identity at the authentication provider, together with claims [T440]', async () => {
    const signIns = service.get(SignedInUsers);
    const person = {
      providerId: BETA,
      url: 'https://login.example',
      claims: { team: 'red' },
      claimsToPersist: ['team'],
    };
    const signIn = (subjectId: string) =>
      signIns.findOrCreateUser(ACME, { ...person, subjectId } as never, serviceContext('issuance.search', ACME));
    const [one, two] = [await signIn('s1'), await signIn('s2')];
    expect(await idsOf({ authenticationProvider: { url: person.url } })).toEqual([one, two]);
    expect(
      await idsOf({ authenticationProvider: { providerId: BETA, subjectId: 's2' }, claims: { team: 'red' } }),
    ).toEqual([two]);
    expect(await idsOf({ claims: { providerId: BETA } })).toEqual([]);
    expect((await search({ authenticationProvider: { subjectId: 's1' } })).data).toMatchObject([
      { id: one, authenticationProvider: { subjectId: 's1' } },
    ]);
  });

  it('in every tenant, also after claims whose text is ill-formed, which a provider or an interaction hook may return [T480]', async () => {
    const signIns = service.get(SignedInUsers);
    const claims = { groups: ['\ud800'], team: 'of ill-formed groups' };
    const person = { providerId: BETA, url: 'https://login.example', subjectId: 'ill-formed' };
    const signedIn = { ...person, claims, claimsToPersist: ['groups', 'team'] } as never;
    const id = await signIns.findOrCreateUser(ACME, signedIn, serviceContext('issuance.search', ACME));
    const another = '10000000-0000-4000-8000-00000000000c';
    const later = await create({ team: 'of a later user' }, another);
    expect(await idsOf({ claims: { team: 'of ill-formed groups' } })).toEqual([id]);
    expect(await idsOf({ claims: { team: 'of a later user' } }, another)).toEqual([later]);
  });

  it('page by page; a cursor belongs to one search [T442]', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await create({ group: 'paged', n }));
    const first = await search({ claims: { group: 'paged' }, limit: 2 });
    const second = await search({ claims: { group: 'paged' }, limit: 2, cursor: first.nextCursor! });
    const third = await search({ claims: { group: 'paged' }, limit: 2, cursor: second.nextCursor! });
    expect([first, second, third].map(({ data }) => data.map(({ id }) => id))).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      ids.slice(4),
    ]);
    expect(third.nextCursor).toBeUndefined();
    const fault = [{ param: 'cursor', msg: 'must be a nextCursor of this search', location: 'body' }];
    for (const body of [{ claims: { group: 'other' } }, {}, { claims: { group: 'paged', n: 1 } }])
      expect(await details(search({ ...body, cursor: first.nextCursor! }))).toEqual(fault);
    expect(await details(search({ claims: { group: 'paged' }, cursor: first.nextCursor! }, BETA))).toEqual(fault);
    expect(await idsOf({ limit: 1000 })).toEqual(expect.arrayContaining(ids));
  });

  it('only in their tenant, whose index has other values [T443]', async () => {
    const claims = { shared: 'of both' };
    const [own, foreign] = [await create(claims), await create(claims, BETA)];
    expect(await idsOf({ claims })).toEqual([own]);
    expect(await idsOf({ claims }, BETA)).toEqual([foreign]);
    expect(await idsOf({}, BETA)).toEqual([foreign]);
    const all = [...(await terms(own)), ...(await terms(foreign))].map(({ term }) => term).filter(Boolean);
    expect(new Set(all).size).toBe(2);
  });

  it('no more once they are deleted, and then no value is left in the index, not even after a rebuild [T444]', async () => {
    const claims = { secret: 'canary of search' };
    const id = await create(claims);
    expect(await idsOf({ claims })).toEqual([id]);
    const rows = await terms(id);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('canary');
    await call(deleteUser, { params: { id } });
    expect(await idsOf({ claims })).toEqual([]);
    expect(await terms(id)).toEqual([]);
    await searchModel().running.rebuild();
    expect(await idsOf({ claims })).toEqual([]);
    expect(await terms(id)).toEqual([]);
    expect(await idsOf({ claims: { group: 'paged', n: 3 } })).toHaveLength(1);
  });

  it('with the first 500 values of their claims [T440]', async () => {
    const claims = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`many${n}`, n]));
    const id = await create(claims);
    expect(await idsOf({ claims: { many499: 499 } })).toEqual([id]);
    expect(await idsOf({ claims: { many500: 500 } })).toEqual([]);
  });
});

it('a search has at most 20 values [T445]', async () => {
  const claims = (count: number) => ({
    deep: Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, n])),
  });
  expect(await idsOf({ claims: claims(20) })).toEqual([]);
  const fault = {
    param: 'claims',
    msg: 'must have at most 20 values together with authenticationProvider',
    location: 'body',
  };
  expect(await details(search({ claims: claims(21) }))).toEqual([fault]);
  expect(await details(search({ claims: claims(20), authenticationProvider: { subjectId: 's' } }))).toEqual([fault]);
});

it('a page reads few rows in a large tenant, too, by its rarest value [T442]', async () => {
  const users = service.get(UsersReadModel);
  const { macs, sealing } = service.engines.vault;
  const isPostgres = isOnPostgres(searchModel().running.db);
  const claims = { country: 'AU', number: 'N7' };
  const [common, rare] = [{ country: 'AU' }, { number: 'N7' }].map((one) => searchValues('claims', one, 9)[0]!);
  for (const { tenantId, size } of [FEW, MANY]) {
    const row = (n: number) => ({
      tenant_id: tenantId,
      user_id: `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`,
      part: 'claims' as const,
      created_at: new Date(1_767_225_600_000 + n * 1000).toISOString(),
    });
    const all = Array.from({ length: size }, (_, n) => ({ ...row(n), term: termOf(macs, tenantId, common!) }));
    const some = Array.from({ length: 5 }, (_, n) => ({ ...row(n), term: termOf(macs, tenantId, rare!) }));
    const { db } = searchModel().running;
    await db.transaction().execute((trx) => insertRows(trx, 'issuance_user_terms', [...all, ...some]));
    if (isPostgres) await sql`analyze ${sql.table('issuance_user_terms')}`.execute(db);
  }
  const context = (tenantId: string) => ({ tenant: { id: tenantId, host: 'h', baseUrl: 'http://h' } }) as ClientContext;
  const read: number[] = [];
  for (const { tenantId } of [FEW, MANY]) {
    const plans = await plansOf(searchModel().running.db, async (db) => {
      const running = { db, ownWrites: async () => true };
      const handler = new SearchUsers(
        { running } as unknown as UserSearchReadModel,
        users,
        new UserClaims(sealing, service.engines.logger),
        macs,
      );
      for (const body of [
        { claims, limit: 3 },
        { claims: { country: 'AU' }, limit: 3 },
      ])
        await handler.execute({ params: {}, query: {}, body }, context(tenantId));
    });
    for (const { steps } of plans)
      expect(steps.filter((step) => /^SCAN (?!\(|some)|^Sort|TEMP B-TREE/.test(step))).toEqual([]);
    read.push(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0));
  }
  // PostgreSQL may count entries without the index, if statistics say that most are of the value.
  if (isPostgres) return;
  for (const rows of read) expect(rows).toBeLessThan(5000);
});
