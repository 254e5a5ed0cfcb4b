import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const script = join(dirname(fileURLToPath(import.meta.url)), '../../../scripts/lint-commits.mjs');

describe('the check of commit subjects', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lint-commits-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const git = (words: readonly string[], date = '2027-01-01T00:00:00Z') =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], {
      cwd: folder,
      env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
      stdio: 'pipe',
    });
  const commit = (subject: string, date?: string) => git(['commit', '--quiet', '--allow-empty', '-m', subject], date);
  const lint = (at = folder) => {
    const { status, stderr } = spawnSync(process.execPath, [script, at], { encoding: 'utf8' });
    const faults = stderr.split('\n').filter(Boolean);
    return { status, faults: faults.map((fault) => fault.replace(/^[0-9a-f]+: /, '')).sort() };
  };

  it('refuses subjects that are too long or have another form', () => {
    git(['init', '--quiet', '-b', 'main']);
    const long = `fix(dids): ${'a'.repeat(62)}`;
    for (const subject of [long, 'wip', 'feature(dids): a DID', 'fix(dids): a DID is deleted.', 'fix(dids) a DID'])
      commit(subject);
    expect(lint()).toEqual({
      status: 1,
      faults: [
        '"feature(dids): a DID" is not of the form "type(scope): text"',
        '"fix(dids) a DID" is not of the form "type(scope): text"',
        '"fix(dids): a DID is deleted." is not of the form "type(scope): text"',
        `"${long}" has 73 characters, more than 72`,
        '"wip" is not of the form "type(scope): text"',
      ],
    });
  });

  it('accepts other subjects, reverts, merges and commits from before the rule', () => {
    git(['init', '--quiet', '-b', 'main']);
    commit(
      'A subject from before the rule, which is much too long for the rule that came later',
      '2026-11-01T00:00:00Z',
    );
    commit(`feat(dids, issuance)!: ${'é'.repeat(49)}`);
    commit('docs: a page');
    commit('Revert "feat(dids): something with a subject that became too long by the word in front"');
    git(['checkout', '--quiet', '-b', 'other']);
    commit('test: a branch');
    git(['checkout', '--quiet', 'main']);
    git(['merge', '--quiet', '--no-ff', 'other', '-m', "Merge branch 'other'"]);
    expect(lint()).toEqual({ status: 0, faults: [] });
  });

  it('checks what a shallow clone has, and nothing without a history', () => {
    expect(lint()).toEqual({ status: 0, faults: [] });
    git(['init', '--quiet', '-b', 'main']);
    for (const subject of ['wip', 'more', 'test: a rule']) commit(subject);
    const clone = join(folder, 'clone');
    git(['clone', '--quiet', '--depth', '2', pathToFileURL(folder).href, clone]);
    expect(lint(clone)).toEqual({ status: 1, faults: ['"more" is not of the form "type(scope): text"'] });
  });
});
