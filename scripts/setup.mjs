// First step of every command script: packages installed, the repository's own Node running, sources built.
// No dependencies and nothing newer than Node 18 here: this file runs before `npm ci` has ever been called.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { note, step } from './cli/progress.mjs';

/** The folder of the repository, absolute. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const lockFile = join(root, 'package-lock.json');
const stampFile = join(root, 'node_modules', '.attestry-lock-hash');
const binFolder = join(root, 'node_modules', '.bin');
const neededMajor = 26;

/**
 * Installs the packages of package-lock.json if they are not installed, and makes sure that the script runs on
 * Node 26: on an older version it starts itself again on the repository's Node and never returns.
 */
export async function ensureInstalled() {
  if (!isInstalled()) await install();
  if (major(process.version) < neededMajor) return runAgainOnRepositoryNode();
  const path = process.env.PATH ?? '';
  if (!path.split(delimiter).includes(binFolder)) process.env.PATH = `${binFolder}${delimiter}${path}`;
  // Compiled code is cached for the next process: a service starts in three quarters of the time.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'compiled');
}

export const isPackageInstalled = (name) => existsSync(join(root, 'node_modules', name, 'package.json'));

/** Compiles what changed since the last build; prints the error of each file that does not compile. @throws Error when there is one */
export async function ensureBuilt() {
  const { build } = await import('./build.mjs');
  const result = await build();
  if (result.errors.length > 0) {
    for (const error of result.errors) note(error);
    throw new Error(`${result.errors.length} files do not compile; correct them and run the command again`);
  }
}

function isInstalled() {
  const lock = readFileSync(lockFile);
  const hash = createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return true;
  if (!holdsWhatTheLockSays(JSON.parse(lock.toString('utf8')))) return false;
  writeFileSync(stampFile, hash);
  return true;
}

// `npm ci` may have been run by hand: npm's own list of what it installed decides.
function holdsWhatTheLockSays(lock) {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (!path.includes('node_modules/')) return true;
    const found = installed[path];
    if (!found) return wanted.optional === true || wanted.devOptional === true || wanted.peer === true;
    return found.version === wanted.version && found.link === wanted.link;
  });
}

async function install() {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'));
  const count = Object.keys(packages).filter((path) => path.includes('node_modules/')).length;
  note(
    `Installing up to ${count} packages into node_modules with npm ci, Node ${neededMajor} included. ` +
      'This happens the first time and when package-lock.json has changed.',
  );
  // The Node in node_modules/.bin goes away while npm works, so npm must not run on it.
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== binFolder);
  // Warnings would name every package that needs a newer Node than the one npm runs on (EBADENGINE): ours comes with the packages.
  const words = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const status = await step('npm ci', () => runNpm(words, { ...process.env, PATH: path.join(delimiter) }));
  if (status !== 0) {
    note(
      `npm ci failed with exit code ${status}; its messages are above. Correct the cause and run the command again.`,
    );
    process.exit(1);
  }
  if (!isInstalled()) throw new Error('npm ci succeeded, but node_modules does not match package-lock.json');
}

function runNpm(words, env) {
  return new Promise((resolve, reject) => {
    const shell = process.platform === 'win32';
    // Standard output belongs to the result of the command.
    const child = spawn('npm', words, { cwd: root, env, stdio: ['ignore', 2, 2], shell });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
}

/** The path of a Node of the needed version that the packages brought, or undefined. */
export function repositoryNode() {
  const { optionalDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const packages = Object.keys(optionalDependencies).filter((it) => it.endsWith(`${platform}-${process.arch}`));
  const candidates = [...packages.map((it) => join(root, 'node_modules', it, 'bin', name)), join(binFolder, name)];
  return candidates.find((file) => {
    if (!existsSync(file)) return false;
    const answer = spawnSync(file, ['--version'], { encoding: 'utf8' });
    return answer.status === 0 && major(answer.stdout) >= neededMajor;
  });
}

function runAgainOnRepositoryNode() {
  const node = repositoryNode();
  if (!node || process.env.ATTESTRY_NODE_STARTED) {
    const platform = `${process.platform}-${process.arch}`;
    note(
      `Attestry needs Node ${neededMajor}. This is ${process.version}, and no npm package provides Node ${neededMajor} for ${platform}: install it and run the command with it.`,
    );
    process.exit(1);
  }
  const env = {
    ...process.env,
    ATTESTRY_NODE_STARTED: '1',
    PATH: `${binFolder}${delimiter}${process.env.PATH ?? ''}`,
  };
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

function major(version) {
  return Number(/^v?(\d+)/.exec(version.trim())?.[1]);
}
