/** @engines embedded postgres */
import { insertRows } from '@attestry/read-model';
import { analyze, EnginesUnderTest, plansOf } from '@attestry/testing/services';
import type { DidListTables } from './did-lists.projection.js';
import { DidListsReadModel } from './did-lists.read-model.js';

const FEW = { tenantId: '11111111-1111-4111-8111-111111111111', size: 1000 };
const MANY = { tenantId: '22222222-2222-4222-8222-222222222222', size: 30_000 };

const service = new EnginesUnderTest();
let lists: DidListsReadModel;
beforeAll(async () => {
  await service.open();
  lists = new DidListsReadModel(service.engines.readModels, service.engines.health, service.engines.vault.macs);
  await lists.onModuleInit();
  const { db } = lists.running;
  for (const { tenantId, size } of [FEW, MANY]) {
    const rows = Array.from({ length: size }, (_, n): DidListTables['did'] => ({
      tenant_id: tenantId,
      did: `did:web:example.com:${n}`,
      id: `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`,
      created_at: new Date(1_767_225_600_000 + n * 1000).toISOString(),
      registered: 1_767_225_600_000 + n * 1000,
      keys: '[]',
      document: '{}',
      signs_p256: 0,
      signs_ed25519: 1,
    }));
    await db.transaction().execute((trx) => insertRows(trx, 'did', rows));
  }
  await analyze(db, 'did');
}, 120_000);
afterAll(() => service.remove());

it('a page of DIDs, the first or a later one, reads equally many rows from large and small tables', async () => {
  const read: number[] = [];
  for (const { tenantId } of [FEW, MANY]) {
    const { nextCursor } = await lists.dids(tenantId, { limit: 100 });
    const plans = await plansOf(lists.running.db, async (db) => {
      const watched = Object.create(lists, { running: { value: { db } } }) as DidListsReadModel;
      const first = await watched.dids(tenantId, { limit: 100 });
      const second = await watched.dids(tenantId, { limit: 100, cursor: nextCursor! });
      expect([first.data.length, second.data.length]).toEqual([100, 100]);
    });
    expect(plans).toHaveLength(4);
    for (const { steps } of plans)
      expect(steps.filter((step) => /^SCAN|^Seq Scan|TEMP B-TREE|^Sort/.test(step))).toEqual([]);
    read.push(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0));
  }
  expect(read[1]).toBe(read[0]);
});
