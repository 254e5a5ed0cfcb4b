import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  PlatformProcess,
  registerWallet,
  startPlatformProcess,
  waitUntil,
  type TenantUnderTest,
} from '@attestry/testing';
import { issue, makeIssuer, type Issuer } from '../journey.js';

// Floods of one tenant's data or callers beside the issuance of another tenant, with the default limits, in one process.

const MIB = 1_048_576;
/** Duration of an issuance to the other tenant, from the offer to the credential, milliseconds. */
const UNDISTURBED_MS = 1000;
/** Most bytes by which a flood may enlarge the process. Memory is collected late: what is unbounded exceeds it within seconds. */
const MOST_GROWTH = 1024 * MIB;
const LIMIT_MS = 240_000;
const CLIENT = 'known-wallet';

let platform: PlatformProcess;
let flooded: TenantUnderTest;
let other: TenantUnderTest;
let large: Issuer;
let small: Issuer;
beforeAll(async () => {
  const env = { MAX_UNREAD_BYTES: '', MAX_UNREAD_BYTES_TOTAL: '', MAX_CALLS_IN_FLIGHT: '', ADMIN_PORT: '0' };
  platform = await startPlatformProcess({ env, startTimeoutMs: PLATFORM_START_MS });
  const management = await connectManagement(platform);
  flooded = await createTenantUnderTest(platform, management, 'flooded');
  other = await createTenantUnderTest(platform, management, 'beside');
  [large, small] = [await makeIssuer(flooded), await makeIssuer(other)];
}, PLATFORM_START_MS);
afterAll(() => platform?.stop());

const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${platform.pid}/status`, 'latin1'))![1]) * 1024;

interface Beside {
  /** Milliseconds of an issuance. */
  median: number;
  longest: number;
  /** Bytes of the process. */
  growth: number;
}

/** Issues to the other tenant while `flood` runs, and at least five times. */
const besideIssuance = async (flood: () => Promise<unknown>): Promise<Beside> => {
  const before = residentBytes();
  let growth = 0;
  let isOver = false;
  const flooding = flood().finally(() => (isOver = true));
  const times: number[] = [];
  while (!isOver || times.length < 5) {
    const start = performance.now();
    const { credentials } = await issue(other, { credentials: [small.jwtVc], claims: { given_name: 'Ada' } });
    times.push(performance.now() - start);
    expect(credentials).toHaveLength(1);
    growth = Math.max(growth, residentBytes() - before);
    await pause(100);
  }
  await flooding;
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1]!, longest: times.at(-1)!, growth };
};
const isUndisturbed = ({ median, longest, growth }: Beside): void => {
  process.stderr.write(
    `    beside: ${Math.round(median)}, at most ${Math.round(longest)} ms, ${Math.round(growth / MIB)} MiB\n`,
  );
  expect(median).toBeLessThan(UNDISTURBED_MS);
  // One issuance may meet a pause of the machine.
  expect(longest).toBeLessThan(5 * UNDISTURBED_MS);
  expect(growth).toBeLessThan(MOST_GROWTH);
};

const agent = new Agent({ keepAlive: true });
afterAll(() => agent.destroy());
/** Sends a text and drops the answer, so that this process has time for the other tenant. @returns the status */
const send = (method: string, path: string, text = '', headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        ...{ host: '127.0.0.1', port: platform.ready.port, method, path, agent },
        headers: {
          host: flooded.host,
          authorization: `Bearer ${flooded.token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...headers,
        },
      },
      (response) => {
        response.resume().once('error', reject);
        response.once('end', () => resolve(response.statusCode!));
      },
    );
    sent.once('error', reject);
    sent.end(text);
  });

