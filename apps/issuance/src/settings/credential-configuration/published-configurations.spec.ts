import type { ConfigurationsReadModel } from './configurations.read-model.js';
import { PublishedConfigurations } from './published-configurations.js';

describe('the configurations that metadata publishes', () => {
  /** Oldest first, as the read model lists them. */
  const stored = (...all: [id: string, version: number][]) => all.map(([id, version]) => ({ id, version }));
  const tenants: Record<string, { id: string; version: number }[]> = {};
  let reads = 0;
  const rowsOf = (tenantId: string) => [...tenants[tenantId]!].sort((a, b) => (a.id < b.id ? -1 : 1));
  const query = (tenantId = '') => ({
    selectFrom: () => query(),
    select: () => query(),
    where: (_column: string, _is: string, value: string) => query(value),
    orderBy: () => query(tenantId),
    execute: async () => rowsOf(tenantId),
  });
  const readModel = {
    running: { db: query() },
    listAll: async (tenantId: string) => {
      reads++;
      return [...tenants[tenantId]!];
    },
  };
  let published: PublishedConfigurations;
  beforeEach(() => (published = new PublishedConfigurations(readModel as unknown as ConfigurationsReadModel)));
  const idsOf = async (tenantId: string) => (await published.listActive(tenantId)).map(({ id }) => id);

  it('are read once as long as no id and no version changes', async () => {
    tenants['t1'] = stored(['b', 1], ['a', 1]);
    const first = await published.listActive('t1');
    expect(first.map(({ id }) => id)).toEqual(['b', 'a']);
    reads = 0;
    expect(await published.listActive('t1')).toBe(first);
    expect(reads).toBe(0);
  });

  it('are read again after each change, for that tenant alone', async () => {
    tenants['t2'] = stored(['a', 1]);
    tenants['t3'] = stored();
    expect([await idsOf('t2'), await idsOf('t3')]).toEqual([['a'], []]);
    reads = 0;
    tenants['t2'] = stored(['a', 2]);
    expect(await published.listActive('t2')).toMatchObject([{ version: 2 }]);
    tenants['t2'] = stored(['b', 2]);
    expect(await idsOf('t2')).toEqual(['b']);
    tenants['t2'] = stored(['b', 2], ['a', 1]);
    expect(await idsOf('t2')).toEqual(['b', 'a']);
    expect(await idsOf('t3')).toEqual([]);
    expect(reads).toBe(3);
  });
});
