import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestDnsServer, waitUntil } from '@attestry/testing';
import { Outbound } from './outbound.js';
import { DnsBudgetExceeded, OutboundResolver } from './outbound-resolver.js';

const A = 'tenant-a';
const B = 'tenant-b';
const outcomeOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const dead = Array.from({ length: 20 }, (_, i) => `dead-${i}.example.com`);

describe('names that tenants choose', () => {
  let dns: TestDnsServer;
  let second: TestDnsServer | undefined;
  let resolver: OutboundResolver;
  let target: Server;
  let port: number;

  beforeAll(async () => {
    target = createServer((_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    port = (target.address() as AddressInfo).port;
  });
  afterAll(() => {
    target.closeAllConnections();
    target.close();
  });
  beforeEach(async () => {
    dns = await TestDnsServer.start();
    resolver = new OutboundResolver([dns.address]);
    for (const name of dead) dns.hushName(name);
  });
  afterEach(async () => {
    await dns.stop();
    await second?.stop();
    second = undefined;
  });

  it('have the addresses of both families', async () => {
    dns.setAddresses('both.example.com', '::1', '127.0.0.1', '127.0.0.2');
    dns.setAddresses('six.example.com', '::1');
    expect(await resolver.addresses(A, 'both.example.com')).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await resolver.addresses(A, 'six.example.com')).toEqual([{ address: '::1', family: 6 }]);
    await expect(resolver.addresses(A, 'none.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('have TXT records', async () => {
    dns.set('_domain.example.com', 'one', ['two', 'parts']);
    expect(await resolver.txt(A, '_domain.example.com')).toEqual([['one'], ['two', 'parts']]);
    await expect(resolver.txt(A, 'none.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('have the records of the type that is requested, although the look-ups are made at once', async () => {
    dns.setAddresses('both.example.com', '127.0.0.1');
    dns.set('both.example.com', 'text');
    dns.set('other.example.com', 'another');
    const [addresses, texts, others] = await Promise.all([
      resolver.addresses(A, 'both.example.com'),
      resolver.txt(A, 'both.example.com'),
      resolver.txt(A, 'other.example.com'),
    ]);
    expect(addresses).toEqual([{ address: '127.0.0.1', family: 4 }]);
    expect([texts, others]).toEqual([[['text']], [['another']]]);
  });

  it('are queried from the servers of the system where none are configured', async () => {
    // A label is too long: no query is sent.
    const name = `${'a'.repeat(64)}.example.com`;
    await expect(new OutboundResolver().addresses(A, name)).rejects.toMatchObject({ code: 'EBADNAME' });
  });

  it.each(['mylocalhost', 'localhost.example.com', 'localhost..'])(
    'that only resemble localhost are queried: %s',
    async (name) => {
      await expect(resolver.addresses(A, name)).rejects.toMatchObject({ code: expect.any(String) as string });
    },
  );

  it.each(['localhost', 'LOCALHOST.', 'hooks.localhost', 'a.b.localhost.'])(
    'of the local machine are not queried: %s (RFC 6761)',
    async (name) => {
      expect(await resolver.addresses(A, name)).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
      expect(dns.queries).toEqual([]);
    },
  );

  it('are queried once for concurrent connections of a tenant', async () => {
    dns.setAddresses('hooks.example.com', '127.0.0.1');
    await Promise.all([A, A, A, B].map((tenant) => resolver.addresses(tenant, 'hooks.example.com')));
    // A and AAAA for each tenant.
    expect(dns.queries).toHaveLength(4);
    await resolver.addresses(A, 'hooks.example.com');
    expect(dns.queries).toHaveLength(6);
  });

  it('time out after 4 s with one retry, 8 at a time, 30 s per minute', async () => {
    second = await TestDnsServer.start();
    for (const server of [dns, second]) server.hushName('silent.example.com');
    dns.setAddresses('live.example.com', '127.0.0.1');
    const start = performance.now();
    const attack = dead.map((name) => outcomeOf(resolver.addresses(A, name)));
    const late = outcomeOf(resolver.addresses(A, 'live.example.com'));
    const servers = new OutboundResolver([dns.address, second.address]);
    const ofTwo = servers.addresses(A, 'silent.example.com').catch((error: unknown) => ({
      error,
      tookMs: performance.now() - start,
    }));
    const other = await resolver.addresses(B, 'live.example.com');
    expect(performance.now() - start).toBeLessThan(1000);
    expect(other).toEqual([{ address: '127.0.0.1', family: 4 }]);
    expect(new Set(dns.queries.filter((name) => name.startsWith('dead')))).toEqual(new Set(dead.slice(0, 8)));

    const outcomes = await Promise.all(attack);
    expect(performance.now() - start).toBeLessThan(7000);
    for (const outcome of outcomes.slice(0, 8))
      expect(outcome).toMatchObject({ code: expect.stringMatching(/^(ETIMEOUT|ECANCELLED)$/) as string });
    for (const outcome of [...outcomes.slice(8), await late]) {
      expect(outcome).toBeInstanceOf(DnsBudgetExceeded);
      expect(outcome).toMatchObject({
        kind: 'unavailable',
        message: 'The DNS look-ups of this tenant took 30 seconds within a minute',
      });
      const seconds = Number((outcome as DnsBudgetExceeded).headers!['retry-after']);
      expect(seconds).toBeGreaterThan(50);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    // Not 4 s for each server.
    expect(await ofTwo).toMatchObject({ error: { code: 'ECANCELLED' } });
    expect(((await ofTwo) as { tookMs: number }).tookMs).toBeLessThan(6000);
    // A, AAAA, and each of them once more.
    expect(dns.queries.filter((name) => name === dead[0])).toHaveLength(4);
    expect(await resolver.addresses(B, 'live.example.com')).toEqual(other);
  }, 15_000);

  it('use a budget: look-ups in flight count with their present duration, and it is renewed after a minute', async () => {
    const system = performance.now.bind(performance);
    let passedMs = 0;
    performance.now = () => system() + passedMs;
    try {
      dns.setAddresses('live.example.com', '127.0.0.1');
      const live = () => outcomeOf(resolver.addresses(A, 'live.example.com'));
      await live();
      const inFlight = dead.slice(0, 7).map((name) => outcomeOf(resolver.addresses(A, name)));
      await waitUntil(() => dns.queries.includes(dead[6]!));
      passedMs = 4000;
      expect(await live()).toEqual([{ address: '127.0.0.1', family: 4 }]);
      passedMs = 5000;
      const refused = await live();
      expect(refused).toBeInstanceOf(DnsBudgetExceeded);
      const seconds = Number((refused as DnsBudgetExceeded).headers!['retry-after']);
      expect(seconds).toBeGreaterThan(50);
      expect(seconds).toBeLessThanOrEqual(55);

      // Ended look-ups count until the end of the minute.
      await Promise.all(inFlight);
      passedMs = 50_000;
      expect(await live()).toMatchObject({ headers: { 'retry-after': expect.stringMatching(/^\d$/) as string } });
      passedMs = 60_000;
      expect(await live()).toEqual([{ address: '127.0.0.1', family: 4 }]);
    } finally {
      performance.now = system;
    }
  }, 15_000);

  it('wait for a slot: at most 256 of a tenant, in the order they were requested', async () => {
    for (let n = 0; n < 264; n++) dns.setAddresses(`n${n}.example.com`, '127.0.0.1');
    const many = Array.from({ length: 264 }, (_, n) => resolver.addresses(A, `n${n}.example.com`));
    expect(await outcomeOf(resolver.addresses(A, 'more.example.com'))).toMatchObject({
      message: 'Too many DNS look-ups of this tenant are waiting',
      headers: { 'retry-after': '4' },
    });
    await Promise.all(many);
    const firstQueries = [...new Set(dns.queries)];
    expect(firstQueries.slice(0, 8).sort()).toEqual(Array.from({ length: 8 }, (_, n) => `n${n}.example.com`));
    expect(firstQueries.at(-1)).toMatch(/^n2(?:5[6-9]|6[0-3])\./);
    // The slots are free again.
    await Promise.all(['n0', 'n1'].map((name) => resolver.addresses(A, `${name}.example.com`)));
  });

  it('do not delay the exchanges of other tenants', async () => {
    dns.setAddresses('hooks.example.com', '127.0.0.1');
    const outbound = new Outbound(true, resolver);
    const limits = { timeoutMs: 3000, maxBytes: 100 };
    const attack = dead.map((name) => outcomeOf(outbound.send(`http://${name}/`, { ...limits, tenantId: A })));
    const start = performance.now();
    const url = `http://hooks.example.com:${port}/`;
    expect(await outbound.send(url, { ...limits, tenantId: B })).toMatchObject({ status: 200 });
    expect(performance.now() - start).toBeLessThan(1000);
    await Promise.all(attack);
    await outbound.close();
  }, 15_000);

  it('are checked for each tenant: a connection of one is not used by another', async () => {
    dns.setAddresses('hooks.example.com', '127.0.0.1');
    const outbound = new Outbound(true, resolver);
    const url = `http://hooks.example.com:${port}/`;
    const limits = { timeoutMs: 3000, maxBytes: 100 };
    await outbound.send(url, { ...limits, tenantId: A });
    expect(dns.queries).toHaveLength(2);
    // The connection is idle by now, and kept for 4 s.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await outbound.send(url, { ...limits, tenantId: A });
    expect(dns.queries).toHaveLength(2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await outbound.send(url, { ...limits, tenantId: B });
    expect(dns.queries).toHaveLength(4);
    await outbound.close();
  });
});
