import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDataFolder, DataFolderLocked, DataFolderUnusable, lockDataFolder } from './data-folder-lock.js';

describe('lockDataFolder', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'attestry-lock-'))));
  afterEach(() => rm(folder, { recursive: true }));

  it('refuses a second owner until the first releases the lock', async () => {
    const first = await lockDataFolder(folder);
    await expect(lockDataFolder(folder)).rejects.toBeInstanceOf(DataFolderLocked);
    expect((await stat(join(folder, 'lock.db'))).mode & 0o777).toBe(0o600);
    first.release();
    (await lockDataFolder(folder)).release();
  });

  it.each([
    ['a file', 'file', /file cannot be made: EEXIST/],
    ['a path below a file', join('file', 'data'), /data cannot be made: ENOTDIR/],
  ])('names %s, where no folder can be made', async (_what, path, message) => {
    await writeFile(join(folder, 'file'), '');
    const refused = lockDataFolder(join(folder, path));
    await expect(refused).rejects.toBeInstanceOf(DataFolderUnusable);
    await expect(refused).rejects.toThrow(message);
  });

  it('is refused below /proc, where making it would not end', async () => {
    await expect(lockDataFolder('/proc/attestry/data')).rejects.toThrow(
      '/proc/attestry/data cannot be made: /proc holds no files of programs',
    );
    expect(() => checkDataFolder('/proc/attestry')).toThrow(DataFolderUnusable);
  });

  it('is checked without being made', async () => {
    checkDataFolder(folder);
    checkDataFolder(join(folder, 'a', 'b'));
    await expect(stat(join(folder, 'a'))).rejects.toThrow('ENOENT');
    await writeFile(join(folder, 'file'), '');
    for (const path of ['file', join('file', 'data')])
      expect(() => checkDataFolder(join(folder, path))).toThrow(/file(\/data)? cannot be used: .+file is not a folder/);
  });

  it('names a lock file that is no database', async () => {
    const file = join(folder, 'lock.db');
    await writeFile(file, 'x'.repeat(4096));
    await expect(lockDataFolder(folder)).rejects.toThrow(`${file}: file is not a database`);
  });

  it('refuses another process until the owner is killed', async () => {
    const source = new URL('../dist/data-folder-lock.js', import.meta.url).href;
    const script = `import { lockDataFolder } from ${JSON.stringify(source)};
      await lockDataFolder(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(owner.stdout, 'data');
    await expect(lockDataFolder(folder)).rejects.toBeInstanceOf(DataFolderLocked);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    (await lockDataFolder(folder)).release();
  });
});
