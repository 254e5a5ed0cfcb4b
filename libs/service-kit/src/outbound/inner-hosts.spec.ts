import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { EngineAddresses, InnerHosts, isInnerAddress } from './inner-hosts.js';
import { isPublicAddress, Outbound } from './outbound.js';

const A = '2a5b1c34-52a5-4c8e-9d8a-0f9d0f0f4b01';
const B = '2a5b1c34-52a5-4c8e-9d8a-0f9d0f0f4b02';
const addressOf = (address: string): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 });

describe('isInnerAddress [T770]', () => {
  it.each([
    '10.0.0.8',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.254',
    '192.168.1.1',
    '::ffff:10.0.0.8',
    'fd00::2',
    'fc00::1',
  ])('accepts %s', (address) => expect(isInnerAddress(address)).toBe(true));

  it.each([
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:0:10.0.0.8',
    '64:ff9b::a00:8',
    '2002:a00:8::',
    '169.254.169.254',
    '169.254.170.2',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    // Shared address space (RFC 6598), where one provider has its metadata service.
    '100.64.0.1',
    '100.100.100.200',
    '172.32.0.1',
    '192.0.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '8.8.8.8',
    'localhost',
    '',
  ])('refuses %s', (address) => expect(isInnerAddress(address)).toBe(false));
});

describe('a listed host', () => {
  const engines = (...addresses: string[]) => ({ current: async () => new Set(addresses) });
  const listed = { 'sso.uni.example:8443': [A], 'sso.uni.example:443': [A, B] };
  const hosts = new InnerHosts(listed, engines());

  it.each([
    ['https://sso.uni.example:8443/realms/x', A, true],
    ['https://SSO.uni.example:8443/', A, true],
    ['https://sso.uni.example/', B, true],
    ['https://sso.uni.example:443/', B, true],
    ['https://sso.uni.example:8443/', B, false],
    ['https://sso.uni.example:8444/', A, false],
    ['https://sso.uni.example:0/', A, false],
    ['https://sso.uni.example.:8443/', A, false],
    ['https://x.sso.uni.example:8443/', A, false],
    ['http://sso.uni.example:8443/', A, false],
    ['https://toString:443/', A, false],
    ['https://sso.uni.example:8443/', '', false],
  ])('is host, port and tenant exactly: %s of %s is %s [T769]', (url, tenantId, expected) =>
    expect(hosts.isListed(tenantId, new URL(url))).toBe(expected),
  );

  it('has public and inner addresses, and none of an engine, however it is written [T770]', async () => {
    const kept = async (by: InnerHosts, ...addresses: string[]) =>
      (await by.filter(addresses.map(addressOf), isPublicAddress)).map(({ address }) => address);
    expect(await kept(hosts, '10.0.0.8', '8.8.8.8', '127.0.0.1', '169.254.169.254', 'fd00::2')).toEqual([
      '10.0.0.8',
      '8.8.8.8',
      'fd00::2',
    ]);
    const guarded = new InnerHosts(listed, engines('10.0.0.8', '8.8.8.8', 'fd00:0:0:0:0:0:0:2'));
    expect(await kept(guarded, '10.0.0.8', '::ffff:10.0.0.8', '8.8.8.8', 'fd00::2', '10.0.0.9')).toEqual(['10.0.0.9']);
  });

  it('does not ask for engines where no address is left', async () => {
    const failing = new InnerHosts(listed, { current: () => Promise.reject(new Error('not resolved')) });
    expect(await failing.filter([addressOf('127.0.0.1')], isPublicAddress)).toEqual([]);
    await expect(failing.filter([addressOf('10.0.0.8')], isPublicAddress)).rejects.toThrow('not resolved');
  });
});

describe('addresses of engines [T770]', () => {
  const settings = {
    natsServers: ['nats://nats.inner:4222', 'tls://10.0.0.4:4222'],
    databaseUrl: 'postgres://u:p@db.inner/x',
    redisUrl: 'rediss://u:p@[fd00::9]:6379',
  };

  it('are those that their hosts resolve to, of each setting', async () => {
    const asked: string[] = [];
    const found = new EngineAddresses(settings, async (host) => {
      asked.push(host);
      return [addressOf(host === 'db.inner' ? '::ffff:10.0.0.5' : '10.0.0.3')];
    });
    const both = await Promise.all([found.current(), found.current()]);
    for (const addresses of both)
      expect([...addresses].sort()).toEqual(['10.0.0.3', '10.0.0.4', '10.0.0.5', 'fd00:0:0:0:0:0:0:9']);
    await found.current();
    // Literals are not looked up, and all is read once for half a minute.
    expect(asked.sort()).toEqual(['db.inner', 'nats.inner']);
  });

  it('are unknown while a host was never resolved, and stay while it cannot be resolved again', async () => {
    const system = performance.now.bind(performance);
    let passedMs = 0;
    performance.now = () => system() + passedMs;
    try {
      let failing = true;
      const found = new EngineAddresses(settings, async (host) => {
        if (failing && host === 'db.inner') throw new Error('ENOTFOUND');
        return [addressOf('10.0.0.3')];
      });
      await expect(found.current()).rejects.toThrow('ENOTFOUND');
      failing = false;
      const known = await found.current();
      failing = true;
      passedMs = 31_000;
      expect(await found.current()).toEqual(known);
    } finally {
      performance.now = system;
    }
  });
});

