import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Leases } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { defineProjection, openSqliteDatabase, type ReadModels } from '@attestry/read-model';
import type { Kysely } from 'kysely';
import { Health } from '../process/health.js';
import { createLogger } from '../process/logger.js';
import { KeyRotation, type RotatedKeys } from './key-rotation.js';
import { publishedKeys, type PublishedKeyRow } from './published-keys.js';

const NOW = Date.parse('2026-03-01T00:00:00.000Z');
const at = (days: number) => new Date(NOW + days * 86_400_000).toISOString();
const projection = defineProjection({
  name: 'webhooks.keys',
  version: 1,
  aggregates: [],
  tables: publishedKeys('webhook_key').tables,
  on: {},
});
let folder: string;
let db: Kysely<Record<string, PublishedKeyRow>>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-key-rotation-'));
  db = await openSqliteDatabase({ file: join(folder, 'rows.db') });
  await projection.create(db);
});
afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true });
});

class Rotation extends KeyRotation {
  static async start(keys: RotatedKeys, tenantKeyDays = 90) {
    const running = { db, readsOwnVersion: true, health: { healthy: true, caughtUp: true } };
    const rotation = new Rotation({
      name: 'webhooks.key-rotation',
      kind: 'webhook',
      keys,
      projection,
      config: { tenantKeyDays, tenantKeyLeadSeconds: 3600, tenantKeyOverlapSeconds: 3600 },
      readModels: { start: () => Promise.resolve(running) } as unknown as ReadModels,
      leases: {} as Leases,
      health: new Health(),
      clock: { now: () => new Date(NOW) },
      logger: createLogger('silent'),
    });
    await rotation.onModuleInit();
    return rotation;
  }
  get shown() {
    return this.fault;
  }
}

/** Keys of tenants a and b: one whose overlap is over, and a newest one that is a hundred days old. */
const addKeys = () =>
  db
    .insertInto('webhook_key')
    .values(
      ['a', 'b'].flatMap((tenant_id) => [
        { tenant_id, id: '1', signs_from: at(-200), published_until: at(-1) },
        { tenant_id, id: '2', signs_from: at(-100), published_until: null },
      ]),
    )
    .execute();

describe('the rotation of keys by schedule', () => {
  it('goes on with the next tenant when a key of one cannot be retired or replaced, and tries that one again later', async () => {
    await addKeys();
    const calls: string[] = [];
    const attempt = (what: string) => async (tenantId: string) => {
      calls.push(`${what} ${tenantId}`);
      if (tenantId === 'a') throw new Error(`cannot ${what}`);
      return { kid: 'k', signsFrom: at(0) };
    };
    const rotation = await Rotation.start({
      rotate: attempt('rotate'),
      retire: async (tenantId) => void (await attempt('retire')(tenantId)),
    });
    await rotation.runJob({ isHeld: true });
    expect(calls).toEqual(['retire a', 'retire b', 'rotate a', 'rotate b']);
    expect(rotation.shown).toBe('webhook key not retired (1), the last one: cannot retire');
    await rotation.runJob({ isHeld: true });
    // The rows of b remain until the projection has its events.
    expect(calls.slice(4)).toEqual(['retire b', 'rotate b']);
  });

  it('leaves alone tenants without keys, newer keys, and all keys where none is due to age', async () => {
    await addKeys();
    await db
      .insertInto('webhook_key')
      .values({ tenant_id: 'c', id: '1', signs_from: at(-1), published_until: null })
      .execute();
    const rotated: string[] = [];
    const keys: RotatedKeys = {
      rotate: async (tenantId) => {
        rotated.push(tenantId);
        throw new KeyNotFound(tenantId);
      },
      retire: async () => undefined,
    };
    const rotation = await Rotation.start(keys);
    await rotation.runJob({ isHeld: true });
    expect([rotated, rotation.shown]).toEqual([['a', 'b'], undefined]);
    await (await Rotation.start(keys, 0)).runJob({ isHeld: true });
    expect(rotated).toEqual(['a', 'b']);
  });
});
