/** @engines embedded */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ownEnvironment, repository, startPlatformProcess, waitUntil, type PlatformProcess } from '@attestry/testing';
import { command } from './commands.js';

interface Option {
  long: string;
  flags: string;
  mandatory: boolean;
}
interface Registered {
  name(): string;
  options: Option[];
  registeredArguments: { name(): string; required: boolean }[];
}

const script = join(repository, 'scripts/attestry.mjs');
const load = (path: string) => import(pathToFileURL(join(repository, 'scripts', path)).href);
const { commandNames } = (await load('cli/commands.mjs')) as { commandNames(): string[] };
const { makeProgram } = (await load('cli/program.mjs')) as {
  makeProgram(names: string[]): Promise<{ commands: Registered[] }>;
};
const { commands } = await makeProgram(commandNames());
const named = commands.map((it) => [it.name(), it] as const);
/** Words that satisfy what a command requires. */
const required = ({ options, registeredArguments }: Registered) => [
  ...registeredArguments.filter((it) => it.required).map(() => 'create'),
  ...options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long, 'x']),
];

const folder = mkdtempSync(join(tmpdir(), 'attestry-command-line-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  code: number;
  out: string;
  err: string;
}
const run = (words: string[], env: Record<string, string> = {}, flags: string[] = []): Promise<Ended> =>
  new Promise((resolve) =>
    execFile(
      process.execPath,
      [...flags, script, ...words],
      { cwd: folder, env: { ...ownEnvironment(), ...env }, timeout: 60_000 },
      (error, out, err) => resolve({ code: error ? (error.code as number) : 0, out, err: withoutDurations(err) }),
    ),
  );
/** A busy machine prints more lines with the duration of a step. */
const withoutDurations = (text: string) => text.replace(/^.*: (?:running for|ended after) [\d.]+ s\n/gm, '');
const linesOf = (text: string) => text.split('\n').filter(Boolean);

describe('npx attestry', () => {
  it('is behind every npm script, and every command has a script', () => {
    const { scripts, bin } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    expect(bin).toEqual({ attestry: 'scripts/attestry.mjs' });
    const called = Object.values<string>(scripts).map((it) => /^node scripts\/attestry\.mjs (\S+)/.exec(it)?.[1]);
    expect([...new Set(called)].sort()).toEqual(commandNames());
  });

  it('lists every command with --help, and without a command, which is wrong usage [T667]', async () => {
    const help = await run(['--help']);
    expect(help).toMatchObject({ code: 0, err: '' });
    for (const [name] of named) expect(help.out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(await run([])).toEqual({ ...help, code: 2 });
  });

  it.each([
    ['unheard-of', undefined],
    ['strt', 'start'],
    ['Start', 'start'],
    ['dcotor', 'doctor'],
    ['rebuildprojection', 'rebuild-projection'],
    ['rotate', 'rotate-master-key or rotate-token-keys'],
    ['(x)', undefined],
  ])(
    'refuses %s with exit code 2 and one line that names the commands, and the nearest: %s [T668]',
    async (name, near) => {
      for (const words of [[name], ['help', name], [name, '--to', 'x']]) {
        const { code, out, err } = await run(words);
        expect({ code, out, lines: linesOf(err).length }).toEqual({ code: 2, out: '', lines: 1 });
        for (const [known] of named) expect(err).toContain(known);
        const hint = near === undefined ? '' : ` (Did you mean ${near}?)`;
        expect(err).toContain(`there is no command ${name}${hint}; commands: `);
      }
    },
  );

  it.each([
    ['start', ['--jsn'], '--json'],
    ['demo', ['--kep'], '--keep'],
    ['backup', ['--too', 'x'], '--to'],
    ['backup', ['--to', 'x', '--form=y'], '--from'],
    ['rebuild-projection', ['--al'], '--all'],
  ])('%s %j is refused with exit code 2 and the nearest option [T668]', async (name, words, near) => {
    const { code, out, err } = await run([name, ...words]);
    expect({ code, out, lines: linesOf(err).length }).toEqual({ code: 2, out: '', lines: 1 });
    expect(err).toContain(`(Did you mean ${near}?); allowed: `);
  });

  it('programs that an image starts without the command line name the nearest option too [T668]', async () => {
    const started = (words: string[]) => command('rebuild-projection', words).catch((error: object) => error);
    const stderr = expect.stringMatching(/^unknown option '--al' \(Did you mean --all\?\)\nusage: /) as string;
    expect(await started(['--al'])).toMatchObject({ code: 2, stdout: '', stderr });
  });

  it('rebuild-projection refuses an unknown projection with exit code 2, the nearest and the list [T669]', async () => {
    for (const words of [['analytics.event'], ['issuance.users', 'analytics.event'], ['analytics.event', '--json']]) {
      const { code, out, err } = await run(['rebuild-projection', ...words]);
      expect([code, linesOf(err).length]).toEqual([2, 1]);
      expect(err).toContain('there is no projection analytics.event (Did you mean analytics.events?); projections: ');
      expect(err).toContain('issuance.users');
      if (words.includes('--json')) expect(JSON.parse(out)).toEqual({ ok: false, error: err.trim() });
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  // The permission model of Node refuses to write files, to start processes and to use the network.
  it.each(named)('%s --help changes nothing and exits with 0', async (name, command) => {
    const permitted = ['--permission', '--allow-fs-read=*'];
    const { code, out, err } = await run([name, '--help'], {}, permitted);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const { flags } of command.options) expect(out).toContain(flags);
    expect(out).toContain('Examples:');
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(named)(
    '%s refuses an unknown option with exit code 2 and one line that names the known options',
    async (name, command) => {
      const { code, out, err } = await run([name, ...required(command), '--unheard-of', '--json']);
      expect(code).toBe(2);
      expect(linesOf(err)).toHaveLength(1);
      expect(err).toContain('--unheard-of');
      for (const { flags } of command.options) expect(err).toContain(flags);
      expect(JSON.parse(out)).toEqual({ ok: false, error: err.trim() });
    },
  );

  it.each(named.filter(([, command]) => required(command).length))(
    '%s refuses a missing argument or option with exit code 2 and one line that names it',
    async (name, command) => {
      const { code, out, err } = await run([name]);
      expect({ code, out, lines: linesOf(err).length }).toEqual({ code: 2, out: '', lines: 1 });
      const missing = command.options.find(({ mandatory }) => mandatory)?.flags;
      expect(
        [missing, ...command.registeredArguments.map((it) => it.name())].some((it) => it && err.includes(it)),
      ).toBe(true);
    },
  );

  it.each([
    ['an operand that a command does not take', ['doctor', 'everything']],
    ['a value that is not among the choices', ['copy-events', '--from', 'a', '--to', 'b', '--only', 'keys']],
    ['options that exclude each other', ['demo', '--keep', '--at', 'http://localhost:8080']],
    ['an address that is none', ['sign-in', '--issuer', 'here']],
    ['an unknown projection', ['rebuild-projection', 'unheard-of']],
    ['a number that is none', ['faults', '--repeat', 'often']],
  ])('refuses %s with exit code 2', async (_what, words) => {
    const { code, out, err } = await run(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toContain('    at ');
  });
});

describe('npx attestry sign-in at a provider of its own', () => {
  const form: Record<string, string>[] = [];
  /** Value in its discovery document (RFC 9207 §3). */
  let supported: boolean | undefined;
  let failure: Record<string, string | undefined> | undefined;
  const provider = createHttpServer((request, response) => {
    const url = new URL(request.url!, 'http://127.0.0.1');
    const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/realms/staff/`;
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/realms/staff/.well-known/openid-configuration')
      return void json({
        issuer,
        authorization_endpoint: `${issuer}auth?realm=staff`,
        token_endpoint: `${issuer}token`,
        authorization_response_iss_parameter_supported: supported,
      });
    if (url.pathname === '/realms/staff/token') {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        form.push(Object.fromEntries(new URLSearchParams(text)));
        json({ access_token: 'the.access.token' });
      });
      return;
    }
    form.push(Object.fromEntries(url.searchParams));
    const back = new URL(url.searchParams.get('redirect_uri')!);
    const answer = {
      state: url.searchParams.get('state')!,
      ...(supported && { iss: issuer }),
      ...(failure ?? { code: 'the-code' }),
    };
    for (const [name, value] of Object.entries(answer)) if (value !== undefined) back.searchParams.set(name, value);
    response.writeHead(302, { location: back.href }).end();
  });
  beforeAll(() => new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => provider.close(resolve)));

  const signIn = async (...words: string[]): Promise<Ended & { status: number }> => {
    const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/realms/staff/`;
    const child = spawn(process.execPath, [script, 'sign-in', '--issuer', issuer, ...words], {
      env: ownEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const ended = once(child, 'close');
    const address = await waitUntil(() => /^http\S+/m.exec(err)?.[0], { what: 'the address to open' });
    const { status } = await fetch(address);
    // A response that is not ours leaves the command waiting.
    if (status !== 200) child.kill();
    const [code] = (await ended) as [number];
    return { code, out, err, status };
  };

  it.each([[undefined], [true]])(
    'requests what --client-id and --scope say; iss in the response: %s [T767]',
    async (isSupported) => {
      [supported, failure] = [isSupported, undefined];
      form.length = 0;
      expect(await signIn('--client-id', 'staff cli', '--scope', 'openid email')).toMatchObject({
        code: 0,
        out: 'the.access.token\n',
      });
      const named = {
        client_id: 'staff cli',
        redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      };
      expect(form).toMatchObject([
        { ...named, realm: 'staff', scope: 'openid email', code_challenge_method: 'S256' },
        { ...named, grant_type: 'authorization_code', code: 'the-code' },
      ]);
    },
  );

  it('is client attestry-cli with the scope manage by default [T767]', async () => {
    [supported, failure] = [
      undefined,
      { error: 'invalid_scope', error_description: 'Invalid scopes: \u001b[2Jmanage' },
    ];
    form.length = 0;
    const { code, out, err } = await signIn();
    expect(form).toMatchObject([{ client_id: 'attestry-cli', scope: 'openid manage' }]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      'the sign-in failed: invalid_scope (Invalid scopes: ?[2Jmanage); name scopes of the provider with --scope',
    );
  });

  it.each([
    ['another iss', undefined, 'https://else.example'],
    ['another iss', true, 'https://else.example'],
    ['no iss, although the provider sends it,', true, undefined],
  ])('waits for its own response: one with %s is none (RFC 9207 §2.4) [T767]', async (_what, isSupported, iss) => {
    [supported, failure] = [isSupported, { code: 'the-code', iss }];
    form.length = 0;
    expect(await signIn()).toMatchObject({ status: 400, out: '' });
    expect(form).toHaveLength(1);
  });
});

describe('npx attestry call [T854]', () => {
  /** The authorization host and the tenant at once. */
  const server = createHttpServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      received.push([request.method!, request.url!, request.headers.authorization, body]);
      const { status, text } = request.url === '/oauth/token' ? exchange : answers.shift()!;
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    })();
  });
  type Reply = { status: number; text: string };
  let received: unknown[][];
  let exchange: Reply;
  let answers: Reply[];
  let origin: string;
  const file = join(folder, 'kept', 'sign-in.json');
  const HOUR_MS = 3_600_000;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());
  beforeEach(() => {
    received = [];
    exchange = { status: 200, text: '{"access_token":"exchanged","expires_in":300}' };
    answers = [{ status: 200, text: '{"data":[]}' }];
  });
  const keep = async (over: object = {}, mode = 0o600) => {
    mkdirSync(join(folder, 'kept'), { recursive: true });
    const signIn = { tenant: origin, authorizationHost: origin, token: 'mine', expiresAt: Date.now() + HOUR_MS };
    writeFileSync(file, JSON.stringify({ ...signIn, ...over }));
    chmodSync(file, mode);
  };
  const call = (...words: string[]) => run(['call', '--file', file, ...words]);
  const kept = () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const FORM = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: 'mine',
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  });
  const exchanged = () => ['POST', '/oauth/token', undefined, `${FORM}&${new URLSearchParams({ audience: origin })}`];
  const live = () => ({ exchanged: { token: 'kept', expiresAt: Date.now() + 60_000 } });

  it('exchanges the token, keeps the exchanged one for its owner alone, and prints the answer', async () => {
    await keep();
    expect(await call('get', '/v1/dids?limit=1')).toEqual({ code: 0, out: '{"data":[]}\n', err: '' });
    expect(received).toEqual([exchanged(), ['GET', '/v1/dids?limit=1', 'Bearer exchanged', '']]);
    expect(kept()).toMatchObject({ token: 'mine', exchanged: { token: 'exchanged' } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'kept'))).toEqual(['sign-in.json']);
  });

  it('uses the kept token until it is about to end, and sends a body', async () => {
    await keep(live());
    answers = [{ status: 201, text: '{"id":1}' }];
    expect(await call('POST', '/v1/dids', '{"method": "key"}')).toMatchObject({ code: 0, out: '{"id":1}\n' });
    expect(received).toEqual([['POST', '/v1/dids', 'Bearer kept', '{"method":"key"}']]);
    await keep({ exchanged: { token: 'kept', expiresAt: Date.now() + 5000 } });
    answers = [{ status: 204, text: '' }];
    expect(await call('DELETE', '/v1/dids/x')).toEqual({ code: 0, out: '', err: '' });
    expect(received.slice(1)).toEqual([exchanged(), ['DELETE', '/v1/dids/x', 'Bearer exchanged', '']]);
  });

  it('exchanges once more when the kept token is refused, and not a new one', async () => {
    await keep(live());
    answers = [
      { status: 401, text: '{}' },
      { status: 401, text: '{"message":"no"}' },
    ];
    expect(await call('GET', '/v1/dids')).toEqual({ code: 1, out: '', err: 'status 401: {"message":"no"}\n' });
    expect(received.map(([, url]) => url)).toEqual(['/v1/dids', '/oauth/token', '/v1/dids']);
  });

  it('fails with the answer of a refused call, and with the reason of a refused exchange', async () => {
    await keep(live());
    answers = [{ status: 403, text: '{"code":"Forbidden"}' }];
    const { code, out, err } = await call('GET', '/v1/webhooks', '--json');
    expect([code, JSON.parse(out), err]).toEqual([
      1,
      { ok: false, status: 403, body: { code: 'Forbidden' } },
      'status 403: {"code":"Forbidden"}\n',
    ]);
    await keep();
    exchange = { status: 400, text: '{"error":"invalid_target","error_description":"not\\u001b[2J yours"}' };
    expect(await call('GET', '/v1/dids')).toEqual({
      code: 1,
      out: '',
      err: `no token for ${origin}: not?[2J yours\n`,
    });
  });

  it.each<[string, () => Promise<void>, RegExp]>([
    [
      'without a sign-in',
      async () => rmSync(file, { force: true }),
      /^no person is signed in: run: npx attestry sign-in /,
    ],
    [
      'after its end',
      () => keep({ expiresAt: Date.now() }),
      /^the sign-in for http\S+ has ended: run: npx attestry sign/,
    ],
    [
      'with a file that others may read',
      () => keep({}, 0o640),
      /^other users may read or write .*: it is not used; run/,
    ],
  ])('sends nothing %s', async (_what, prepare, message) => {
    await prepare();
    expect(await call('GET', '/v1/dids')).toEqual({ code: 1, out: '', err: expect.stringMatching(message) });
    expect(received).toEqual([]);
  });

  it.each([
    [['PATCH', '/v1/dids'], /^the method must be one of GET, POST, PUT, DELETE; /],
    [['GET', 'https://else.example/v1/dids'], /^the path must begin with a slash; /],
    [['POST', '/v1/dids', '{'], /^the body must be JSON; /],
  ])('refuses %j', async (words, message) => {
    await keep(live());
    expect(await call(...words)).toEqual({ code: 2, out: '', err: expect.stringMatching(message) });
    expect(received).toEqual([]);
  });

  it.each([
    ['acme', {}, 'http://acme.localhost:8080', 'http://auth.localhost:8080'],
    [
      'acme',
      { BASE_DOMAIN: 'uni.example', PUBLIC_SCHEME: 'https' },
      'https://acme.uni.example',
      'https://auth.uni.example',
    ],
    ['https://acme.uni.example/', {}, 'https://acme.uni.example', 'https://auth.uni.example'],
    ['acme.uni.example', {}, undefined, undefined],
    ['https://acme.uni.example/v1', {}, undefined, undefined],
  ])('sign-in --tenant %s with %j is for %s', async (name, env, tenant, authorizationHost) => {
    const { addressesOf } = (await load('cli/kept-sign-in.mjs')) as {
      addressesOf(name: string, options: object, env: object): object | undefined;
    };
    const expected = tenant === undefined ? undefined : { tenant, authorizationHost };
    expect(addressesOf(name, { issuer: 'https://sso.example/realms/x' }, env)).toEqual(expected);
    if (name === 'acme')
      expect(addressesOf(name, { issuer: 'https://auth.b.example/people' }, env)).toEqual({
        tenant: 'https://acme.b.example',
        authorizationHost: 'https://auth.b.example',
      });
    if (expected)
      expect(
        addressesOf(name, { issuer: 'https://sso.example', authorizationHost: 'https://a.example/' }, env),
      ).toEqual({
        tenant,
        authorizationHost: 'https://a.example',
      });
  });
});

describe('npx attestry beside a running platform', () => {
  let platform: PlatformProcess;
  beforeAll(async () => {
    platform = await startPlatformProcess({ env: { LOG_LEVEL: 'warn' } });
  });
  afterAll(() => platform.stop());
  const here = () => ({ DATA_DIR: platform.dataDir });
  const isConsumed = () => {
    const feed = new DatabaseSync(join(platform.dataDir, 'feed.db'), { readOnly: true });
    try {
      const behind = 'SELECT count(*) AS n FROM consumer WHERE acknowledged < (SELECT max(sequence) FROM message)';
      return feed.prepare(behind).get()!['n'] === 0;
    } finally {
      feed.close();
    }
  };

  it.each([
    ['build', []],
    ['doctor', []],
    ['migrate', []],
    ['nats-users', ['--namespace', 'acme']],
    ['management-client', ['create', '--name', 'listed']],
    ['rotate-token-keys', []],
    ['rebuild-projection', ['--all']],
    ['backup', ['--to', join(folder, 'backup')]],
    ['copy-events', ['--from', join(folder, 'backup'), '--to', join(folder, 'copy')]],
  ])(
    '%s --json prints exactly one document on standard output',
    async (name, words) => {
      // copy-events refuses a backup with events that were not consumed.
      if (name === 'backup') await waitUntil(isConsumed, { what: 'all events to be consumed', timeoutMs: 60_000 });
      const { code, out, err } = await run([name, ...words, '--json'], here());
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(out)).toEqual(expect.any(Object));
      expect(linesOf(out)).toHaveLength(1);
    },
    120_000,
  );

  it('a command that fails also prints one document with --json, and its progress on standard error', async () => {
    const { code, out, err } = await run(['backup', '--to', join(folder, 'b'), '--from', folder, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({ ok: false, error: expect.stringContaining('is not a data folder') });
    expect(err).toContain('is not a data folder');
  });

  const faults: [string, string[], () => Record<string, string>, RegExp][] = [
    [
      'a taken port',
      ['start'],
      () => ({ DATA_DIR: join(folder, 'own'), PORT: String(platform.ready.port) }),
      /^port \d+ of 127\.0\.0\.1 is in use: .*set PORT to another port$/,
    ],
    [
      'a data folder that is a file',
      ['start'],
      () => ({ DATA_DIR: script, PORT: '0' }),
      /cannot be made: EEXIST.*: set DATA_DIR to a folder/,
    ],
    [
      'a sign-in that does not run, at the address that PORT gives it',
      ['sign-in'],
      () => ({ PORT: '1' }),
      /^no server accepts connections at http:\/\/auth\.localhost:1\/people: start the platform, or .* --issuer/,
    ],
    ['a locked folder', ['start'], () => ({ ...here(), PORT: '0' }), /is in use by another process: .*set DATA_DIR/],
    [
      'an engine that is not installed',
      ['cluster'],
      () => ({ PATH: folder, NATS_URL: 'nats://127.0.0.1:1', DATABASE_URL: 'postgres://127.0.0.1:1/x' }),
      /^Redis.* is not installed\. Install it .*, or set REDIS_URL/,
    ],
    [
      'an engine that does not run',
      ['migrate'],
      () => ({ DATABASE_URL: 'postgres://attestry:word@127.0.0.1:1/attestry' }),
      /^DATABASE_URL names 127\.0\.0\.1:1, where no server accepts connections: start it/,
    ],
  ];
  it.each(faults)('names %s in one line with the next step; DEBUG shows the stack', async (_what, words, env, line) => {
    const { code, out, err } = await run(words, env());
    expect({ code, out, lines: linesOf(err).length }).toEqual({ code: 1, out: '', lines: 1 });
    expect(linesOf(err)[0]).toMatch(line);
    const debugged = await run(words, { ...env(), DEBUG: '1' });
    expect(debugged).toMatchObject({ code: 1, err: expect.stringMatching(/^ {4}at /m) });
  });
});

describe('a port that is in use', () => {
  let taken: Server;
  beforeAll(async () => {
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
  });
  afterAll(() => taken.close());

  it.each<[string, Record<string, string>]>([
    ['PORT', {}],
    ['ADMIN_PORT', { PORT: '0' }],
    // An engine that was opened first would be named instead.
    ['PORT', { DATABASE_URL: 'postgres://attestry:word@127.0.0.1:1/attestry' }],
  ])('is named with the setting %s before any engine is opened: %j [T670]', async (setting, others) => {
    const { port } = taken.address() as AddressInfo;
    const dataDir = join(folder, `taken-${setting}`);
    const env = { ...others, DATA_DIR: dataDir, [setting]: String(port) };
    const { code, out, err } = await run(['start'], env);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    const line = `port ${port} of 127.0.0.1 is in use: stop the process that uses it, or set ${setting} to another port`;
    expect(linesOf(err)).toEqual([line]);
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('npm start', () => {
  it('prints one document with --json when it is ready, and stops when the shell that npm started is killed', async () => {
    const env = { ...ownEnvironment(), npm_lifecycle_event: 'start', DATA_DIR: join(folder, 'started'), PORT: '0' };
    // npm starts such a shell, which does not forward signals.
    const shell = spawn('sh', ['-c', `"${process.execPath}" "${script}" start --json; true`], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let out = '';
    shell.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await waitUntil(() => out.includes('\n'), { what: 'the platform to be ready' });
    const { port } = JSON.parse(out) as { port: number };
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/health/live`).then(
        () => true,
        () => false,
      );
    expect(await answers()).toBe(true);
    const exited = once(shell, 'exit');
    shell.kill('SIGTERM');
    await exited;
    await waitUntil(async () => !(await answers()), { what: 'the platform to stop' });
    expect(linesOf(out)).toHaveLength(1);
  });
});
