/** @engines embedded */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNatsServer, freePort, NatsServer, ownEnvironment, programOf, skipSuite } from '@attestry/testing';

const folder = mkdtempSync(join(tmpdir(), 'attestry-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));

const runProgram = (program: string, env: Record<string, string>, ...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', programOf(program), ...words], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...ownEnvironment(), ...env },
    timeout: 30_000,
  });
  return { status, stdout, stderr };
};

const PRODUCTION = {
  NODE_ENV: 'production',
  PORT: '0',
  PUBLIC_SCHEME: 'https',
  BASE_DOMAIN: 'example.com',
  MASTER_KEY: Buffer.alloc(32, 7).toString('base64url'),
  MANAGEMENT_CLIENT_ID: 'ops',
  MANAGEMENT_CLIENT_SECRET: 'a-secret-of-32-characters-or-more',
};
const OPEN = {
  ...PRODUCTION,
  SERVICE: 'management',
  NATS_URL: 'nats://127.0.0.1:4222',
  DATABASE_URL: 'postgres://attestry:database-word@127.0.0.1/attestry',
  REDIS_URL: 'redis://127.0.0.1',
};
const REFUSED = [
  /NATS_URL has no credentials: set NATS_USER/,
  /NATS_URL connects without TLS to 127\.0\.0\.1 \(127\.0\.0\.1\), which is not in PLAINTEXT_ENGINES: use tls:/,
  /DATABASE_URL connects without TLS to 127\.0\.0\.1 .*: use sslmode=verify-full, or add the network/,
  /REDIS_URL has no credentials: put the password/,
  /REDIS_URL connects without TLS to 127\.0\.0\.1 .*: use rediss:/,
];

describe('npm run doctor', () => {
  it('prints everything that production refuses at once, as startup does, and exits with 1', () => {
    const doctor = runProgram('doctor', OPEN);
    const start = runProgram('main', OPEN);
    expect([doctor.status, start.status]).toEqual([1, 1]);
    for (const refused of REFUSED) for (const text of [doctor.stdout, start.stderr]) expect(text).toMatch(refused);
    expect(start.stdout).toBe('');
    expect(doctor.stdout).toContain('5 refused: the process does not start');
    for (const text of [doctor.stdout, doctor.stderr, start.stderr]) expect(text).not.toMatch(/-word|a-secret-of/);
    for (const migrate of [runProgram('migrate', OPEN), runProgram('doctor', OPEN, '--migrate')]) {
      expect(migrate.status).toBe(1);
      for (const refused of REFUSED) expect(migrate.stdout + migrate.stderr).toMatch(refused);
    }
  });

  it('exits with 0 when nothing is refused, and leaves no files', () => {
    expect(runProgram('doctor', PRODUCTION)).toEqual({ status: 0, stdout: 'nothing refused\n', stderr: '' });
    const development = runProgram('doctor', { PORT: '0' });
    expect(development.status).toBe(0);
    expect(development.stdout).toContain('NODE_ENV is development: what only production refuses was not checked');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('connects to the engines of valid settings: one that is dead is named, and exits with 1', async () => {
    const port = await freePort();
    const env = {
      PORT: '0',
      DATABASE_URL: `postgres://attestry:database-word@127.0.0.1:${port}/attestry`,
      REDIS_URL: `redis://:redis-word@127.0.0.1:${port}`,
    };
    const { status, stdout, stderr } = runProgram('doctor', env);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    for (const setting of ['DATABASE_URL', 'REDIS_URL'])
      expect(stdout).toMatch(
        new RegExp(`refused  ${setting} names a server that cannot be used \\(ECONNREFUSED\\): start the server`),
      );
    expect(stdout).not.toMatch(/-word/);
    const migration = runProgram('doctor', env, '--migrate', '--json');
    expect(migration.status).toBe(1);
    expect(JSON.parse(migration.stdout)).toMatchObject({
      ok: false,
      refused: [expect.stringMatching(/^DATABASE_URL names a server that cannot be used/)],
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('tries the port and the data folder: what cannot be used is named, and exits with 1 [T693]', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    writeFileSync(join(folder, 'file'), '');
    try {
      const taken = runProgram('doctor', { HOST: '127.0.0.1', PORT: String(port), DATA_DIR: join(folder, 'file') });
      expect(taken).toMatchObject({ status: 1, stderr: '' });
      expect(taken.stdout).toContain(`refused  port ${port} of 127.0.0.1 is in use: stop the process that uses it`);
      expect(taken.stdout).toMatch(/refused .+file cannot be used: .+ is not a folder: set DATA_DIR to a folder/);
    } finally {
      server.close();
      rmSync(join(folder, 'file'));
    }
    for (const program of ['doctor', 'main']) {
      const { status, stdout, stderr } = runProgram(program, { PORT: '0', DATA_DIR: '/proc/attestry' });
      expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(/\/proc\/attestry cannot be (used|made)/)]);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('skips a port on which Attestry runs: it may be that process which is examined [T693]', async () => {
    const answer = `require('http').createServer((_, r) => r.end('{"status":"live"}')).listen(0, '127.0.0.1', function () {
      console.log(this.address().port); })`;
    const running = spawn(process.execPath, ['-e', answer], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(running.stdout, 'data')) as [Buffer];
      const port = line.toString().trim();
      const { status, stdout } = runProgram('doctor', { HOST: '127.0.0.1', PORT: port, DATA_DIR: folder });
      expect([status, stdout]).toEqual([0, expect.stringContaining(`skipped  port ${port}: a process of Attestry`)]);
    } finally {
      running.kill();
    }
  });

  it('refuses unknown arguments', () => {
    expect(runProgram('doctor', PRODUCTION, '--fix')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/usage/),
    });
  });

  const program = findNatsServer();
  if (program === undefined) {
    skipSuite('an open NATS server in production', 'nats-server is not installed (Debian: apt install nats-server)');
    it.skip('an open NATS server in production', () => undefined);
  } else
    it('finds a NATS server that accepts any user, and no service starts with it', async () => {
      const server = await NatsServer.start(program);
      try {
        const env = {
          ...OPEN,
          NATS_URL: server.url,
          NATS_USER: 'management',
          NATS_PASSWORD: 'nats-word',
          REDIS_URL: 'redis://:redis-word@127.0.0.1',
          PLAINTEXT_ENGINES: '127.0.0.0/8',
        };
        const open =
          /NATS_URL names servers that accept clients without credentials \(nats:\/\/127\.0\.0\.1:\d+\): configure/;
        const [doctor, start] = [runProgram('doctor', env), runProgram('main', env)];
        expect([doctor.status, start.status]).toEqual([1, 1]);
        expect(doctor.stdout).toMatch(open);
        expect(start.stderr).toMatch(open);
        expect(existsSync(join(folder, '.attestry'))).toBe(false);
      } finally {
        await server.stop();
      }
    });
});
