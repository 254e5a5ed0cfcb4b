import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StaleEpoch } from '@attestry/event-store';
import type { Kysely } from 'kysely';
import { openSqliteDatabase } from './embedded/sqlite-dialect.js';
import { ProjectionRegistry } from './projection-registry.js';
import type { RegistryTables } from './projection-registry.js';

const projection = {
  name: 'things',
  version: 1,
  categories: ['thing'],
  types: ['ThingAdded'],
  tables: [],
  create: async () => undefined,
  project: async () => undefined,
};

describe('ProjectionRegistry', () => {
  let folder: string;
  let db: Kysely<RegistryTables>;
  let registry: ProjectionRegistry;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-registry-'));
    db = await openSqliteDatabase<RegistryTables>({ file: join(folder, 'a.db') });
    registry = new ProjectionRegistry(db);
    await registry.migrate();
  });
  afterEach(async () => {
    await db.destroy();
    await rm(folder, { recursive: true });
  });

  it('moves a checkpoint only with the newest epoch and from its current position', async () => {
    const g = await registry.openGeneration(projection);
    const advance = (epoch: number, from: string | undefined, to: string) =>
      db.transaction().execute((trx) => registry.advance(trx, g, epoch, from, to));
    await registry.takeOver(projection, 1);
    await advance(1, undefined, '5');
    await registry.takeOver(projection, 2);
    await expect(advance(1, '5', '6')).rejects.toThrow(StaleEpoch);
    await expect(advance(2, '4', '6')).rejects.toThrow(StaleEpoch);
    await expect(registry.takeOver(projection, 1)).rejects.toThrow(StaleEpoch);
    await expect(registry.switchTo({ ...g, generation: 2 }, 1, 0, async () => true)).rejects.toThrow(StaleEpoch);
    await advance(2, '5', '6');
    expect((await registry.current('things'))?.position).toBe('6');
  });
});
