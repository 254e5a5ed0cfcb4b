import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARTICIPANTS } from '@attestry/contracts';
import { parseConfig } from '@attestry/service-kit';
import { skipSuite } from '@attestry/testing';
import { DCLinter } from 'dclint';
import { parse } from 'yaml';
import { repository } from './kube-tools.js';
import { nodeCommand } from './node-command.js';

const SERVICES = Object.keys(PARTICIPANTS);
const ENGINES = ['eventstore', 'nats', 'postgres', 'valkey'];
/** Compose configures no mail server. */
const OUTSIDE = Object.entries(PARTICIPANTS).flatMap(([name, { calls }]) => (calls && calls !== 'smtp' ? [name] : []));

interface Service {
  image?: string;
  build?: { context: string; dockerfile: string; target: string };
  command?: string[];
  profiles?: string[];
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  ports?: string[];
  networks?: string[];
  volumes?: string[];
  [member: string]: unknown;
}
interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, object>;
}

const file = join(repository, 'docker-compose.yml');
const text = readFileSync(file, 'utf8');
const compose = parse(text, { merge: true }) as Compose;
const { services } = compose;

const folder = mkdtempSync(join(tmpdir(), 'attestry-compose-'));
const envFile = join(folder, '.env');
const makeEnv = () =>
  spawnSync(process.execPath, [join(repository, 'deploy/compose/make-env.mjs'), envFile], { encoding: 'utf8' });
makeEnv();
afterAll(() => rmSync(folder, { recursive: true }));
const values = Object.fromEntries(
  readFileSync(envFile, 'utf8')
    .split('\n')
    .flatMap((line) =>
      /^[A-Z]/.test(line) ? [[line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]] : [],
    ),
) as Record<string, string>;

/** Compose fills variables in the same way: `${NAME:-default}` and `${NAME:?message}`. */
const filled = (value: string) =>
  value.replace(/\$\{([A-Z_]+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const found = values[name] || (kind === '-' ? rest : undefined);
    if (found === undefined) throw new Error(`${name} is not set`);
    return found;
  });
const environmentOf = (service: string) =>
  Object.fromEntries(Object.entries(services[service]!.environment).map(([name, value]) => [name, filled(value)]));

describe('docker-compose.yml', () => {
  it('fits the schema of the Compose specification', () => {
    const off = Object.fromEntries(
      // The other rules check the schema, doubled names and ports, ports of every interface, and images without a version.
      [
        'no-build-and-image',
        'no-quotes-in-volumes',
        'require-project-name-field',
        'require-quotes-in-ports',
        'service-dependencies-alphabetical-order',
        'service-keys-order',
        'services-alphabetical-order',
        'top-level-properties-order',
        'service-ports-alphabetical-order',
      ].map((rule) => [rule, 0 as const]),
    );
    const linter = new DCLinter({ rules: off, quiet: false, debug: false, exclude: [] });
    // Its declarations import without file endings, which leaves TypeScript with nothing.
    const results = linter.lintFiles([file], false) as { messages: { line: number; message: string }[] }[];
    expect(results).toHaveLength(1);
    const faults = results[0]!.messages.map(({ line, message }) => `${line}: ${message}`);
    expect(faults).toEqual([]);
  });

  it('has every service once, all with the same image, and every engine with a version', () => {
    const named = Object.entries(services).flatMap(([name, { environment }]) =>
      environment?.['SERVICE'] ? [[name, environment['SERVICE']]] : [],
    );
    expect(named).toEqual(SERVICES.map((it) => [it, it]));
    for (const service of [...SERVICES, 'migrate'])
      expect(services[service]).toMatchObject({
        image: services['gateway']!.image,
        build: { context: '.', dockerfile: 'deploy/Dockerfile', target: 'runtime' },
      });
    expect(Object.keys(services).sort()).toEqual([...SERVICES, ...ENGINES, 'migrate', 'demo'].sort());
    for (const engine of ENGINES) expect(services[engine]!.image).toMatch(/:[0-9][^:]*$/);
    expect(services['demo']!.profiles).toEqual(['demo']);
    for (const [name, { profiles }] of Object.entries(services)) if (name !== 'demo') expect(profiles).toBeUndefined();
  });

  it('starts the engines, then migrates once, then the services', () => {
    const healthy = Object.fromEntries(ENGINES.map((it) => [it, { condition: 'service_healthy' }]));
    expect(services['migrate']).toMatchObject({ restart: 'no', depends_on: healthy });
    expect(services['migrate']!.command).toEqual(['node', '--no-warnings', 'apps/platform/bundle/migrate.js']);
    for (const service of SERVICES)
      expect(services[service]!.depends_on).toEqual({
        ...healthy,
        migrate: { condition: 'service_completed_successfully' },
      });
    for (const name of [...SERVICES, ...ENGINES]) expect(services[name]!.healthcheck?.test?.length).toBeGreaterThan(1);
    for (const service of SERVICES)
      expect(services[service]!.healthcheck!.test).toEqual(['CMD', 'node', 'deploy/image/healthcheck.mjs', 'ready']);
    expect(Object.values(services['demo']!.depends_on!)).toEqual(
      SERVICES.map(() => ({ condition: 'service_healthy' })),
    );
  });

  it.each(SERVICES)('gives %s settings that it starts with', (service) => {
    const environment = environmentOf(service);
    expect(parseConfig(environment)).toMatchObject({ baseDomain: 'localhost:8080', port: 8080, host: '0.0.0.0' });
    expect(environment).toMatchObject({
      NATS_URL: 'nats://nats:4222',
      NATS_USER: service,
      NATS_PASSWORD: values[`NATS_PASSWORD_${service.toUpperCase().replaceAll('-', '_')}`],
      DATABASE_URL: `postgres://attestry:${values['DATABASE_PASSWORD']}@postgres:5432/attestry`,
      EVENTSTORE_URL: 'esdb://eventstore:2113?tls=false',
      REDIS_URL: `redis://:${values['VALKEY_PASSWORD']}@valkey:6379`,
    });
    for (const url of ['DATABASE_URL', 'REDIS_URL'])
      expect(new URL(environment[url]!).password).toBe(/:([^:@/]+)@/.exec(environment[url]!)![1]);
    expect(environment).not.toHaveProperty('MIGRATION_DATABASE_URL');
  });

  it("publishes only the gateway's port, on 127.0.0.1", () => {
    const published = Object.entries(services).flatMap(([name, { ports }]) =>
      (ports ?? []).map((it) => [name, filled(it)]),
    );
    expect(published).toEqual([['gateway', '127.0.0.1:8080:8080']]);
  });

  it('isolates the engines, and the services that need no outbound access, from external networks', () => {
    expect(compose.networks['engines']).toEqual({ internal: true });
    for (const [name, { networks, network_mode }] of Object.entries(services)) {
      if (name === 'demo') expect(network_mode).toBe('service:gateway');
      else expect([name, networks]).toEqual([name, OUTSIDE.includes(name) ? ['engines', 'outside'] : ['engines']]);
    }
  });

  it("runs nothing privileged, and the platform's services read-only and without capabilities", () => {
    for (const [name, service] of Object.entries(services)) {
      for (const member of ['privileged', 'pid', 'ipc', 'devices', 'cap_add', 'userns_mode', 'container_name'])
        expect([name, service[member]]).toEqual([name, undefined]);
      expect(service['security_opt']).toEqual(['no-new-privileges:true']);
      for (const volume of service.volumes ?? []) expect(volume).not.toContain('docker.sock');
      if (ENGINES.includes(name)) continue;
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], init: true });
      expect(service.volumes).toBeUndefined();
    }
  });

  it('stores the data of engines in named volumes', () => {
    for (const engine of ENGINES) {
      const named = services[engine]!.volumes!.map((it) => it.split(':')[0]!).filter((it) => !it.startsWith('.'));
      expect(named.length).toBeGreaterThan(0);
      for (const volume of named) expect(compose.volumes).toHaveProperty(volume);
    }
  });

  it('contains no secret: each comes from .env, and without it nothing starts', () => {
    for (const { environment = {} } of Object.values(services))
      for (const [name, value] of Object.entries(environment))
        if (/PASSWORD|SECRET|MASTER_KEY|_AUTH$|CLIENT_ID/.test(name)) expect(value).toMatch(/^\$\{[A-Z_]+:\?[^}]+\}$/);
        else expect(value).not.toMatch(/:\/\/[^$]*:[^$/]+@/);
    const required = new Set([...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name!));
    const empty = [...readFileSync(join(repository, 'deploy/compose/.env.example'), 'utf8').matchAll(/^([A-Z_]+)=$/gm)];
    expect([...required].sort()).toEqual(empty.map(([, name]) => name!).sort());
  });
});

