import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { openSqliteDatabase } from './embedded/sqlite-dialect.js';
import { insertRows, putRows } from './insert-rows.js';

interface Tables {
  thing: { id: string; amount: number | null; text: string | null };
}

describe('insertRows', () => {
  let folder: string;
  let db: Kysely<Tables>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-rows-'));
    db = await openSqliteDatabase<Tables>({ file: join(folder, 'rows.db') });
    await db.schema
      .createTable('thing')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('amount', 'bigint')
      .addColumn('text', 'text')
      .execute();
  });
  afterEach(async () => {
    await db.destroy();
    await rm(folder, { recursive: true });
  });
  const insert = (rows: Tables['thing'][]) => db.transaction().execute((trx) => insertRows(trx, 'thing', rows));
  const all = () => db.selectFrom('thing').selectAll().orderBy('id').execute();

  it('stores values unchanged', async () => {
    const rows = [
      { id: 'a', amount: 9_007_199_254_740_991, text: 'quote " \' \\ \u0000 é 💶 {"json":[1]}' },
      { id: 'b', amount: -1, text: '123' },
      { id: 'c', amount: null, text: null },
      { id: 'd', amount: 0, text: '' },
    ];
    await insert(rows);
    expect(await all()).toEqual(rows);
  });

  it('skips existing rows, and accepts an empty list', async () => {
    await insert([{ id: 'a', amount: 1, text: 'first' }]);
    await insert([
      { id: 'a', amount: 2, text: 'second' },
      { id: 'b', amount: 2, text: 'b' },
    ]);
    await insert([]);
    expect(await all()).toMatchObject([{ text: 'first' }, { text: 'b' }]);
  });

  it('accepts more rows than a statement has parameters', async () => {
    await insert(Array.from({ length: 40_000 }, (_, n) => ({ id: `i${n}`, amount: n, text: null })));
    expect(await db.selectFrom('thing').select(db.fn.countAll().as('n')).execute()).toEqual([{ n: 40_000 }]);
  });

  it('replaces rows of the same key where they are put', async () => {
    const put = (rows: Tables['thing'][]) => db.transaction().execute((trx) => putRows(trx, 'thing', ['id'], rows));
    await insert([{ id: 'a', amount: 1, text: 'first' }]);
    await put([
      { id: 'a', amount: null, text: 'second' },
      { id: 'b', amount: 2, text: 'b' },
    ]);
    await put([]);
    expect(await all()).toEqual([
      { id: 'a', amount: null, text: 'second' },
      { id: 'b', amount: 2, text: 'b' },
    ]);
  });
});
