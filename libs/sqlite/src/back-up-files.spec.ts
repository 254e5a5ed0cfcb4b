import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { backUpFiles } from './back-up-files.js';

describe('a backup of several files', () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-backup-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (name: string) => {
    const db = new DatabaseSync(path(name), { timeout: 5000 });
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t (n INTEGER)');
    return db;
  };
  const count = (db: DatabaseSync) => (db.prepare('SELECT count(*) AS n FROM t').get() as { n: number }).n;

  it('contains all of them at one moment, while writers continue', async () => {
    const [first, second] = [open('a.db'), open('b.db')];
    const filler = 'x'.repeat(500);
    first.exec('CREATE TABLE filler (text TEXT)');
    const fill = first.prepare('INSERT INTO filler VALUES (?)');
    first.exec('BEGIN');
    for (let n = 0; n < 40_000; n++) fill.run(filler);
    first.exec('COMMIT');
    const insert = [first, second].map((db) => db.prepare('INSERT INTO t VALUES (1)'));
    let written = 0;
    let stopped = false;
    // One file after the other: what is in the second is in the first.
    const writing = (async () => {
      for (; !stopped; written++) {
        for (const statement of insert) statement.run();
        await new Promise(setImmediate);
      }
    })();
    while (written < 10) await new Promise(setImmediate);
    const before = written;
    // Taken in the other order.
    await backUpFiles([
      { from: path('b.db'), to: path('b.copy') },
      { from: path('a.db'), to: path('a.copy') },
    ]);
    const during = written - before;
    stopped = true;
    await writing;
    const [a, b] = ['a.copy', 'b.copy'].map((name) => new DatabaseSync(path(name)));
    expect(during).toBeGreaterThan(0);
    expect(count(a!)).toBeGreaterThanOrEqual(before);
    expect(count(a!) - count(b!)).toBeGreaterThanOrEqual(0);
    expect(count(a!) - count(b!)).toBeLessThanOrEqual(1);
    expect(a!.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect((await stat(path('a.copy'))).mode & 0o777).toBe(0o600);
    for (const db of [first, second, a!, b!]) db.close();
  });

  it('overwrites nothing', async () => {
    open('a.db').close();
    open('b.db').close();
    await expect(backUpFiles([{ from: path('a.db'), to: path('b.db') }])).rejects.toThrow(/EEXIST/);
  });
});
