import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { markReleasedFile, requireReleasedFolder, UnreleasedData } from './file-format.js';

describe('data of a version before the first release', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'attestry-format-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (name: string, ...pragmas: string[]) => {
    const db = new DatabaseSync(join(folder, name));
    for (const pragma of pragmas) db.exec(`PRAGMA ${pragma}`);
    db.exec('CREATE TABLE t (n INTEGER)');
    return db;
  };

  it.each([
    ['a file without a mark', 'events.db', []],
    ['one with a log', 'feed.db', ['journal_mode = WAL']],
    ['a file of another program', 'keys.db', ['application_id = 7']],
  ])('is recognized by %s, and stays as it is', (_what, name, pragmas: string[]) => {
    write(name, ...pragmas).close();
    const before = readFileSync(join(folder, name));
    expect(() => requireReleasedFolder(folder)).toThrow(`${folder} has data of version 0.1.0`);
    const db = new DatabaseSync(join(folder, name));
    expect(() => markReleasedFile(db, name)).toThrow(UnreleasedData);
    db.close();
    expect(readFileSync(join(folder, name))).toEqual(before);
    expect(readdirSync(folder)).toEqual([name]);
  });

  it('is not a folder of a release, an empty one, or one whose creation was interrupted', () => {
    requireReleasedFolder(folder);
    writeFileSync(join(folder, 'events.db'), '');
    writeFileSync(join(folder, 'lock.db'), '');
    writeFileSync(join(folder, 'notes.txt'), 'x'.repeat(100));
    requireReleasedFolder(folder);
    const db = new DatabaseSync(join(folder, 'events.db'));
    markReleasedFile(db, 'events.db');
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)');
    // The mark is in the file before its first transaction leaves the log.
    requireReleasedFolder(folder);
    markReleasedFile(db, 'events.db');
    db.close();
  });
});