describe('deploy/compose/make-env.mjs', () => {
  it('fills every secret once, readable by its owner only, and never overwrites', () => {
    expect(statSync(envFile).mode & 0o777).toBe(0o600);
    const secrets = Object.entries(values).filter(([name]) => /PASSWORD|SECRET|KEY|CLIENT/.test(name));
    // Master key, first client (2), Valkey, PostgreSQL (3), and a password for each service and for the migration.
    expect(secrets.length).toBe(7 + SERVICES.length + 1);
    for (const [, value] of secrets) expect(value).toMatch(/^[A-Za-z][A-Za-z0-9_-]{42}$/);
    expect(new Set(secrets.map(([, value]) => value)).size).toBe(secrets.length);
    const before = readFileSync(envFile, 'utf8');
    expect(makeEnv()).toMatchObject({ status: 1, stderr: expect.stringContaining('is there already') });
    expect(readFileSync(envFile, 'utf8')).toBe(before);
  });
});

// Version 2 is a plug-in of docker, version 1 a separate program; neither needs an engine to check a file.
const composeProgram = [['docker', 'compose'], ['docker-compose']].find(
  ([program, ...words]) => spawnSync(program!, [...words, 'version'], { stdio: 'ignore' }).status === 0,
);
if (!composeProgram) skipSuite('docker compose config', 'neither `docker compose` nor `docker-compose` is installed');
else
  describe('docker compose config', () => {
    const config = (...words: string[]) =>
      spawnSync(composeProgram[0]!, [...composeProgram.slice(1), '--file', file, ...words], {
        encoding: 'utf8',
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder },
        timeout: 20_000,
      });

    it('accepts the file, with and without the demo', () => {
      for (const profile of [[], ['--profile', 'demo']]) {
        const { status, stderr } = config('--env-file', envFile, ...profile, 'config', '-q');
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      }
    });

    it('fails without secrets, and names the command to run', () => {
      const nothing = join(folder, 'nothing.env');
      writeFileSync(nothing, '');
      const { status, stderr } = config('--env-file', nothing, 'config', '-q');
      expect(status).not.toBe(0);
      expect(stderr).toContain('make-env.mjs');
    });
  });

it('runs services with the command of the image, except the migration and the demo', () => {
  const commands = Object.entries(services).filter(([name, { command }]) => command && !ENGINES.includes(name));
  expect(commands.map(([name]) => name)).toEqual(['migrate', 'demo']);
  expect(nodeCommand.at(-1)).toBe('apps/platform/bundle/main.js');
});