describe('the port of a provider [T768]', () => {
  const innerHosts = new InnerHosts({ 'sso.uni.example:8443': [A] }, { current: async () => new Set<string>() });
  const ONE = 'must use the port that the operator allows (OUTBOUND_PORTS): 443';
  const SEVERAL = 'must use one of the ports that the operator allows (OUTBOUND_PORTS): 443, 9443';

  it.each<[unknown, readonly number[], string | undefined]>([
    ['https://sso.uni.example/', [], undefined],
    ['https://sso.uni.example:443/', [], undefined],
    ['https://sso.uni.example:8443/', [], undefined],
    ['https://sso.uni.example:9443/', [], ONE],
    ['https://sso.uni.example:9443/', [443], ONE],
    ['https://sso.uni.example:9443/', [9443], undefined],
    ['https://sso.uni.example:9444/', [443, 9443], SEVERAL],
    ['no address:9444', [], undefined],
    [9444, [], undefined],
  ])('of %j with %j', async (url, ports, fault) => {
    const outbound = new Outbound(false, undefined, { innerHosts, ports });
    expect(outbound.faultOfPort(A, url)).toBe(fault);
    await outbound.close();
  });

  it('is listed for a tenant, and any where private targets are allowed', async () => {
    const [guarded, open] = [false, true].map((allowed) => new Outbound(allowed, undefined, { innerHosts, ports: [] }));
    expect(guarded!.faultOfPort(B, 'https://sso.uni.example:8443/')).toBe(ONE);
    expect(open!.faultOfPort(B, 'https://sso.uni.example:8443/')).toBeUndefined();
    const others = new Outbound(false);
    expect(others.faultOfPort(A, 'https://sso.uni.example:8443/')).toBe(ONE);
    await Promise.all([guarded!, open!, others].map((outbound) => outbound.close()));
  });
});

describe('calls to a listed host [T769]', () => {
  const limits = { timeoutMs: 1000, maxBytes: 100 };
  let server: Server;
  let connections = 0;
  let host: string;
  beforeAll(async () => {
    server = createServer();
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `sso.uni.example:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  /** Loopback stands for an inner address here. */
  const outboundOf = (answers: () => string[], filter = async (found: readonly LookupAddress[]) => found) => {
    const hosts = new InnerHosts({ [host]: [A] }, { current: async () => new Set<string>() });
    hosts.filter = filter;
    return new Outbound(false, { addresses: async () => answers().map(addressOf) }, { innerHosts: hosts, ports: [] });
  };
  const failureOf = async (outbound: Outbound, url: string, tenantId: string) => {
    const error: unknown = await outbound.send(url, { ...limits, tenantId }).catch((thrown: unknown) => thrown);
    return (error as Error).name === 'TargetRefused' ? (error as Error).message : 'connected';
  };

  it('connect to inner addresses for the listed tenant, host and port only', async () => {
    const outbound = outboundOf(() => ['127.0.0.1']);
    const refused = 'sso.uni.example has no public address';
    const other = host.replace(/\d+$/, (port) => String(Number(port) - 1));
    connections = 0;
    for (const [url, tenantId] of [
      [`https://${host}/`, B],
      [`https://${other}/`, A],
      ['https://sso.uni.example/', A],
    ] as const)
      expect(await failureOf(outbound, url, tenantId)).toBe(refused);
    expect(connections).toBe(0);
    // The handshake fails, as the server has no certificate: the address was not refused.
    expect(await failureOf(outbound, `https://${host}/`, A)).toBe('connected');
    expect(connections).toBe(1);
    // Neither the kept connections nor the answer of the listed port serve another port or tenant.
    expect(await failureOf(outbound, `https://${other}/`, A)).toBe(refused);
    expect(await failureOf(outbound, `https://${host}/`, B)).toBe(refused);
    await outbound.close();
  });

  it('check the addresses at each connection: a name that is rebound to this machine is refused', async () => {
    const real = new InnerHosts({}, { current: async () => new Set(['10.0.0.5']) });
    let answers = ['127.0.0.1'];
    const outbound = outboundOf(
      () => answers,
      (found) => real.filter(found, isPublicAddress),
    );
    const refused = 'sso.uni.example has no address that its entry in PROVIDER_HOSTS allows';
    connections = 0;
    for (answers of [
      ['127.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['169.254.169.254'],
      ['10.0.0.5', '::ffff:10.0.0.5'],
      ['::1'],
    ])
      expect(await failureOf(outbound, `https://${host}/`, A)).toBe(refused);
    expect(connections).toBe(0);
    await outbound.close();
  });

  it('are https, and never to literals', async () => {
    const outbound = outboundOf(() => ['127.0.0.1']);
    expect(await failureOf(outbound, `http://${host}/`, A)).toBe('https only');
    expect(await failureOf(outbound, 'https://10.0.0.8:8443/', A)).toBe('no IP literals');
    expect(outbound.checkUrl(`https://${host}/a`, A)).toEqual({ url: `https://${host}/a` });
    for (const [url, tenantId] of [
      [`https://${host}/`, B],
      [`https://${host}/`, undefined],
    ] as const)
      expect(outbound.checkUrl(url, tenantId)).toEqual({ fault: 'must have a public host name' });
    expect(outbound.checkUrl(`https://${host}/?a`, A)).toEqual({ fault: 'must not have a query' });
    await outbound.close();
  });
});
