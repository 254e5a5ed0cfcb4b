// Refuses subjects of commits that are longer than 72 characters or have another form than `type(scope): text` (CONTRIBUTING, Rules).
// Prints a line for each. `node scripts/lint-commits.mjs [folder]`; default: the repository.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** Earlier commits stay as they are. The start is a time and not a commit, because a shallow clone may lack the commit. */
const SINCE = '2026-11-28T20:30:00Z';
const LONGEST = 72;
const FORM = /^(?:feat|fix|perf|refactor|docs|test|style|build|ci|chore)(?:\([a-z0-9, -]+\))?!?: \S.*[^.\s]$/;
// The subject that `git revert` writes.
const REVERT = /^Revert "/;

const folder = process.argv[2] ?? root;
const faults = subjects().flatMap(({ commit, subject }) => {
  if (REVERT.test(subject)) return [];
  const length = [...subject].length;
  if (!FORM.test(subject)) return [`${commit}: "${subject}" is not of the form "type(scope): text"`];
  return length > LONGEST ? [`${commit}: "${subject}" has ${length} characters, more than ${LONGEST}`] : [];
});
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

/** Subjects of the available history, except merges: none in an archive without `.git`, few in a shallow clone. */
function subjects() {
  if (!existsSync(join(folder, '.git'))) return [];
  const words = ['log', '--no-merges', `--since=${SINCE}`, '--format=%h %s'];
  const log = execFileSync('git', words, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return log
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ commit: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }));
}
