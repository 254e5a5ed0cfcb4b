import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { insertRows } from '../insert-rows.js';
import { migrate } from '../migrate.js';
import { openSqliteDatabase } from './sqlite-dialect.js';

interface Tables {
  item: { id: number; done: number | boolean };
}

describe.each([1, 0])('SQLite dialect with %i reader(s)', (readers) => {
  let folder: string;
  let db: Kysely<Tables>;
  const ids = async () => (await db.selectFrom('item').select('id').orderBy('id').execute()).map((row) => row.id);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-dialect-'));
    db = await openSqliteDatabase<Tables>({ file: join(folder, 'a.db'), readers, pragmas: ['busy_timeout = 50'] });
    await migrate(db, 'spec', [
      {
        name: '0001-item',
        async up(trx) {
          await trx.schema
            .createTable('item')
            .addColumn('id', 'integer', (c) => c.primaryKey())
            .addColumn('done', 'integer', (c) => c.notNull())
            .execute();
        },
      },
    ]);
  });
  afterEach(async () => {
    await db.destroy();
    await rm(folder, { recursive: true });
  });

  it('writes, returns and counts', async () => {
    const inserted = await db.insertInto('item').values({ id: 1, done: true }).returningAll().execute();
    expect(inserted).toEqual([{ id: 1, done: 1 }]);
    expect((await db.deleteFrom('item').executeTakeFirst()).numDeletedRows).toBe(1n);
  });

  it('rolls a failed transaction back and continues', async () => {
    const failing = db.transaction().execute(async (trx) => {
      await trx.insertInto('item').values({ id: 1, done: 0 }).execute();
      await trx.insertInto('item').values({ id: 1, done: 0 }).execute();
    });
    await expect(failing).rejects.toThrow('UNIQUE');
    await db.insertInto('item').values({ id: 2, done: 0 }).execute();
    expect(await ids()).toEqual([2]);
  });

  it('keeps writes outside a transaction out of it', async () => {
    const gate = Promise.withResolvers<void>();
    const failing = db.transaction().execute(async (trx) => {
      await trx.insertInto('item').values({ id: 1, done: 0 }).execute();
      await gate.promise;
      throw new Error('no');
    });
    const outside = db.insertInto('item').values({ id: 2, done: 0 }).execute();
    gate.resolve();
    await expect(failing).rejects.toThrow('no');
    await outside;
    expect(await ids()).toEqual([2]);
  });

  it('writes many rows before the next statement of the transaction, at the latest with its commit', async () => {
    const item = (id: number) => ({ id, done: 0 });
    await db.transaction().execute(async (trx) => {
      await insertRows(trx, 'item', [item(1), item(2)]);
      await insertRows(trx, 'item', [item(3)]);
      expect(await trx.selectFrom('item').select('id').orderBy('id').execute()).toEqual([
        { id: 1 },
        { id: 2 },
        { id: 3 },
      ]);
      await insertRows(trx, 'item', [item(4)]);
    });
    expect(await ids()).toEqual([1, 2, 3, 4]);
    const failing = db.transaction().execute(async (trx) => {
      await trx.insertInto('item').values(item(5)).execute();
      await insertRows(trx, 'item', [item(6)]);
      await insertRows(trx, 'item', [{ id: 7, done: null as never }]);
    });
    await expect(failing).rejects.toThrow('NOT NULL');
    await expect(
      db.transaction().execute(async (trx) => {
        await insertRows(trx, 'item', [item(8)]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await db.transaction().execute(async () => undefined);
    expect(await ids()).toEqual([1, 2, 3, 4]);
  });

  it('writes nothing outside a transaction that could not begin', async () => {
    const other = new DatabaseSync(join(folder, 'a.db'));
    other.exec('BEGIN IMMEDIATE');
    const insert = (id: number) => async (trx: Kysely<Tables>) => {
      await trx.insertInto('item').values({ id, done: 0 }).execute();
    };
    await expect(
      db.transaction().execute(async (trx) => {
        await expect(insert(1)(trx)).rejects.toThrow('locked');
        other.exec('ROLLBACK');
        await insert(2)(trx);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await ids()).toEqual([]);
    await db.transaction().execute(insert(3));
    expect(await ids()).toEqual([3]);
    other.close();
  });

  it('supports savepoints', async () => {
    const trx = await db.startTransaction().execute();
    await trx.insertInto('item').values({ id: 1, done: 0 }).execute();
    const nested = await trx.savepoint('one').execute();
    await nested.insertInto('item').values({ id: 2, done: 0 }).execute();
    await nested.rollbackToSavepoint('one').execute();
    await trx.commit().execute();
    expect(await ids()).toEqual([1]);
  });

  it('runs each migration once', async () => {
    const runs: string[] = [];
    const steps = ['a', 'b'].map((name) => ({ name, up: async () => void runs.push(name) }));
    await migrate(db, 'other', steps.slice(0, 1));
    await migrate(db, 'other', steps);
    expect(runs).toEqual(['a', 'b']);
  });

  if (readers > 0) {
    it('reads the last committed data while a transaction is open', async () => {
      await db.insertInto('item').values({ id: 1, done: 0 }).execute();
      await db.transaction().execute(async (trx) => {
        await trx.insertInto('item').values({ id: 2, done: 0 }).execute();
        expect(await ids()).toEqual([1]);
      });
      expect(await ids()).toEqual([1, 2]);
    });
  }
});
