import { get, type RequestOptions } from 'node:http';
import type { ClientCredentials } from '@attestry/contracts';
import {
  ApiClient,
  clientToken,
  Cluster,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  requestToken,
  startPlatform,
  verifyJwtVc,
  waitUntil,
  Wallet,
  type ManagementApi,
  type RunningPlatform,
  PLATFORM_START_MS,
} from '@attestry/testing';
import { issue, makeIssuer } from './journey.js';

let platform: RunningPlatform;
let management: ManagementApi;
beforeAll(async () => {
  platform = await startPlatform();
  management = await connectManagement(platform);
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

const issueFrom = async (uri: string) => (await new Wallet().collect(uri)).credentials;

/** The end of a client or tenant takes effect within a second (ADR 0056). */
const WITHIN_MS = 1000;

describe('a deleted client', () => {
  it('loses access within a second, and no other client does', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'leaving-clients');
    const leaving = await connectWithRoles(platform, management, tenant, ['issuer']);
    expectStatus(await leaving.dids.list(), 200);
    expectStatus(await management.clients.delete(tenant.id, leaving.clientId), 204);
    await waitUntil(async () => (await leaving.dids.list()).status === 401, { timeoutMs: WITHIN_MS });
    expectStatus(await tenant.api.dids.list(), 200);
    expect((await management.clients.delete(tenant.id, leaving.clientId)).status).toBe(404);
    const { data } = expectStatus(await management.clients.list(tenant.id), 200);
    expect(data.map(({ clientId }) => clientId)).toEqual([tenant.admin.clientId]);
  });

  it('gets no further token', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'tokens');
    const client = expectStatus(await management.clients.create(tenant.id, { name: 'x', roles: ['issuer'] }), 201);
    const credentials = { client_id: client.clientId, client_secret: client.clientSecret };
    expectStatus(await requestToken(platform.ready.auth, credentials, tenant.url), 200);
    expectStatus(await management.clients.delete(tenant.id, client.clientId), 204);
    const refused = await waitUntil(
      async () => {
        const answer = await requestToken(platform.ready.auth, credentials, tenant.url);
        return answer.status === 401 && answer;
      },
      { timeoutMs: WITHIN_MS },
    );
    expect(refused.body).toEqual({ error: 'access_denied', error_description: 'Unauthorized' });
  });
});

/** Callers with one token, one for each gateway: every gateway has seen the token. */
const atEveryGateway = (url: string, token: string): (() => Promise<number[]>) => {
  if (!(platform instanceof Cluster)) {
    const client = new ApiClient(url, token);
    return async () => [(await client.request('GET', '/v1/dids')).status];
  }
  const { host } = new URL(url);
  return () =>
    Promise.all(
      (platform as Cluster).gateways.map(async ({ port }) => {
        const headers = { host, authorization: `Bearer ${token}` };
        const answer = await statusOf({ host: '127.0.0.1', port, path: '/v1/dids', headers, agent: false });
        return answer;
      }),
    );
};
const statusOf = (options: RequestOptions): Promise<number> =>
  new Promise((resolve, reject) =>
    get(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    }).on('error', reject),
  );

