import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Leases } from '@attestry/event-store';
import { openSqliteDatabase, type ReadModels } from '@attestry/read-model';
import { createLogger, Health } from '@attestry/service-kit';
import type { Kysely } from 'kysely';
import { FamilySweep, tokenFamilies, type TokenFamilyTables } from './family-sweep.js';
import type { TokenFamilies } from './token-families.js';

const NOW = '2026-03-01T00:00:00.000Z';
let folder: string;
let db: Kysely<TokenFamilyTables>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-families-'));
  db = await openSqliteDatabase({ file: join(folder, 'rows.db') });
  await tokenFamilies.create(db);
});
afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true });
});

const sweepOf = async (
  rows: readonly TokenFamilyTables['issuance_token_families'][],
  endSession: TokenFamilies['endSession'],
  readsOwnVersion = true,
) => {
  await db
    .insertInto('issuance_token_families')
    .values([...rows])
    .execute();
  const running = { db, health: { healthy: true, caughtUp: true }, readsOwnVersion };
  const sweep = new FamilySweep(
    { start: () => Promise.resolve(running) } as unknown as ReadModels,
    {} as Leases,
    { endSession } as unknown as TokenFamilies,
    new Health(),
    { now: () => new Date(NOW) },
    createLogger('silent'),
  );
  await sweep.onModuleInit();
  return { sweep };
};
const row = (id: string, end_reason: 'walletEnded' | '' = 'walletEnded') => ({
  tenant_id: 't',
  id,
  session_id: `of-${id}`,
  user_id: 'u',
  wallet_id: '',
  due_at: NOW,
  end_reason,
});
const left = async () =>
  (await db.selectFrom('issuance_token_families').select('id').orderBy('id').execute()).map(({ id }) => id);

describe('the sweep of token families [T360]', () => {
  it('ends those of persons and wallets that ended, not those that expired', async () => {
    const ended: unknown[] = [];
    const { sweep } = await sweepOf([row('a'), row('b', '')], async (...[tenantId, sessionId, reason]) => {
      ended.push([tenantId, sessionId, reason]);
    });
    expect(await sweep.sweep()).toBe(2);
    expect([ended, await left()]).toEqual([[['t', 'of-a', 'walletEnded']], []]);
  });

  it('that fails for one continues with the others, and tries that one again later', async () => {
    const attempts: string[] = [];
    const { sweep } = await sweepOf([row('a'), row('b')], async (_, sessionId) => {
      attempts.push(sessionId);
      if (sessionId === 'of-a') throw new Error('no such session');
    });
    expect([await sweep.sweep(), await left()]).toEqual([1, ['a']]);
    expect([await sweep.sweep(), await left()]).toEqual([0, ['a']]);
    expect(attempts).toEqual(['of-a', 'of-b']);
  });

  it('does nothing with tables of another version', async () => {
    const { sweep } = await sweepOf([row('a')], () => Promise.reject(new Error('unused')), false);
    expect([await sweep.sweep(), await left()]).toEqual([0, ['a']]);
  });
});
