import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  requestToken,
  startPlatform,
  type Answer,
  type RunningPlatform,
  type TenantUnderTest,
  PLATFORM_START_MS,
  waitUntil,
} from '@attestry/testing';

let platform: RunningPlatform;
let tenant: TenantUnderTest;
beforeAll(async () => {
  platform = await startPlatform({
    env: {
      RATE_LIMIT_API: '6',
      RATE_LIMIT_CLIENT_TOKEN: '4',
      RATE_LIMIT_CLIENT_TOKEN_FAILURES: '3',
      RATE_LIMIT_WALLET_TENANT: '100',
      RATE_LIMIT_WALLET_ADDRESS: '5',
      RATE_LIMIT_PUBLIC: '8',
    },
  });
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'slow');
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

const header = ({ headers }: Answer, name: string) => Number(headers.get(name));

/** Calls until it is refused; every answer counts one less. */
const exhaust = async (limit: number, call: () => Promise<Answer>, allowed: number): Promise<Answer> => {
  for (let n = 1; n <= limit; n++) {
    const answer = await call();
    expect([answer.status, header(answer, 'x-ratelimit-limit'), header(answer, 'x-ratelimit-remaining')]).toEqual([
      allowed,
      limit,
      limit - n,
    ]);
  }
  return call();
};

const expectRefused = (answer: Answer) => {
  expect(answer.status).toBe(429);
  expect(answer.body).toMatchObject({ message: expect.any(String) });
  expect(header(answer, 'x-ratelimit-remaining')).toBe(0);
  const now = Date.now() / 1000;
  expect(header(answer, 'x-ratelimit-reset')).toBeGreaterThan(now - 1);
  expect(header(answer, 'x-ratelimit-reset')).toBeLessThan(now + 62);
  expect(header(answer, 'retry-after')).toBeGreaterThan(0);
  expect(header(answer, 'retry-after')).toBeLessThanOrEqual(61);
};

describe('rate limits', () => {
  it('count the calls of a client [T66]', async () => {
    const refused = await exhaust(6, () => tenant.api.dids.list(), 200);
    expectRefused(refused);
    expect(refused.body).toMatchObject({ code: 'TooManyRequests' });
    // Nothing of a refused call happens, and wallets are not held up.
    expect((await new ApiClient(tenant.url).request('POST', '/v1/openid/nonce')).status).toBe(200);
  });

  it('count wallet calls of an address', async () => {
    const used = 1;
    const nonce = () => new ApiClient(tenant.url).request('POST', '/v1/openid/nonce');
    for (let n = used + 1; n <= 5; n++) expect((await nonce()).status).toBe(200);
    const refused = await nonce();
    expectRefused(refused);
    expect(refused.body).toMatchObject({ error: expect.any(String) });
  });

  it('count public documents of an address', async () => {
    expectRefused(await exhaust(8, () => new ApiClient(tenant.url).request('GET', '/v1/webhooks/jwks'), 200));
  });

  it('never hold up health', async () => {
    const client = new ApiClient(`http://127.0.0.1:${platform.ready.port}`);
    for (let n = 0; n < 30; n++) expect((await client.request('GET', '/health/live')).status).toBe(200);
  });

  it('count token calls of a client id, then failures of an address', async () => {
    const { clientId, clientSecret } = tenant.admin;
    const right = { client_id: clientId, client_secret: clientSecret };
    const used = 1;
    for (let n = used + 1; n <= 4; n++)
      expect((await requestToken(platform.ready.auth, right, tenant.url)).status).toBe(200);
    expectRefused(await requestToken(platform.ready.auth, right, tenant.url));

    const wrong = () =>
      requestToken(platform.ready.auth, { client_id: 'A'.repeat(32), client_secret: 'wrong' }, tenant.url);
    for (let n = 1; n <= 3; n++) expect((await wrong()).status).toBe(401);
    expectRefused(await wrong());
  });

  // Last, for by now most of the minute has passed.
  it('let a client in that waited for the reset, and not before', async () => {
    let refused = await tenant.api.dids.list();
    for (let n = 0; refused.status !== 429 && n < 6; n++) refused = await tenant.api.dids.list();
    expectRefused(refused);
    const reset = header(refused, 'x-ratelimit-reset');
    await waitUntil(() => Date.now() / 1000 >= reset - 1.5, { timeoutMs: 65_000, what: 'a moment before the reset' });
    expect((await tenant.api.dids.list()).status).toBe(429);
    await waitUntil(() => Date.now() / 1000 >= reset, { timeoutMs: 5000, what: 'the reset' });
    const answer = await tenant.api.dids.list();
    expect([answer.status, header(answer, 'x-ratelimit-remaining')]).toEqual([200, 5]);
  }, 80_000);
});
