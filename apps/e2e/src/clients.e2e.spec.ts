import {
  ApiClient,
  clientToken,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  requestToken,
  PLATFORM_START_MS,
  sharedPlatform,
  TenantApi,
  waitUntil,
  type ManagementApi,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

let platform: PlatformAddresses;
let management: ManagementApi;
let tenant: TenantUnderTest;
beforeAll(async () => {
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'clients');
}, PLATFORM_START_MS);

/** The end of a client or tenant takes effect within a second (ADR 0056). */
const WITHIN_MS = 1000;

describe("a client's roles", () => {
  it('take effect at once for issued tokens: removed, restored, and ended with the client', async () => {
    const api = await connectWithRoles(platform, management, tenant, ['issuer']);
    const change = async (roles: ('issuer' | 'auditor')[]) =>
      expectStatus(await management.clients.update(tenant.id, api.clientId, { name: 'changing', roles }), 200);
    const statuses = async () => [(await api.dids.list()).status, (await api.analytics.list()).status].join();
    expect(await statuses()).toBe('200,403');
    expect(await change(['auditor'])).toMatchObject({ name: 'changing', roles: ['auditor'] });
    await waitUntil(async () => (await statuses()) === '403,200', { timeoutMs: WITHIN_MS });
    await change(['issuer', 'auditor']);
    await waitUntil(async () => (await statuses()) === '200,200', { timeoutMs: WITHIN_MS });
    expect((await management.clients.retrieve(tenant.id, api.clientId)).body).toMatchObject({
      roles: ['issuer', 'auditor'],
    });
    expectStatus(await management.clients.delete(tenant.id, api.clientId), 204);
    await waitUntil(async () => (await statuses()) === '401,401', { timeoutMs: WITHIN_MS });
  });
});

describe('a tenant that restricts which roles change its identity', () => {
  it('accepts changes of domain, DIDs and provider only from admin and issuer, within a second', async () => {
    const owned = await createTenantUnderTest(platform, management, 'restricted');
    const roles = ['issuer', 'managed-issuer', 'verifier', 'dts-provider'] as const;
    const apis = await Promise.all(
      roles.map(async (role) => [role, await connectWithRoles(platform, management, owned, [role])] as const),
    );
    const NO_SUCH = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';
    const provider = { url: 'https://idp.example', clientId: 'c' };
    /** Each with a body that is refused, or for a missing resource: nothing changes, and 403 takes precedence. */
    const changes = ({ client }: TenantApi): Promise<number[]> =>
      Promise.all(
        (
          [
            ['POST', '/v1/config/domain', {}],
            ['PUT', '/v1/config/domain', {}],
            ['DELETE', '/v1/config/domain', undefined],
            ['POST', '/v1/config/domain/verify', undefined],
            ['POST', '/v1/dids', { method: 'web', options: {} }],
            ['DELETE', '/v1/dids/did:web:x.example', undefined],
            ['POST', '/v1/users/authentication-providers', { ...provider, clientId: '' }],
            ['PUT', `/v1/users/authentication-providers/${NO_SUCH}`, provider],
            ['DELETE', `/v1/users/authentication-providers/${NO_SUCH}`, undefined],
            ['PUT', '/v1/openid/configuration', { interactionHook: { sessionTimeoutInSec: 1 } }],
          ] as const
        ).map(async ([method, path, body]) => (await client.request(method, path, body && { body })).status),
      );
    const isForbidden = (statuses: number[]) => statuses.every((status) => status === 403);
    expect(expectStatus(await management.tenants.retrieve(owned.id), 200).restrictIdentityRoles).toBe(false);
    for (const [role, api] of apis) {
      const statuses = await changes(api);
      const mayChangeProviders = role === 'issuer' || role === 'managed-issuer';
      expect([role, statuses.map((status) => status === 403)]).toEqual([
        role,
        [...Array<boolean>(6).fill(false), ...Array<boolean>(4).fill(!mayChangeProviders)],
      ]);
    }
    const set = async (restrictIdentityRoles: boolean) =>
      expect(expectStatus(await management.tenants.change(owned.id, { restrictIdentityRoles }), 200)).toMatchObject({
        restrictIdentityRoles,
        name: 'restricted',
      });
    await set(true);
    for (const [role, api] of apis.slice(1))
      await waitUntil(async () => isForbidden(await changes(api)), { timeoutMs: WITHIN_MS, what: `403 for ${role}` });
    for (const api of [owned.api, apis[0]![1]]) expect(await changes(api)).not.toContain(403);
    // Reading is as before, and so is what is no part of the identity.
    for (const [, api] of apis.slice(1)) expectStatus(await api.dids.list(), 200);
    expectStatus(await apis[1]![1].users.list(), 200);
    await set(false);
    await waitUntil(async () => !(await changes(apis[1]![1])).includes(403), { timeoutMs: WITHIN_MS });
  });
});

