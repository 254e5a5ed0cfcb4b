import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hasOpenssl,
  makeTestCertificates,
  PLATFORM_START_MS,
  skipSuite,
  startPlatform,
  TestDnsServer,
  type Answer,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import type { AuthenticationProviderRequest } from '@attestry/contracts';

// A provider whose public name has an address of a private network inside, as with split DNS.

const SECRET = 'the-secret-of-the-client-0815';
const suite = 'e2e: providers at inner addresses';
const inner = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address }) => address)
  .find((address) => /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd][0-9a-f]{2}:)/.test(address));
const missing = !hasOpenssl()
  ? 'openssl is not installed'
  : inner === undefined
    ? 'this machine has no address of a private network'
    : undefined;
if (missing !== undefined) skipSuite(suite, missing);

(missing === undefined ? describe : describe.skip)('a provider at an inner address', () => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-inner-'));
  const HOST = 'sso.uni-inner.de';
  const OTHER = 'other.uni-inner.de';
  const servers: Server[] = [];
  const requests: string[] = [];
  /** Members of every discovery document that replace its own. */
  let announced: Record<string, string> = {};
  let dns: TestDnsServer;
  let platform: RunningPlatform;
  let listed: TenantUnderTest;
  let foreign: TenantUnderTest;
  let ports: number[];

  /** A provider's discovery document, at every host. */
  const serve = async (certificates: { cert: string; key: string }): Promise<number> => {
    const server = createServer(
      { cert: readFileSync(certificates.cert), key: readFileSync(certificates.key) },
      (request, response) => {
        requests.push(`${request.headers.host}${request.url}`);
        const issuer = `https://${request.headers.host}/realms/uni`;
        const document = {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/certs`,
          scopes_supported: ['openid'],
          ...announced,
        };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      },
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '::', resolve));
    return (server.address() as AddressInfo).port;
  };

  beforeAll(async () => {
    const { ca, server } = makeTestCertificates(folder, [HOST, OTHER]);
    dns = await TestDnsServer.start();
    ports = [await serve(server), await serve(server), await serve(server)];
    const env = { ALLOW_PRIVATE_TARGETS: 'false', DNS_SERVERS: dns.address, NODE_EXTRA_CA_CERTS: ca };
    platform = await startPlatform({ env });
    const management = await connectManagement(platform);
    [listed, foreign] = await Promise.all([
      createTenantUnderTest(platform, management, 'listed'),
      createTenantUnderTest(platform, management, 'foreign'),
    ]);
    await platform.end();
    const hosts = { [`${HOST}:${ports[0]}`]: [listed.id], [`${HOST}:${ports[1]}`]: [listed.id] };
    await platform.restart({ ...env, OUTBOUND_PORTS: `443,${ports[2]}`, PROVIDER_HOSTS: JSON.stringify(hosts) });
  }, 3 * PLATFORM_START_MS);
  afterAll(async () => {
    await platform?.stop();
    await dns?.stop();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    announced = {};
    requests.length = 0;
    dns.setAddresses(HOST, inner!);
    dns.setAddresses(OTHER, inner!);
  });

  const urlAt = (position: number, host = HOST) => `https://${host}:${ports[position]}/realms/uni`;
  const create = ({ api }: TenantUnderTest, url: string) =>
    api.authenticationProviders.create({ url, clientId: 'attestry', clientSecret: SECRET });
  const reasonOf = ({ status, body }: Answer) => [
    status,
    ...(body as { details: { param: string; msg: string }[] }).details.map(({ param, msg }) => `${param} ${msg}`),
  ];
  const NOT_PUBLIC = [400, 'url must resolve to a public address'];
  const ports443 = () => `must use one of the ports that the operator allows (OUTBOUND_PORTS): 443, ${ports[2]}`;

  it('is refused for another tenant, another host and another port [T768, T769]', async () => {
    expect(reasonOf(await create(foreign, urlAt(0)))).toEqual([400, `url ${ports443()}`]);
    expect(reasonOf(await create(foreign, urlAt(2)))).toEqual(NOT_PUBLIC);
    expect(reasonOf(await create(listed, urlAt(2)))).toEqual(NOT_PUBLIC);
    expect(reasonOf(await create(listed, urlAt(0, OTHER)))).toEqual([400, `url ${ports443()}`]);
    expect(reasonOf(await create(listed, `https://${HOST}/realms/uni`))).toEqual(NOT_PUBLIC);
    expect(requests).toEqual([]);
  });

  it('is refused for other kinds of targets of the listed tenant', async () => {
    const made = expectStatus(
      await listed.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url: `${urlAt(0)}/hook` }),
      201,
    );
    await listed.api.client.request('POST', `/v1/webhooks/${made.id}/test`);
    expect(requests).toEqual([]);
  });

  it.each([['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['169.254.169.254'], ['fe80::1'], ['fd00:ec2::254']])(
    'is refused while its name resolves to %s [T770]',
    async (address) => {
      dns.setAddresses(HOST, address);
      expect(reasonOf(await create(listed, urlAt(0)))).toEqual(NOT_PUBLIC);
      expect(requests).toEqual([]);
    },
  );

  it('has endpoints that are listed or public, at allowed ports [T769]', async () => {
    for (const [member, endpoint, reason] of [
      ['token_endpoint', urlAt(0, OTHER), `token_endpoint in the discovery document ${ports443()}`],
      ['jwks_uri', urlAt(1, OTHER), `jwks_uri in the discovery document ${ports443()}`],
      [
        'token_endpoint',
        'https://10.0.0.8/token',
        'token_endpoint in the discovery document must be a public https URL',
      ],
      [
        'token_endpoint',
        'https://sso.internal/token',
        'token_endpoint in the discovery document must be a public https URL',
      ],
    ] as const) {
      announced = { [member]: endpoint };
      expect(reasonOf(await create(listed, urlAt(0)))).toEqual([400, `url ${reason}`]);
    }
  });

  it('is saved for the listed tenant, with its port; another port is another provider [T768, T769]', async () => {
    const made = expectStatus(await create(listed, `${urlAt(0)}/.well-known/openid-configuration`), 201);
    expect(made.url).toBe(urlAt(0));
    expect(requests).toEqual([`${HOST}:${ports[0]}/realms/uni/.well-known/openid-configuration`]);
    const update = (id: string, body: AuthenticationProviderRequest) =>
      listed.api.authenticationProviders.update(id, body);
    const moved = { url: urlAt(1), clientId: 'attestry' };
    expect(reasonOf(await update(made.id, moved))).toEqual([
      400,
      expect.stringMatching(/^clientSecret must be the secret itself.* because the origin of url changed/),
    ]);
    announced = { token_endpoint: `${urlAt(1)}/token` };
    expect(reasonOf(await update(made.id, { url: urlAt(0), clientId: 'attestry' }))).toEqual([
      400,
      expect.stringMatching(/^clientSecret .* because the origin of the token endpoint of url changed/),
    ]);
    announced = {};
    expect(expectStatus(await update(made.id, { ...moved, clientSecret: SECRET }), 200).url).toBe(urlAt(1));
  });
});
