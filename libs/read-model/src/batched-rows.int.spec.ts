import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { BatchedRows } from './batched-rows.js';
import { openSqliteDatabase } from './embedded/sqlite-dialect.js';

interface Tables {
  thing: { owner: string; id: string; text: string };
}

describe('BatchedRows', () => {
  let folder: string;
  let db: Kysely<Tables>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-batched-'));
    db = await openSqliteDatabase<Tables>({ file: join(folder, 'rows.db') });
    await db.schema
      .createTable('thing')
      .addColumn('owner', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('text', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('thing_pk', ['owner', 'id'])
      .execute();
    await db
      .insertInto('thing')
      .values(['x', 'y', 'z'].map((id) => ({ owner: 'a', id, text: 'before' })))
      .execute();
  });
  afterEach(async () => {
    await db.destroy();
    await rm(folder, { recursive: true });
  });
  const batch = (change: (rows: BatchedRows<Tables, 'thing'>) => void) =>
    db.transaction().execute(async (trx) => {
      const rows = new BatchedRows(trx, 'thing', ['owner', 'id']);
      change(rows);
      await rows.write();
      await rows.write();
    });
  const all = async () => {
    const rows = await db.selectFrom('thing').selectAll().orderBy('owner').orderBy('id').execute();
    return rows.map(({ owner, id, text }) => `${owner}${id} ${text}`);
  };

  it('inserts new rows, replaces existing ones and removes rows, each for its owner', async () => {
    await batch((rows) => {
      rows.insert({ owner: 'a', id: 'x', text: 'passed' });
      rows.insert({ owner: 'b', id: 'x', text: 'new' });
      rows.put({ owner: 'a', id: 'y', text: 'put' });
      rows.remove('a', 'z');
      rows.remove('b', 'z');
    });
    expect(await all()).toEqual(['ax before', 'ay put', 'bx new']);
  });

  it('keeps the last change of a key, as if each had been written separately', async () => {
    await batch((rows) => {
      rows.remove('a', 'x');
      rows.insert({ owner: 'a', id: 'x', text: 'again' });
      rows.insert({ owner: 'a', id: 'x', text: 'passed' });
      rows.put({ owner: 'a', id: 'y', text: 'put' });
      rows.remove('a', 'y');
      rows.insert({ owner: 'c', id: '1', text: 'short-lived' });
      rows.remove('c', '1');
      rows.insert({ owner: 'c', id: '2', text: 'first' });
      rows.put({ owner: 'c', id: '2', text: 'second' });
    });
    expect(await all()).toEqual(['ax again', 'az before', 'c2 second']);
  });

  it('returns a batched row, so that it can be changed before it is written', async () => {
    await batch((rows) => {
      expect(rows.gathered('a', 'x')).toBeUndefined();
      rows.insert({ owner: 'b', id: 'x', text: 'gathered' });
      rows.gathered('b', 'x')!.text = 'changed';
      rows.remove('b', 'y');
      expect(rows.gathered('b', 'y')).toBeUndefined();
    });
    expect(await all()).toEqual(['ax before', 'ay before', 'az before', 'bx changed']);
  });
});
