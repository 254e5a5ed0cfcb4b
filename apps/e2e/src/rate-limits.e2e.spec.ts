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
      RATE_LIMIT_WALLET_TENANT: '12',
      TRUSTED_PROXIES: '127.0.0.1',
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
  it('count calls per client [T66]', async () => {
    const refused = await exhaust(6, () => tenant.api.dids.list(), 200);
    expectRefused(refused);
    expect(refused.body).toMatchObject({ code: 'TooManyRequests' });
    // A refused call has no effect, and wallets are not affected.
    expect((await new ApiClient(tenant.url).request('POST', '/v1/openid/nonce')).status).toBe(200);
  });

  it('stop a flood of pushed requests before their bodies are read, and not the other calls of wallets [T297]', async () => {
    const pushed = await createTenantUnderTest(platform, await connectManagement(platform), 'slow-pushes');
    const send = (path: string, address: string, text = '') =>
      new ApiClient(pushed.url).request('POST', path, {
        headers: { 'x-forwarded-for': address },
        body: new URLSearchParams({ client_id: 'flood', state: text }),
      });
    const flood = (address: string) =>
      Promise.all(Array.from({ length: 8 }, () => send('/v1/oauth/par', address, 'x'.repeat(64_000))));
    const [one, two] = [await flood('192.0.2.1'), await flood('192.0.2.2')];
    const statuses = [one, two].map((answers) => answers.map(({ status }) => status).sort());
    // Two of an address, three of the tenant; each was read, and refused for its content.
    expect(statuses).toEqual([
      [...Array(2).fill(400), ...Array(6).fill(429)],
      [...Array(1).fill(400), ...Array(7).fill(429)],
    ]);
    expectRefused(two.find(({ status }) => status === 429)!);
    expect((await send('/v1/oauth/par', '192.0.2.3')).status).toBe(429);
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      expect((await send('/v1/oauth/token', address)).status).toBe(400);
  });

  it('count wallet calls per address, and do not count refused ones against the tenant', async () => {
    const used = 1;
    const nonce = (address: string) =>
      new ApiClient(tenant.url).request('POST', '/v1/openid/nonce', { headers: { 'x-forwarded-for': address } });
    for (let n = used + 1; n <= 5; n++) expect((await nonce('127.0.0.1')).status).toBe(200);
    const refused = await nonce('127.0.0.1');
    expectRefused(refused);
    expect(header(refused, 'x-ratelimit-limit')).toBe(5);
    expect(refused.body).toMatchObject({ error: expect.any(String) });
    await Promise.all(Array.from({ length: 200 }, () => nonce('127.0.0.1')));
    // 5 of the tenant's 12 calls are used: two more addresses use up the others, then the tenant's own limit refuses.
    for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.1', '198.51.100.2', '198.51.100.3'])
      expect((await nonce(address)).status).toBe(200);
    const last = await nonce('198.51.100.3');
    expect([last.status, header(last, 'x-ratelimit-limit'), header(last, 'x-ratelimit-remaining')]).toEqual([
      200, 12, 1,
    ]);
    expect((await nonce('198.51.100.4')).status).toBe(200);
    const closed = await nonce('198.51.100.5');
    expectRefused(closed);
    expect(header(closed, 'x-ratelimit-limit')).toBe(12);
  });

  it('count requests for public documents per address', async () => {
    expectRefused(await exhaust(8, () => new ApiClient(tenant.url).request('GET', '/v1/webhooks/jwks'), 200));
  });

  it('do not apply to health checks', async () => {
    const client = new ApiClient(`http://127.0.0.1:${platform.ready.port}`);
    for (let n = 0; n < 30; n++) expect((await client.request('GET', '/health/live')).status).toBe(200);
  });

  it('count failed token calls per address, and not against the attacked client', async () => {
    const { clientId, clientSecret } = tenant.admin;
    const call = (client_secret: string, address: string) =>
      new ApiClient(platform.ready.auth).request('POST', '/oauth/token', {
        headers: { 'x-forwarded-for': address },
        body: { client_id: clientId, client_secret, audience: tenant.url, grant_type: 'client_credentials' },
      });
    for (let n = 1; n <= 20; n++)
      for (let failure = 1; failure <= 3; failure++) expect((await call('wrong', `198.51.100.${n}`)).status).toBe(401);
    for (const secret of ['wrong', clientSecret]) expectRefused(await call(secret, '198.51.100.1'));
    const right = await call(clientSecret, '198.51.100.99');
    // One call of this client id was made before: for the token of this suite.
    expect([right.status, header(right, 'x-ratelimit-limit'), header(right, 'x-ratelimit-remaining')]).toEqual([
      200, 4, 2,
    ]);
  });

  it('count token calls with the right secret per client', async () => {
    const { clientId, clientSecret } = tenant.admin;
    const right = { client_id: clientId, client_secret: clientSecret };
    const used = 2;
    for (let n = used + 1; n <= 4; n++)
      expect((await requestToken(platform.ready.auth, right, tenant.url)).status).toBe(200);
    expectRefused(await requestToken(platform.ready.auth, right, tenant.url));
  });

  // Last, for by now most of the minute has passed.
  it('admit a client again after the reset, and not before [T68]', async () => {
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
