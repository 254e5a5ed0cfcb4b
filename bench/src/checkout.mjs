// Another version of this repository, installed and built in a separate folder, which is kept per commit for the next run.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const run = (command, args, options) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, { maxBuffer: 1 << 30, ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}\n${stderr ?? ''}`);
  return stdout;
};

/**
 * @param root the repository's folder
 * @param ref any git revision: a tag, a branch, a commit
 * @returns {{commit: string, folder: string}}
 * @throws when git cannot resolve the name, or when that version cannot be installed or built
 */
export const checkOut = (root, ref) => {
  const commit = run('git', ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], { cwd: root })
    .toString()
    .trim();
  const versions = join(tmpdir(), 'attestry-versions');
  const folder = join(versions, commit);
  if (!existsSync(folder)) {
    mkdirSync(versions, { recursive: true });
    const half = mkdtempSync(join(versions, 'half-'));
    try {
      run('tar', ['-x', '-C', half], { input: run('git', ['archive', commit], { cwd: root }) });
      renameSync(half, folder);
    } finally {
      rmSync(half, { recursive: true, force: true });
    }
  }
  // Standard output belongs to the benchmark.
  run('npm', ['run', 'build'], { cwd: folder, stdio: ['ignore', 2, 2] });
  return { commit, folder };
};
