import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPredecessor } from './predecessor.js';

describe('the predecessor of a commit', () => {
  let folder: string;
  let origin: string;
  const git = (root: string, ...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...words], { cwd: root })
      .toString()
      .trim();
  const commit = async (files: Record<string, string>): Promise<string> => {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(join(origin, file, '..'), { recursive: true });
      await writeFile(join(origin, file), text);
    }
    git(origin, 'add', '.');
    git(origin, 'commit', '--quiet', '--message', 'a change');
    return git(origin, 'rev-parse', 'HEAD');
  };
  const pageOf = (...versions: string[]) => ({
    'docs/releases.md': ['# Releases', ...versions.map((it) => `## ${it}`)].join('\n\n'),
  });
  const release = (version: string, ...before: string[]) =>
    commit({ ...pageOf(version, ...before), [`apps/e2e/fixtures/${version}/answers.json`]: '{}' });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-releases-'));
    origin = join(folder, 'origin');
    execFileSync('git', ['init', '--quiet', origin]);
    await commit({ ...pageOf('0.2.0'), file: 'before' });
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is the newest release, by the commit that adds its folder, whatever changes in it later', async () => {
    await release('0.2.0');
    const newest = await release('0.3.0', '0.2.0');
    await commit({ 'apps/e2e/fixtures/0.2.0/later.json': '{}' });
    expect(await findPredecessor(origin)).toEqual({ version: '0.3.0', commit: newest });
  });

  it('of a release, recorded or about to be, is the one before it', async () => {
    const first = await release('0.2.0');
    await commit(pageOf('0.3.0', '0.2.0'));
    expect(await findPredecessor(origin)).toEqual({ version: '0.2.0', commit: first });
    await release('0.3.0', '0.2.0');
    expect(await findPredecessor(origin)).toEqual({ version: '0.2.0', commit: first });
  });

  it('of the first release is an error', async () => {
    await release('0.2.0');
    await expect(findPredecessor(origin)).rejects.toThrow('no release precedes this commit');
  });

  it('cannot be found in a clone that is too shallow', async () => {
    await release('0.2.0');
    for (const file of ['one', 'two', 'three']) await commit({ file });
    const shallow = join(folder, 'shallow');
    git(folder, 'clone', '--quiet', '--depth', '2', `file://${origin}`, shallow);
    await expect(findPredecessor(shallow)).rejects.toThrow('too shallow for the commit of release 0.2.0');
  });
});
