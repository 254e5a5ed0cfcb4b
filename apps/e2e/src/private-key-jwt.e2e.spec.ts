import { createHash, randomBytes } from 'node:crypto';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  sharedPlatform,
  startProviderProcess,
  TENANT_CLIENT,
  type ProviderProcess,
  type TenantUnderTest,
} from '@attestry/testing';

const BACK = 'https://wallet.example/back';

let provider: ProviderProcess;
let tenant: TenantUnderTest;
/** The provider does not know the key of this tenant. */
let other: TenantUnderTest;
/** Id of the provider, by tenant. */
const ids = new Map<TenantUnderTest, string>();

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'client-key');
  other = await createTenantUnderTest(platform, management, 'other-client-key');
  provider = await startProviderProcess({
    accounts: [{ sub: 'ada', name: 'Ada' }],
    options: { isPushRequired: true, jwksUri: `${tenant.url}/v1/users/authentication-providers/jwks` },
  });
  for (const one of [tenant, other]) {
    const { api, host } = one;
    expectStatus(await api.dids.create({ method: 'web', options: { url: host } }), 201);
    const { id } = expectStatus(
      await api.authenticationProviders.create({
        ...{ url: provider.issuer, clientId: TENANT_CLIENT.clientId, tokenEndpointAuthMethod: 'private_key_jwt' },
        forwardedRequestParameters: ['login_hint'],
      }),
      201,
    );
    ids.set(one, id);
    const claimMappings = { name: { mapFrom: 'claims.name' } };
    expectStatus(await api.jwtVc.create({ type: 'Pass', name: 'Pass', issuer: { name: 'City' }, claimMappings }), 201);
    await registerWallet(api, 'wallet', BACK);
  }
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

/** Follows the sign-in from the wallet's request to its redirect. */
const signIn = async ({ url }: TenantUnderTest): Promise<URLSearchParams> => {
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'wallet', redirect_uri: BACK, scope: 'jwt_vc_json:Pass', state: 's' },
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: 'ada',
  });
  const there = await new RedirectBrowser().follow(`${url}/v1/oauth/authorize?${query}`, (at) => at.startsWith(BACK));
  return there.searchParams;
};
const check = async (one: TenantUnderTest) =>
  expectStatus(
    await one.api.client.request<{ credentials: object }>(
      'POST',
      `/v1/users/authentication-providers/${ids.get(one)}/check`,
    ),
    200,
  ).credentials;

describe('a provider that requires a client key and pushed requests [T839]', () => {
  it('signs people in by the key that the tenant publishes', async () => {
    expect(await check(tenant)).toMatchObject({ result: 'notRefused', error: 'invalid_grant' });
    const answer = await signIn(tenant);
    expect([answer.get('error'), answer.get('code')]).toEqual([null, expect.any(String)]);
  });

  it('refuses a tenant with another key', async () => {
    expect(await check(other)).toMatchObject({ result: 'refused', error: 'invalid_client' });
    const answer = await signIn(other);
    expect([answer.get('error'), answer.get('code')]).toEqual(['server_error', null]);
  });
});