describe('500 connections of two addresses that read nothing of a document', () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  const ask = async (path: string, localAddress: string): Promise<void> => {
    const socket = connect({ host: '127.0.0.1', port: platform.ready.port, localAddress });
    socket.on('error', () => undefined);
    socket.pause();
    sockets.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${flooded.host}\r\n\r\n`);
  };
  const flood = (path: string, until: () => Promise<unknown>) => async () => {
    for (let n = 0; n < 500; n++) await ask(path, n % 2 ? '127.0.0.2' : '127.0.0.3');
    await until();
  };
  /** Until the platform has ended an answer of which its client took nothing for ten seconds. */
  const untilEnded = () =>
    waitUntil(
      async () => {
        const metrics = await (await fetch(`http://127.0.0.1:${platform.ready.adminPort}/metrics`)).text();
        return /^attestry_http_refused_total\{reason="timeout"\} [1-9]/m.test(metrics);
      },
      { what: 'an answer that was ended', timeoutMs: 60_000 },
    );
  /** Bytes that each connection has received and gets now that it reads. */
  const received = () =>
    Promise.all(
      sockets.map(
        (socket) =>
          new Promise<{ length: number; isEnded: boolean }>((resolve) => {
            let length = 0;
            socket.on('data', (chunk: Buffer) => (length += chunk.length));
            socket.once('close', () => resolve({ length, isEnded: true }));
            socket.resume();
            setTimeout(() => resolve({ length, isEnded: false }), 3000);
          }),
      ),
    );
  const read = async (path: string) => {
    const { status, text } = await new ApiClient(flooded.url).request('GET', path);
    return [status, text.length] as const;
  };

  it(
    'of 2 MB of issuer metadata [T538] [T682]',
    async () => {
      const logo = Buffer.from(Array.from({ length: 67_000 }, (_, n) => (n * n * 31 + (n >> 3) * 7) & 255));
      const uri = `data:image/png;base64,${logo.toString('base64')}`;
      const display = ['en', 'de'].map((locale) => ({ name: 'Large', locale, logo: { uri } }));
      for (let n = 0; n < 5; n++) {
        const request = { type: `Large${n}`, name: 'L', issuer: { name: 'x' }, claimMappings: {}, display };
        expectStatus(await flooded.api.jwtVc.create({ ...request, issuerDid: large.did }), 201);
      }
      const path = '/.well-known/openid-credential-issuer';
      isUndisturbed(await besideIssuance(flood(path, untilEnded)));
      const [status, length] = await read(path);
      expect([status, length > 1.6 * MIB]).toEqual([200, true]);
      // The share of each address, 16 MiB; the other requests got a 429, or their answers were ended after 10 s.
      const connections = await received();
      expect(connections.filter((one) => one.length > MIB).length).toBeLessThanOrEqual(20);
      expect(connections.filter(({ isEnded }) => isEnded).length).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    'of the linkage of 1,000 DIDs [T682]',
    async () => {
      for (let n = 0; n < 1000; n += 20)
        await Promise.all(
          Array.from({ length: 20 }, async () =>
            expectStatus(await flooded.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201),
          ),
        );
      const path = '/.well-known/did-configuration.json';
      isUndisturbed(await besideIssuance(flood(path, () => pause(5000))));
      const [status, length] = await read(path);
      expect([status, length > 100_000]).toEqual([200, true]);
    },
    LIMIT_MS,
  );
});

it(
  'pages of users with large claims, 40 at once, and searches [T683]',
  async () => {
    const claims = { group: 'large', text: 'x'.repeat(60_000) };
    for (let n = 0; n < 50; n++) expectStatus(await flooded.api.users.create({ claims }), 201);
    const search = JSON.stringify({ claims: { group: 'large' } });
    const flood = async () => {
      for (let round = 0; round < 10; round++) {
        const lists = Array.from({ length: 40 }, () => send('GET', '/v1/users?limit=1000'));
        const searches = Array.from({ length: 20 }, () => send('POST', '/v1/users/search?limit=1000', search));
        for (const status of await Promise.all([...lists, ...searches])) expect([200, 429]).toContain(status);
      }
    };
    isUndisturbed(await besideIssuance(flood));
  },
  LIMIT_MS,
);

it(
  'bytes that one client writes for ten seconds [T684]',
  async () => {
    const user = JSON.stringify({ claims: { text: 'x'.repeat(300_000) } });
    const statuses = new Set<number>();
    const flood = async () => {
      const end = performance.now() + 10_000;
      const write = async () => {
        while (performance.now() < end) statuses.add(await send('POST', '/v1/users', user));
      };
      await Promise.all(Array.from({ length: 8 }, write));
    };
    isUndisturbed(await besideIssuance(flood));
    for (const status of statuses) expect([201, 429]).toContain(status);
  },
  LIMIT_MS,
);

it(
  'refused pushes and authorizations of an unknown caller who names a registered client [T685]',
  async () => {
    const back = 'https://known-wallet.example/back';
    await registerWallet(flooded.api, CLIENT, back);
    const parameters = () =>
      new URLSearchParams({
        ...{ response_type: 'code', client_id: CLIENT, redirect_uri: back, scope: 'no_such_scope' },
        code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
        code_challenge_method: 'S256',
      }).toString();
    const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: '' };
    const flood = async () => {
      for (let round = 0; round < 20; round++)
        await Promise.all(
          Array.from({ length: 50 }, (_, n) =>
            n % 2
              ? send('POST', '/v1/oauth/par', parameters(), form)
              : send('GET', `/v1/oauth/authorize?${parameters()}`, '', form),
          ),
        );
    };
    isUndisturbed(await besideIssuance(flood));
    const failures = expectStatus(
      await flooded.api.analytics.list({ types: ['OPENID_PAR_FAIL', 'OPENID_AUTHORIZE_FAIL'], limit: 1000 }),
      200,
    );
    expect(failures.data.length).toBeLessThan(200);
  },
  LIMIT_MS,
);
