import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  PLATFORM_START_MS,
  sharedPlatform,
  waitUntil,
  type ManagementApi,
  type TenantUnderTest,
} from '@attestry/testing';

let management: ManagementApi;
let tenant: TenantUnderTest;

beforeAll(async () => {
  const platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'shown');
}, PLATFORM_START_MS);

const read = async (path: string) =>
  (await (await hostFetch(`${tenant.url}${path}`)).json()) as Record<string, unknown>;
const nameShown = async () => {
  const { display } = await read('/.well-known/openid-credential-issuer');
  return (display as { name: string }[])[0]!.name;
};
const becomes = (name: string) =>
  waitUntil(async () => (await nameShown()) === name, { what: `${name} as the name of the issuer` });
const set = (change: Parameters<TenantUnderTest['api']['openIdConfiguration']['update']>[0]) =>
  tenant.api.openIdConfiguration.update(change);

describe('the name of an issuer in wallets', () => {
  it('is that of the tenant, also after it was renamed, unless the tenant sets another [T746]', async () => {
    expect(await nameShown()).toBe(expectStatus(await management.tenants.retrieve(tenant.id), 200).name);
    expectStatus(await management.tenants.update(tenant.id, 'Universität Ж'), 200);
    await becomes('Universität Ж');
    expect(expectStatus(await set({ displayName: 'Registry' }), 200).displayName).toBe('Registry');
    await becomes('Registry');
    expect(expectStatus(await set({ displayName: null }), 200)).not.toHaveProperty('displayName');
    await becomes('Universität Ж');
    for (const displayName of ['', 'x'.repeat(256), 'a\u0007']) expect((await set({ displayName })).status).toBe(400);
  });
});

describe('the scopes of an issuer', () => {
  it('are left out of both metadata documents where the tenant does not advertise them [T747]', async () => {
    const paths = ['/.well-known/openid-credential-issuer', '/.well-known/oauth-authorization-server'];
    const withScopes = async () =>
      (await Promise.all(paths.map(read))).map((document) => 'scopes_supported' in document);
    expect(await withScopes()).toEqual([true, true]);
    expect(expectStatus(await set({ advertiseScopes: false }), 200).advertiseScopes).toBe(false);
    await waitUntil(async () => (await withScopes()).every((has) => !has), { what: 'no scopes' });
    expect(await set({ advertiseScopes: false, profile: 'haip' })).toMatchObject({
      status: 400,
      body: { details: expect.arrayContaining([expect.objectContaining({ param: 'advertiseScopes' })]) },
    });
    expect(expectStatus(await set({ advertiseScopes: null }), 200).advertiseScopes).toBe(true);
    await waitUntil(async () => (await withScopes()).every(Boolean), { what: 'the scopes' });
  });
});
