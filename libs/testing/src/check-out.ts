import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { repository } from './platform-process.js';

/** Another version of this repository: packages installed, sources built. */
export interface CheckedOut {
  commit: string;
  folder: string;
}

const run = promisify(execFile);
/** Text that says which packages a folder links, and of which repository. */
const LINKED = '.attestry-linked';
/** Text by which a command of that version knows that its packages are installed. */
const INSTALLED = '.attestry-lock-hash';

/** Output of git in a repository, without the last line break. @throws when it ends with an error */
export const git = async (words: readonly string[], root = repository): Promise<string> =>
  (await run('git', [...words], { cwd: root, maxBuffer: 1 << 26 })).stdout.trimEnd();

/**
 * Commits whose parents a shallow clone lacks: git takes all of their files for added.
 * @returns none for a complete clone
 */
export const shallowCommits = async (root = repository): Promise<Set<string>> => {
  const file = resolve(root, await git(['rev-parse', '--git-path', 'shallow'], root));
  return new Set(existsSync(file) ? (await readFile(file, 'utf8')).split('\n').filter(Boolean) : []);
};

/** The commit that a revision names. @throws when this clone lacks it */
export const commitOf = async (revision: string, root = repository): Promise<string> => {
  try {
    return await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`], root);
  } catch {
    const isShallow = (await git(['rev-parse', '--is-shallow-repository'], root)) === 'true';
    const hint = isShallow ? ': this clone is shallow, git fetch --unshallow completes it' : '';
    throw new Error(`git does not know ${revision}${hint}`);
  }
};

/** Writes the files of a commit to a new folder. */
export const exportCommit = async (commit: string, folder: string, root = repository): Promise<void> => {
  await mkdir(dirname(folder), { recursive: true });
  const half = await mkdtemp(join(dirname(folder), 'half-'));
  try {
    const archive = join(half, 'archive.tar');
    await git(['archive', `--output=${archive}`, commit], root);
    await mkdir(join(half, 'files'));
    await run('tar', ['-x', '-f', archive, '-C', join(half, 'files')]);
    await rename(join(half, 'files'), folder);
  } finally {
    await rm(half, { recursive: true, force: true });
  }
};

/**
 * Another version of this repository in a temporary folder, which is kept for the next call. Its packages are links to those of this
 * repository where processes use the same versions; otherwise npm installs them.
 * @param revision a tag, a branch or a commit
 * @throws when this clone lacks the commit, or when that version cannot be installed or built
 */
export const checkOut = async (revision: string): Promise<CheckedOut> => {
  const commit = await commitOf(revision);
  // Links lead to the packages of one repository.
  const owner = createHash('sha256').update(repository).digest('hex').slice(0, 8);
  const folder = join(tmpdir(), 'attestry-versions', `${commit}-${owner}`);
  if (!existsSync(folder)) await exportCommit(commit, folder);
  await linkPackages(folder);
  // Standard output belongs to the caller.
  const { status, error } = spawnSync('npm', ['run', 'build'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm run build of ${revision} ended with ${status}`);
  return { commit, folder };
};

interface Package {
  version?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  peer?: boolean;
}

type Packages = Record<string, Package>;

const packagesIn = async (file: string): Promise<Packages> =>
  (JSON.parse(await readFile(file, 'utf8')) as { packages: Packages }).packages;

/** Links the packages of this repository into a version that processes run with the same ones. */
const linkPackages = async (folder: string): Promise<void> => {
  const modules = join(folder, 'node_modules');
  const ours = join(repository, 'node_modules');
  const lock = await readFile(join(folder, 'package-lock.json'));
  const installed = await packagesIn(join(ours, '.package-lock.json'));
  const text = `${ours}\n${createHash('sha256').update(JSON.stringify(installed)).digest('hex')}\n`;
  const isLinked = existsSync(join(modules, LINKED));
  if (isLinked ? (await readFile(join(modules, LINKED), 'utf8')) === text : existsSync(modules)) return;
  await rm(modules, { recursive: true, force: true });
  if (!runsWith(installed, await packagesIn(join(folder, 'package-lock.json')))) return;
  await mkdir(modules);
  for (const name of await readdir(ours)) {
    if (name === '@attestry' || (name.startsWith('.') && name !== '.bin')) continue;
    await symlink(join(ours, name), join(modules, name));
  }
  await mkdir(join(modules, '@attestry'));
  for (const name of await workspaces(folder)) {
    const { name: to } = JSON.parse(await readFile(join(name, 'package.json'), 'utf8')) as { name: string };
    await symlink(relative(join(modules, '@attestry'), name), join(modules, to));
  }
  const hash = createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
  await writeFile(join(modules, INSTALLED), hash);
  await writeFile(join(modules, LINKED), text);
};

/** Whether each package that processes of that version load is installed here in its version. Those of its tests may differ. */
const runsWith = (installed: Packages, wanted: Packages): boolean =>
  Object.entries(wanted).every(([path, { version, link, dev, optional, devOptional, peer }]) => {
    if (link || dev || !path.includes('node_modules/')) return true;
    // It would be installed in the folder of a workspace, which is not linked.
    if (!path.startsWith('node_modules/')) return false;
    const found = installed[path];
    return found ? found.version === version : (optional ?? devOptional ?? peer ?? false);
  });

const workspaces = async (folder: string): Promise<string[]> => {
  const { workspaces: patterns } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    workspaces: string[];
  };
  const found = await Promise.all(
    patterns.map(async (pattern) => {
      if (!pattern.endsWith('/*')) return [join(folder, pattern)];
      const parent = join(folder, pattern.slice(0, -2));
      return (await readdir(parent)).map((name) => join(parent, name));
    }),
  );
  return found.flat().filter((path) => existsSync(join(path, 'package.json')));
};
