/** @engines embedded postgres */
import type { ClientContext, ListIssuedCredentialsQuery } from '@attestry/contracts';
import { insertRows } from '@attestry/read-model';
import { analyze, EnginesUnderTest, plansOf } from '@attestry/testing/services';
import { type Kysely } from 'kysely';
import { Formats } from '../../formats/formats.js';
import type { LdpVc } from '../../formats/ldp-vc/ldp-vc.js';
import { UsersReadModel, type UserTables } from '../../users/user/users.read-model.js';
import { ListIssuedCredentials } from './list-issued-credentials.js';

type Row = UserTables['issuance_credentials'];

const FEW = { tenantId: '11111111-1111-4111-8111-111111111111', size: 3000 };
const MANY = { tenantId: '22222222-2222-4222-8222-222222222222', size: 30_000 };

const service = new EnginesUnderTest();
let users: UsersReadModel;
const uuid = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;
const rowOf = (tenant_id: string, n: number): Row => ({
  ...{ tenant_id, id: uuid(n), user_id: uuid(n % 7), issued_at: new Date(1_767_225_600_000 + n * 1000).toISOString() },
  ...{ configuration_id: uuid(n % 4), format: n % 2 ? 'ldp_vc' : 'jwt_vc_json', type: `Type${n % 3}`, status: '' },
  record: JSON.stringify({ id: uuid(n) }),
});

beforeAll(async () => {
  await service.open();
  users = new UsersReadModel(service.engines.readModels, service.engines.health);
  await users.onModuleInit();
  await users.running.waitForHead(10_000);
  const { db } = users.running;
  for (const { tenantId, size } of [FEW, MANY]) {
    const rows = Array.from({ length: size }, (_, n) => rowOf(tenantId, n));
    await db.transaction().execute((trx) => insertRows(trx, 'issuance_credentials', rows));
  }
  await analyze(db, 'issuance_credentials');
}, 120_000);
afterAll(() => service.remove());

const list = (db: Kysely<UserTables>, id: string, query: ListIssuedCredentialsQuery) => {
  const handler = new ListIssuedCredentials(
    Object.assign(Object.create(UsersReadModel.prototype) as UsersReadModel, {
      running: { db, ownWrites: async () => true },
    }),
    new Formats([{ format: 'ldp_vc' } as LdpVc]),
    service.engines.vault.macs,
  );
  const context = { tenant: { id }, operation: 'issuance.list-issued-credentials.web-semantic' } as ClientContext;
  return handler.execute({ params: {}, body: {}, query }, context);
};

it.each<ListIssuedCredentialsQuery>([{}, { type: 'Type1' }])(
  'a page of issued credentials with %j reads equally many rows from large and small tables',
  async (filter) => {
    const read: number[] = [];
    for (const { tenantId } of [FEW, MANY]) {
      const { nextCursor } = await list(users.running.db, tenantId, { ...filter, limit: 100 });
      const plans = await plansOf(users.running.db, async (db) => {
        const first = await list(db, tenantId, { ...filter, limit: 100 });
        const second = await list(db, tenantId, { ...filter, limit: 100, cursor: nextCursor! });
        expect([first.data.length, second.data.length]).toEqual([100, 100]);
      });
      expect(plans).toHaveLength(4);
      for (const { steps } of plans)
        expect(steps.filter((step) => /^SCAN|^Seq Scan|TEMP B-TREE|^Sort/.test(step))).toEqual([]);
      read.push(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0));
    }
    expect(read[1]).toBe(read[0]);
  },
);

it('finds one credential by its id without reading others', async () => {
  const { db } = users.running;
  const plans = await plansOf(db, async (planned) => {
    const reader = Object.assign(Object.create(UsersReadModel.prototype) as UsersReadModel, {
      running: { db: planned, ownWrites: async () => true },
    });
    const row = await reader.credentialsOf(MANY.tenantId, 'ldp_vc').where('id', '=', uuid(4711)).executeTakeFirst();
    expect(row).toMatchObject({ id: uuid(4711), tenant_id: MANY.tenantId });
  });
  for (const { steps } of plans) expect(steps.filter((step) => /^SCAN|^Seq Scan/.test(step))).toEqual([]);
  expect(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0)).toBeLessThan(10);
});
