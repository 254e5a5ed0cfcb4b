import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commitOf, exportCommit, shallowCommits } from './check-out.js';

describe('a commit of the repository', () => {
  let folder: string;
  let origin: string;
  let commits: string[];
  const git = (root: string, ...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...words], { cwd: root })
      .toString()
      .trim();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-commits-'));
    origin = join(folder, 'origin');
    execFileSync('git', ['init', '--quiet', origin]);
    commits = [];
    for (const text of ['first', 'second']) {
      await writeFile(join(origin, 'file'), text);
      git(origin, 'add', 'file');
      git(origin, 'commit', '--quiet', '--message', text);
      commits.push(git(origin, 'rev-parse', 'HEAD'));
    }
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is exported as it was committed', async () => {
    const to = join(folder, 'versions', commits[0]!);
    await exportCommit(await commitOf(commits[0]!.slice(0, 10), origin), to, origin);
    expect(await readFile(join(to, 'file'), 'utf8')).toBe('first');
    expect(await shallowCommits(origin)).toEqual(new Set());
  });

  it('that a shallow clone lacks is an error that says so', async () => {
    const shallow = join(folder, 'shallow');
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${origin}`, shallow);
    expect(await commitOf('HEAD', shallow)).toBe(commits[1]);
    await expect(commitOf(commits[0]!, shallow)).rejects.toThrow(
      `git does not know ${commits[0]}: this clone is shallow, git fetch --unshallow completes it`,
    );
    expect(await shallowCommits(shallow)).toEqual(new Set([commits[1]]));
  });

  it('that does not exist is an error that names it', async () => {
    await expect(commitOf('no-such-branch', origin)).rejects.toThrow(/^git does not know no-such-branch$/);
    await expect(commitOf('--help', origin)).rejects.toThrow('git does not know --help');
  });
});
