import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestDnsServer } from '@attestry/testing';
import { Outbound } from './outbound.js';
import { DnsBudgetExceeded, OutboundResolver } from './outbound-resolver.js';

const A = 'tenant-a';
const B = 'tenant-b';
const outcomeOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const dead = Array.from({ length: 20 }, (_, i) => `dead-${i}.example.com`);

describe('names that tenants choose', () => {
  let dns: TestDnsServer;
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
  afterEach(() => dns.stop());

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
    dns.setAddresses('live.example.com', '127.0.0.1');
    const start = performance.now();
    const attack = dead.map((name) => outcomeOf(resolver.addresses(A, name)));
    const late = outcomeOf(resolver.addresses(A, 'live.example.com'));
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
    // A, AAAA, and each of them once more.
    expect(dns.queries.filter((name) => name === dead[0])).toHaveLength(4);
    expect(await resolver.addresses(B, 'live.example.com')).toEqual(other);
  }, 15_000);

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
