import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  startPlatform,
  TestDnsServer,
  Wallet,
  WebhookReceiver,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { issue, makeIssuer, type Issuer } from './journey.js';

// Each tenant's share of common resources: threads for canonicalization (ADR 0042), DNS (ADR 0043).

let dns: TestDnsServer;
let platform: RunningPlatform;
let greedy: TenantUnderTest;
let other: TenantUnderTest;

beforeAll(async () => {
  dns = await TestDnsServer.start();
  platform = await startPlatform({ env: { DNS_SERVERS: dns.address } });
  const management = await connectManagement(platform);
  [greedy, other] = await Promise.all([
    createTenantUnderTest(platform, management, 'greedy'),
    createTenantUnderTest(platform, management, 'patient'),
  ]);
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await dns?.stop();
});

const timed = async <T>(run: () => Promise<T>): Promise<{ value: T; ms: number }> => {
  const start = performance.now();
  const value = await run();
  return { value, ms: performance.now() - start };
};

describe('large linked data of one tenant', () => {
  let theirs: Issuer;
  let ours: Issuer;
  beforeAll(async () => {
    [theirs, ours] = await Promise.all([makeIssuer(greedy), makeIssuer(other)]);
  });
  const offer = async (note: unknown) => {
    const answer = await greedy.api.offers.create({ credentials: [theirs.webSemantic], claims: { note } });
    return expectStatus(answer, 200).uri;
  };

  it('is refused when ten proofs make it ten times as large', async () => {
    // One proof fits the 20,000 values on every machine: the offer tries it.
    const uri = await offer(Array.from({ length: 1500 }, (_, i) => ({ row: i })));
    const keys = await Promise.all(Array.from({ length: 10 }, () => makeHolderKey()));
    const value = await new Wallet().collect(uri, { keys }).catch((error: unknown) => error);
    expect(value).toMatchObject({
      response: {
        response: { status: 400 },
        credentialErrorResponseResult: { data: { error: 'credential_request_denied' } },
      },
    });
  });

  it('does not block another tenant', async () => {
    // Five seconds of a thread each: blank nodes in a circle.
    const circle = Array.from({ length: 4900 }, (_, i) => ({ id: `_:n${i}`, next: { id: `_:n${(i + 1) % 4900}` } }));
    let ended = 0;
    const attack = Array.from({ length: 3 }, async () => {
      const body = { credentials: [theirs.webSemantic], claims: { note: circle } };
      const { status } = await greedy.api.offers.create(body);
      ended++;
      return status;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const issued = await issue(other, { credentials: [ours.jwtVc, ours.webSemantic], claims: { given_name: 'Ada' } });
    expect(issued.credentials).toHaveLength(2);
    // It waits for the one job that has a thread, at most, and not for those behind it.
    expect(ended).toBeLessThan(3);
    // Refused, and at the latest 429 or 503 where the tenant has used its share of the threads.
    for (const status of await Promise.all(attack)) expect([400, 429, 503]).toContain(status);
  }, 60_000);
});

describe('host names of one tenant whose DNS servers do not answer', () => {
  let host: Server;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    host = createServer((request, response) => {
      const { port } = host.address() as AddressInfo;
      response.end(JSON.stringify({ id: `did:web:dids.localhost%3A${port}`, path: request.url }));
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    receiver = await WebhookReceiver.start(`${other.url}/v1/webhooks/jwks`);
  });
  afterAll(async () => {
    await receiver?.close();
    host?.close();
  });

  it('delay neither the webhooks nor the DIDs of another tenant', async () => {
    dns.setAddresses('hooks.example.com', '127.0.0.1');
    const names = Array.from({ length: 20 }, (_, i) => `dead-${i}.example.com`);
    for (const name of names) dns.hushName(name);
    const did = `did:web:dids.localhost%3A${(host.address() as AddressInfo).port}`;
    const url = `http://hooks.example.com:${receiver.port}/hook`;
    const ours = expectStatus(await other.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url }), 201);
    const dead = await Promise.all(
      names.map(async (name) => {
        const request = { events: ['OpenIdCredentialIssued' as const], url: `http://${name}/hook` };
        return expectStatus(await greedy.api.webhooks.create(request), 201).id;
      }),
    );
    await Promise.all(dead.map((id) => greedy.api.webhooks.test(id)));
    const unanswered = names.map((name) => greedy.api.dids.retrieve(`did:web:${name}`));
    await new Promise((resolve) => setTimeout(resolve, 300));

    const resolved = await timed(() => other.api.dids.retrieve(did));
    expect(expectStatus(resolved.value, 200)).toMatchObject({ did });
    // Milliseconds, but for a busy machine; getaddrinfo would take five seconds for each name before it.
    expect(resolved.ms).toBeLessThan(4000);
    const delivered = await timed(async () => {
      expectStatus(await other.api.webhooks.test(ours.id), 202);
      return receiver.next();
    });
    expect(delivered.value.verified).toBe(true);
    expect(delivered.ms).toBeLessThan(4000);
    for (const answer of await Promise.all(unanswered)) expect(answer.status).toBe(404);
  }, 60_000);
});
