import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DockerfileParser, Keyword, type Instruction } from 'dockerfile-ast';
import ts from 'typescript';
import { repository } from './kube-tools.js';
import { nodeCommand } from './node-command.js';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const dockerfile = DockerfileParser.parse(read('deploy/Dockerfile'));
const instructions = dockerfile.getInstructions();
const stages = dockerfile.getFROMs().map((from) => from.getBuildStage());
const stageOf = (name: string): Instruction[] => {
  const starts = dockerfile.getFROMs();
  const index = stages.indexOf(name);
  const [first, next] = [starts[index]!, starts[index + 1]].map((it) => it?.getRange()!.start.line ?? Infinity);
  return instructions.filter((it) => it.getRange().start.line >= first! && it.getRange().start.line < next!);
};
const lines = (of: Instruction[], keyword: Keyword) =>
  of.filter((it) => it.getKeyword() === keyword).map((it) => it.getArgumentsContent() ?? '');

const root = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

describe('deploy/Dockerfile', () => {
  it('has stages, the last of which contains only the collected files', () => {
    expect(stages).toEqual(['manifests', 'dependencies', 'build', 'collect', 'runtime']);
    expect(
      stageOf('runtime')
        .filter((it) => it.getKeyword() === Keyword.COPY)
        .map(String),
    ).toEqual(['COPY --from=collect /out ./']);
    expect(lines(stageOf('runtime'), Keyword.RUN).join()).not.toMatch(/npm (ci|install)|apt-get|curl/);
  });

  it('is based on one image: the Node version that the packages install, by its full version', () => {
    const [base] = lines(instructions, Keyword.ARG);
    const versions = new Set(Object.values(root.optionalDependencies));
    expect(versions.size).toBe(1);
    expect(base).toBe(`NODE_IMAGE=node:${[...versions][0]}-slim`);
    for (const from of dockerfile.getFROMs().filter((it) => it.getImage() !== 'build'))
      expect(from.getImage()).toBe('${NODE_IMAGE}');
  });

  it('installs production dependencies only, without scripts and without a second Node', () => {
    expect(lines(stageOf('dependencies'), Keyword.RUN)).toEqual([
      'npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund',
    ]);
  });

  it('ends with a numeric user that is not root', () => {
    const users = lines(stageOf('runtime'), Keyword.USER);
    expect(users).toEqual(['10001:10001']);
    const after = stageOf('runtime').slice(stageOf('runtime').findIndex((it) => it.getKeyword() === Keyword.USER));
    expect(after.map((it) => it.getKeyword())).not.toContain(Keyword.RUN);
  });

  it('contains no package manager', () => {
    const [removed] = lines(stageOf('runtime'), Keyword.RUN);
    for (const name of ['lib/node_modules', 'bin/npm', 'bin/npx', 'bin/corepack', 'bin/yarn'])
      expect(removed).toContain(name);
  });

  it('contains no secret in a variable, an argument or a file', () => {
    const names = instructions
      .filter((it) => [Keyword.ENV, Keyword.ARG].includes(it.getKeyword() as Keyword))
      .map((it) => it.getArgumentsContent() ?? '');
    for (const text of names) expect(text).not.toMatch(/SECRET|PASSWORD|TOKEN|KEY|_URL|CREDENTIAL/i);
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toContain('*');
    expect(ignored).toContain('**/.env');
    expect(ignored.filter((it) => it.startsWith('!')).map((it) => it.slice(1))).toEqual([
      'package.json',
      'package-lock.json',
      '.npmrc',
      '.swcrc',
      'LICENSE',
      'apps',
      'libs',
      'bench',
      'scripts',
      'deploy/image',
    ]);
  });

  it('starts Node directly, with the flags of every platform process, and has a health check', () => {
    const [command] = lines(stageOf('runtime'), Keyword.CMD);
    expect(JSON.parse(command!)).toEqual(nodeCommand);
    expect(lines(stageOf('runtime'), Keyword.ENTRYPOINT)).toEqual([]);
    const [check] = lines(stageOf('runtime'), Keyword.HEALTHCHECK);
    expect(check).toMatch(/CMD \["node", "deploy\/image\/healthcheck\.mjs"\]$/);
    const labels = lines(stageOf('runtime'), Keyword.LABEL).join(' ');
    for (const label of ['title', 'licenses', 'version', 'revision'])
      expect(labels).toContain(`org.opencontainers.image.${label}=`);
  });
});

describe('the content of the image', () => {
  const shipped = ['apps', 'libs']
    .flatMap((it) => readdirSync(join(repository, it)).map((name) => `${it}/${name}`))
    .filter((it) => !['apps/e2e', 'libs/testing'].includes(it));
  const sources = shipped.flatMap((folder) =>
    (readdirSync(join(repository, folder, 'dist'), { recursive: true }) as string[])
      .filter((file) => file.endsWith('.js'))
      .map((file) => ({ file: join(folder, 'dist', file), text: read(join(folder, 'dist', file)) })),
  );
  const imports = (text: string) => ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);

  it('imports no missing package, and no test or development package', () => {
    const left = [];
    for (const source of sources)
      for (const name of imports(source.text)) {
        if (/^(\.|node:)/.test(name)) continue;
        const [scope, rest] = name.split('/');
        const bare = name.startsWith('@') ? `${scope}/${rest}` : scope!;
        const there = bare.startsWith('@attestry/')
          ? shipped.some((it) => it.endsWith(`/${rest}`))
          : bare in root.dependencies;
        if (!there) left.push(`${source.file}: ${name}`);
      }
    expect(sources.length).toBeGreaterThan(100);
    expect(left).toEqual([]);
  });
});

describe('deploy/image/healthcheck.mjs', () => {
  const check = (env: Record<string, string>, ...words: string[]) =>
    new Promise<{ status: number | null; stderr: string }>((resolve, reject) => {
      const child = spawn(process.execPath, [join(repository, 'deploy/image/healthcheck.mjs'), ...words], { env });
      let stderr = '';
      child.stderr.on('data', (chunk) => (stderr += chunk));
      child.on('error', reject);
      child.on('close', (status) => resolve({ status, stderr }));
    });

  it('passes on 200, fails on any other status and on a time-out, and prefers the admin port', async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url!);
      response.writeHead(request.url === '/health/live' ? 200 : 503).end('{"status":"not ready"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const PORT = String((server.address() as AddressInfo).port);
    try {
      expect(await check({ PORT })).toEqual({ status: 0, stderr: '' });
      expect(await check({ PORT: '1', ADMIN_PORT: PORT }, 'live')).toEqual({ status: 0, stderr: '' });
      expect(await check({ PORT }, 'ready')).toEqual({ status: 1, stderr: 'ready: 503 {"status":"not ready"}\n' });
      expect(requests).toEqual(['/health/live', '/health/live', '/health/ready']);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect(await check({ PORT })).toMatchObject({ status: 1, stderr: expect.stringContaining('ECONNREFUSED') });
  });
});
