/** @engines embedded postgres */
import type { ClientContext, PageQuery } from '@attestry/contracts';
import { insertRows } from '@attestry/read-model';
import { analyze, EnginesUnderTest, plansOf } from '@attestry/testing/services';
import { type Kysely } from 'kysely';
import { UserClaims } from '../user/user-claims.js';
import { UsersReadModel, type UserTables } from '../user/users.read-model.js';
import { ListUsers } from './list-users.js';

const FEW = { tenantId: '11111111-1111-4111-8111-111111111111', size: 1000 };
const MANY = { tenantId: '22222222-2222-4222-8222-222222222222', size: 30_000 };

const service = new EnginesUnderTest();
let users: UsersReadModel;
beforeAll(async () => {
  await service.open();
  users = new UsersReadModel(service.engines.readModels, service.engines.health);
  await users.onModuleInit();
  const { db } = users.running;
  for (const { tenantId, size } of [FEW, MANY]) {
    const rows = Array.from({ length: size }, (_, n): UserTables['issuance_users'] => ({
      tenant_id: tenantId,
      id: `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`,
      sealed_claims: null,
      sealed_link: null,
      created_at: new Date(1_767_225_600_000 + n * 1000).toISOString(),
    }));
    await db.transaction().execute((trx) => insertRows(trx, 'issuance_users', rows));
  }
  await analyze(db, 'issuance_users');
}, 120_000);
afterAll(() => service.remove());

const list = (db: Kysely<UserTables>, id: string, query: PageQuery) => {
  const { vault, logger } = service.engines;
  const handler = new ListUsers(
    { running: { db, ownWrites: async () => true } } as UsersReadModel,
    new UserClaims(vault.sealing, logger),
    vault.macs,
  );
  const tenant = { id, host: 'h', baseUrl: 'http://h' };
  return handler.execute({ params: {}, body: {}, query }, { tenant } as ClientContext);
};

it('a page of users, the first or a later one, reads equally many rows from large and small tables', async () => {
  const read: number[] = [];
  for (const { tenantId } of [FEW, MANY]) {
    const { nextCursor } = await list(users.running.db, tenantId, { limit: 100 });
    const plans = await plansOf(users.running.db, async (db) => {
      const first = await list(db, tenantId, { limit: 100 });
      const second = await list(db, tenantId, { limit: 100, cursor: nextCursor! });
      expect([first.data.length, second.data.length]).toEqual([100, 100]);
    });
    // The sizes, then the claims.
    expect(plans).toHaveLength(4);
    for (const { steps } of plans)
      expect(steps.filter((step) => /^SCAN|^Seq Scan|TEMP B-TREE|^Sort/.test(step))).toEqual([]);
    read.push(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0));
  }
  expect(read[1]).toBe(read[0]);
});