describe('a revoked token', () => {
  const revoke = (token: string, { clientId, clientSecret }: ClientCredentials, more: Record<string, string> = {}) =>
    new ApiClient(platform.ready.auth).request('POST', '/oauth/revoke', {
      body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret, ...more }),
    });

  it('loses access within a second at every gateway, and no other token does', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'revoking');
    const lasting = await clientToken(platform, tenant.url, tenant.admin);
    const [calls, others] = [atEveryGateway(tenant.url, tenant.token), atEveryGateway(tenant.url, lasting)];
    for (const statuses of [await calls(), await others()]) expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await calls()).length).toBe(platform instanceof Cluster ? platform.gateways.length : 1);
    expectStatus(await revoke(tenant.token, tenant.admin, { token_type_hint: 'refresh_token' }), 200);
    await waitUntil(async () => (await calls()).every((status) => status === 401), { timeoutMs: WITHIN_MS });
    expect(new Set(await others())).toEqual(new Set([200]));
    // Again, and for what is no token: the same answer.
    expectStatus(await revoke(tenant.token, tenant.admin), 200);
    expectStatus(await revoke('nonsense', tenant.admin), 200);
  });

  it(
    'is looked up by a gateway that starts later',
    async () => {
      const tenant = await createTenantUnderTest(platform, management, 'revoked-before');
      expectStatus(await revoke(tenant.token, tenant.admin), 200);
      if (platform instanceof Cluster) {
        const added = await platform.add('gateway', 'gateway-late');
        expect(await atEveryGateway(tenant.url, tenant.token)()).toEqual(platform.gateways.map(() => 401));
        await platform.retire(added);
      } else {
        await platform.end('SIGKILL');
        await platform.restart();
        expect(await atEveryGateway(tenant.url, tenant.token)()).toEqual([401]);
      }
    },
    PLATFORM_START_MS,
  );

  it('can only be revoked by its own client, with its secret', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'not-revoking');
    const other = await createTenantUnderTest(platform, management, 'not-mine');
    expectStatus(await revoke(tenant.token, other.admin), 200);
    const wrong = await revoke(tenant.token, { ...tenant.admin, clientSecret: 'wrong' });
    expect([wrong.status, wrong.body]).toEqual([401, { error: 'invalid_client', error_description: 'Unauthorized' }]);
    const json = await new ApiClient(platform.ready.auth).request('POST', '/oauth/revoke', { body: { token: 'x' } });
    expect(json.status).toBe(415);
    expectStatus(await tenant.api.dids.list(), 200);
  });

  it('of a management client also loses access', async () => {
    const { client_id: clientId, client_secret: clientSecret } = await platform.makeManagementClient('revoking');
    const own = await connectManagement(platform, { client_id: clientId, client_secret: clientSecret });
    expectStatus(await own.environments.list(), 200);
    expectStatus(await revoke(own.client.token!, { clientId, clientSecret }), 200);
    await waitUntil(async () => (await own.environments.list()).status === 401, { timeoutMs: WITHIN_MS });
  });
});

describe("a client's secret that was replaced without overlap", () => {
  it('invalidates its tokens within a second at every gateway', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'leaking');
    const calls = atEveryGateway(tenant.url, tenant.token);
    expect(new Set(await calls())).toEqual(new Set([200]));
    const fresh = expectStatus(await management.clients.rotateSecret(tenant.id, tenant.admin.clientId, 0), 201);
    await waitUntil(async () => (await calls()).every((status) => status === 401), { timeoutMs: WITHIN_MS });
    const current = atEveryGateway(tenant.url, await clientToken(platform, tenant.url, fresh));
    expect(new Set(await current())).toEqual(new Set([200]));
  });
});

describe('a deleted tenant', () => {
  it('is answered with 404 on every host within a second, and its subdomain remains claimed', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'leaving');
    const issuer = await makeIssuer(tenant);
    const offer = expectStatus(await tenant.api.offers.create({ credentials: [issuer.jwtVc], claims: {} }), 200);
    const { environmentId } = expectStatus(await management.tenants.retrieve(tenant.id), 200);
    expectStatus(await management.tenants.delete(tenant.id), 204);

    await waitUntil(async () => (await tenant.api.dids.list()).status === 404, { timeoutMs: WITHIN_MS });
    // A host that no tenant ever had gets the same answer.
    const { body: gone } = await new ApiClient(platform.tenantUrl('nobody')).request('GET', '/v1/dids');
    expect(gone).toMatchObject({ code: 'NotFound' });
    const wire = new ApiClient(tenant.url);
    for (const path of [
      '/.well-known/openid-credential-issuer',
      '/.well-known/did.json',
      '/v1/webhooks/jwks',
      '/v1/dids',
    ])
      expect((await wire.request('GET', path)).body).toEqual(gone);
    const reference = new URL(offer.uriByReference).searchParams.get('credential_offer_uri')!;
    expect((await hostFetch(reference)).status).toBe(404);

    const credentials = { client_id: tenant.admin.clientId, client_secret: tenant.admin.clientSecret };
    expect((await requestToken(platform.ready.auth, credentials, tenant.url)).status).toBe(401);
    expect((await management.tenants.retrieve(tenant.id)).status).toBe(404);
    expect((await management.tenants.delete(tenant.id)).status).toBe(404);
    expect((await management.clients.list(tenant.id)).status).toBe(404);
    const { data } = expectStatus(await management.tenants.list({ limit: 1000 }), 200);
    expect(data.map(({ id }) => id)).not.toContain(tenant.id);

    const again = await management.tenants.create({ subdomain: 'leaving', environmentId });
    expect(again.status).toBe(400);
    expect(again.body).toMatchObject({ details: [{ param: 'subdomain', location: 'body' }] });
  });

  it('leaves no key behind', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'keyless');
    const issuer = await makeIssuer(tenant);
    const { credentials } = await issue(tenant, { credentials: [issuer.jwtVc], claims: { given_name: 'Ada' } });
    await verifyJwtVc(credentials[0]!.credential as string);
    expectStatus(await management.tenants.delete(tenant.id), 204);
    // Its did:web no longer resolves.
    await waitUntil(
      async () => {
        const failed = await verifyJwtVc(credentials[0]!.credential as string).catch((error: unknown) => error);
        return failed instanceof Error && /answered 404/.test(failed.message);
      },
      { timeoutMs: WITHIN_MS },
    );
  });
});

