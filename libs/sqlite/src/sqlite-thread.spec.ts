import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SqliteThread } from './sqlite-thread.js';

const JOBS = `
export function createJobs(db) {
  db.exec('CREATE TABLE t (v TEXT UNIQUE)');
  const insert = db.prepare('INSERT INTO t VALUES (?)');
  return {
    put: { kind: 'write', execute: (v) => { insert.run(v); if (v === 'bad') throw Object.assign(new Error('bad'), { code: 'Bad', details: [1] }); } },
    all: { kind: 'read', execute: () => db.prepare('SELECT v FROM t ORDER BY v').all().map((row) => row.v) },
    synchronous: { kind: 'read', execute: () => db.prepare('PRAGMA synchronous').get().synchronous },
    alone: { kind: 'exclusive', execute: () => db.isTransaction },
    inTransaction: { kind: 'write', execute: () => db.prepare('SELECT count(*) AS n FROM t').get().n },
  };
}`;

describe('SqliteThread', () => {
  let folder: string;
  let thread: SqliteThread;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-sqlite-'));
    await writeFile(join(folder, 'jobs.mjs'), JOBS);
    thread = await SqliteThread.spawn({ file: join(folder, 'a.db'), jobs: pathToFileURL(join(folder, 'jobs.mjs')) });
  });
  afterEach(async () => {
    await thread.close();
    await rm(folder, { recursive: true });
  });

  it('makes its files readable only by their owner', async () => {
    await thread.call('put', 'a');
    const files = (await readdir(folder)).filter((name) => name.startsWith('a.db'));
    expect(files.sort()).toEqual(['a.db', 'a.db-shm', 'a.db-wal']);
    for (const name of files) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  it('names a file that is not a database', async () => {
    const file = join(folder, 'text.db');
    await writeFile(file, 'x'.repeat(4096));
    const jobs = pathToFileURL(join(folder, 'jobs.mjs'));
    await expect(SqliteThread.spawn({ file, jobs })).rejects.toThrow(`${file}: file is not a database`);
  });

  it('refuses to run with less than full synchronization', async () => {
    const jobs = pathToFileURL(join(folder, 'jobs.mjs'));
    for (const pragma of ['synchronous = NORMAL', 'synchronous = OFF'])
      await expect(SqliteThread.spawn({ file: join(folder, 'b.db'), jobs, pragmas: [pragma] })).rejects.toThrow(
        /expected 2 \(FULL\)/,
      );
  });

  it.each([
    ['read-models.db', 1],
    ['analytics.db', 1],
    ['events.db', 2],
    ['operations.db', 2],
    ['feed.db', 2],
    ['replay.db', 2],
    ['sign-in.db', 2],
    ['my-read-models.db', 2],
  ])('synchronizes %s at level %i, and refuses any other level', async (name, level) => {
    const options = { file: join(folder, name), jobs: pathToFileURL(join(folder, 'jobs.mjs')) };
    const opened = await SqliteThread.spawn(options);
    expect(await opened.call('synchronous')).toBe(level);
    await opened.close();
    for (const other of [0, 1, 2].filter((one) => one !== level))
      await expect(SqliteThread.spawn({ ...options, pragmas: [`synchronous = ${other}`] })).rejects.toThrow(
        `PRAGMA synchronous is ${other}, expected ${level}`,
      );
  });

  it('rolls a failing job back alone and rejects only its call', async () => {
    const results = await Promise.allSettled(['a', 'bad', 'b'].map((v) => thread.call('put', v)));
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { message: 'bad', code: 'Bad', details: [1] } });
    expect(await thread.call('all')).toEqual(['a', 'b']);
  });

  it('stores the writes of one call together or not at all, beside the others of the group', async () => {
    const results = await Promise.allSettled([
      thread.call('put', 'a'),
      thread.call(SqliteThread.ALL, [
        ['put', 'b'],
        ['inTransaction', undefined],
      ]),
      thread.call(SqliteThread.ALL, [
        ['put', 'c'],
        ['put', 'bad'],
        ['put', 'd'],
      ]),
      thread.call(SqliteThread.ALL, [['put', 'e']]),
      thread.call(SqliteThread.ALL, [['all', undefined]]),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect(results[1]).toMatchObject({ value: [undefined, 2] });
    expect(results[2]).toMatchObject({ reason: { message: 'bad', code: 'Bad', details: [1], at: 1 } });
    expect(results[4]).toMatchObject({ reason: { message: 'all is not a write', at: 0 } });
    expect(await thread.call('all')).toEqual(['a', 'b', 'e']);
  });

  it('runs the jobs of several modules, each with its options, and refuses two of one name', async () => {
    const other = join(folder, 'other.mjs');
    await writeFile(
      other,
      `export const createJobs = (db, options) => ({ given: { kind: 'read', execute: () => options } });`,
    );
    const jobs = pathToFileURL(join(folder, 'jobs.mjs'));
    const further = [{ jobs: pathToFileURL(other), options: 'its own' }];
    const both = await SqliteThread.spawn({ file: join(folder, 'b.db'), jobs, further });
    await both.call('put', 'a');
    expect(await Promise.all([both.call('given'), both.call('all')])).toEqual(['its own', ['a']]);
    await both.close();
    const twice = SqliteThread.spawn({ file: join(folder, 'c.db'), ...further[0]!, further });
    await expect(twice).rejects.toThrow('two modules have the job given');
  });

  it('groups writes with reads between them, and the reads see the writes', async () => {
    const put = [thread.call('put', 'a'), thread.call('all'), thread.call('put', 'b'), thread.call('all')];
    expect((await Promise.all(put)).filter(Array.isArray)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('runs an exclusive job outside any transaction, between earlier and later jobs', async () => {
    const answers = await Promise.all([thread.call('put', 'a'), thread.call('alone'), thread.call('put', 'b')]);
    expect(answers[1]).toBe(false);
    expect(await thread.call('all')).toEqual(['a', 'b']);
  });

  it('rejects only the call whose arguments cannot be copied', async () => {
    const results = await Promise.allSettled([thread.call('put', () => 1), thread.call('put', 'a')]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled']);
  });

  it('finishes earlier calls before it closes, and refuses later ones', async () => {
    const put = thread.call('put', 'a');
    const closed = thread.close();
    await expect(thread.call('all')).rejects.toThrow('closed');
    await put;
    await closed;
  });
});
