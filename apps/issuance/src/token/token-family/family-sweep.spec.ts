import type { Lease, Leases } from '@attestry/event-store';
import type { ReadModels } from '@attestry/read-model';
import { createLogger, Health } from '@attestry/service-kit';
import { FamilySweep } from './family-sweep.js';
import type { TokenFamilies } from './token-families.js';

const lease: Lease = { name: 'x', holder: 'h', epoch: 1, expiresAt: 0 };
const leases = { acquire: () => Promise.resolve(lease), release: () => Promise.resolve() } as unknown as Leases;

const sweepOf = async (rows: readonly object[], endSession: TokenFamilies['endSession'], readsOwnVersion = true) => {
  const deleted: unknown[] = [];
  const selection: Record<string, unknown> = { execute: () => Promise.resolve(rows) };
  for (const part of ['selectAll', 'where', 'orderBy', 'limit']) selection[part] = () => selection;
  const deletion: Record<string, unknown> = { execute: () => Promise.resolve([]) };
  deletion['where'] = (column: string, _: string, value: string) => {
    if (column === 'id') deleted.push(value);
    return deletion;
  };
  const running = {
    db: { selectFrom: () => selection, deleteFrom: () => deletion },
    health: { healthy: true, caughtUp: true },
    readsOwnVersion,
  };
  const sweep = new FamilySweep(
    { start: () => Promise.resolve(running) } as unknown as ReadModels,
    leases,
    { endSession } as unknown as TokenFamilies,
    new Health(),
    { now: () => new Date() },
    createLogger('silent'),
  );
  await sweep.onModuleInit();
  return { sweep, deleted };
};
const row = (id: string, end_reason = 'walletEnded') => ({ tenant_id: 't', id, session_id: `of-${id}`, end_reason });

describe('the sweep of token families [T360]', () => {
  it('ends those of persons and wallets that ended, not those that expired', async () => {
    const ended: unknown[] = [];
    const { sweep, deleted } = await sweepOf([row('a'), row('b', '')], async (...[tenantId, sessionId, reason]) => {
      ended.push([tenantId, sessionId, reason]);
    });
    expect(await sweep.sweep()).toBe(2);
    expect([ended, deleted]).toEqual([[['t', 'of-a', 'walletEnded']], ['a', 'b']]);
  });

  it('that fails for one continues with the others, and fails', async () => {
    const { sweep, deleted } = await sweepOf([row('a'), row('b')], async (_, sessionId) => {
      if (sessionId === 'of-a') throw new Error('the store is away');
    });
    await expect(sweep.sweep()).rejects.toThrow('1 token families not ended');
    expect(deleted).toEqual(['b']);
  });

  it('does nothing with tables of an earlier release', async () => {
    const { sweep, deleted } = await sweepOf([row('a')], () => Promise.reject(new Error('unused')), false);
    expect([await sweep.sweep(), deleted]).toEqual([0, []]);
  });
});