describe('a name', () => {
  it('is claimed by one of many concurrent callers', async () => {
    const environmentId = expectStatus(await management.environments.list(), 200).data[0]!.id;
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => management.tenants.create({ subdomain: 'wanted', environmentId })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
  });
});

describe('a restart', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'after %s keeps all data',
    async (signal) => {
      const tenant = await createTenantUnderTest(platform, management, `kept-${signal.toLowerCase()}`);
      const issuer = await makeIssuer(tenant);
      const gone = await createTenantUnderTest(platform, management, `gone-${signal.toLowerCase()}`);
      expectStatus(await management.tenants.delete(gone.id), 204);
      const former = await connectWithRoles(platform, management, tenant, ['issuer']);
      expectStatus(await management.clients.delete(tenant.id, former.clientId), 204);
      const { credentials, issued, accessToken } = await issue(tenant, {
        credentials: [issuer.jwtVc],
        claims: { given_name: 'Ada' },
      });
      const open = expectStatus(await tenant.api.offers.create({ credentials: [issuer.jwtVc], claims: {} }), 200);
      const user = expectStatus(await tenant.api.users.create({ claims: { given_name: 'Grace' } }), 201);
      const received = async () => [
        (await tenant.api.dids.retrieve(issuer.did)).body,
        (await tenant.api.dids.list()).body,
        (await tenant.api.jwtVc.list()).body,
        (await tenant.api.webSemantic.retrieve(issuer.webSemantic)).body,
        (await tenant.api.users.list()).body,
        (await tenant.api.users.credentials(issued.userId)).body,
        (await management.tenants.list()).body,
        (await management.clients.list(tenant.id)).body,
        (await tenant.api.metadata()).body,
        (await tenant.api.webhooks.keys()).body,
      ];
      // Lists catch up with what was acknowledged.
      const before = await waitUntil(async () => {
        const now = await received();
        const text = JSON.stringify(now);
        return text.includes(user.id) && text.includes(issued.id) && now;
      });

      await platform.end(signal);
      await platform.restart();

      // The tokens of before are still good, and so are the client's credentials.
      expect(await received()).toEqual(before);
      await clientToken(platform, tenant.url, tenant.admin);
      expect(expectStatus(await tenant.api.users.retrieve(user.id), 200).claims).toEqual({ given_name: 'Grace' });
      expect((await former.dids.list()).status).toBe(401);
      expect((await gone.api.dids.list()).status).toBe(404);
      await verifyJwtVc(credentials[0]!.credential as string);
      expect(accessToken).toEqual(expect.any(String));
      // An open offer can still be collected, a spent one not.
      expect((await issueFrom(open.uri)).length).toBe(1);
      await expect(issueFrom(issued.uri)).rejects.toThrow();
    },
    PLATFORM_START_MS,
  );
});