describe("a client's secret", () => {
  const asks = async (clientId: string, clientSecret: string) =>
    (await requestToken(platform.ready.auth, { client_id: clientId, client_secret: clientSecret }, tenant.url)).status;

  it('is rotated; both secrets obtain tokens until the overlap ends, and a token ends with its secret', async () => {
    const made = expectStatus(await management.clients.create(tenant.id, { name: 'rotating', roles: ['issuer'] }), 201);
    const { clientId, clientSecret: old } = made;
    const api = new TenantApi(tenant.url, await clientToken(platform, tenant.url, made));
    const fresh = expectStatus(await management.clients.rotateSecret(tenant.id, clientId, 3), 201);
    const left = Date.parse(fresh.previousSecretExpiresAt!) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(3000);
    expectStatus(await api.dids.list(), 200);
    expect(await asks(clientId, old)).toBe(200);
    expect(await asks(clientId, fresh.clientSecret)).toBe(200);
    await waitUntil(async () => (await asks(clientId, old)) === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(fresh.previousSecretExpiresAt!));
    const current = new TenantApi(tenant.url, await clientToken(platform, tenant.url, fresh));
    expectStatus(await current.dids.list(), 200);
    await waitUntil(async () => (await api.dids.list()).status === 401, { timeoutMs: WITHIN_MS });
    // It is returned once, and never again.
    const shown = [await management.clients.retrieve(tenant.id, clientId), await management.clients.list(tenant.id)];
    for (const { text } of shown) expect(text).not.toMatch(/secret/i);

    const last = expectStatus(await management.clients.rotateSecret(tenant.id, clientId, 0), 201);
    expect(last).toEqual({ clientId, clientSecret: expect.any(String) });
    expect(await asks(clientId, fresh.clientSecret)).toBe(401);
    await waitUntil(async () => (await current.dids.list()).status === 401, { timeoutMs: WITHIN_MS });
    const latest = new TenantApi(tenant.url, await clientToken(platform, tenant.url, last));
    expectStatus(await latest.dids.list(), 200);
    expectStatus(await management.clients.delete(tenant.id, clientId), 204);
    await waitUntil(async () => (await latest.dids.list()).status === 401, { timeoutMs: WITHIN_MS });
  });

  it('is valid for another day when the rotation request has no body', async () => {
    const made = expectStatus(await management.clients.create(tenant.id, { name: 'wordless', roles: ['issuer'] }), 201);
    const path = `/v1/tenants/${tenant.id}/clients/${made.clientId}/secret`;
    const answer = await new ApiClient(management.client.baseUrl, management.client.token).request('POST', path, {});
    const { previousSecretExpiresAt } = expectStatus(answer, 201) as { previousSecretExpiresAt: string };
    const left = Date.parse(previousSecretExpiresAt) - Date.now();
    expect(left).toBeGreaterThan(86_000_000);
    expect(left).toBeLessThanOrEqual(86_400_000);
    expect(await asks(made.clientId, made.clientSecret)).toBe(200);
  });
});
