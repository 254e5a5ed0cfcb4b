/** @engines embedded */
import { createHash, randomBytes } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  registerWallet,
  startPlatform,
  type Answer,
  type ManagementApi,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';

const CLIENT = 'known-wallet';
const BACK = 'https://known-wallet.example/back';
const LARGEST_PAGE = 512 * 1024;

let platform: RunningPlatform;
let management: ManagementApi;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
beforeAll(async () => {
  platform = await startPlatform({ env: { MAX_CALLS_IN_FLIGHT: '64' } });
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'flooded');
  other = await createTenantUnderTest(platform, management, 'beside');
}, PLATFORM_START_MS);
afterAll(() => platform?.stop());

const statusesOf = (answers: readonly Answer[]) => {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('pages of users with large claims', () => {
  it('end before they have 512 KB, in the list and in the search, also 40 at once [T554]', async () => {
    const claims = { group: 'large', text: 'x'.repeat(60_000) };
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) ids.push(expectStatus(await tenant.api.users.create({ claims }), 201).id);
    const list = (cursor?: string) => tenant.api.users.list({ limit: 1000, ...(cursor !== undefined && { cursor }) });
    const search = (cursor?: string) =>
      tenant.api.users.search({ claims: { group: 'large' }, limit: 1000, ...(cursor !== undefined && { cursor }) });
    for (const pageOf of [list, search]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const answer = await pageOf(cursor);
        const page = expectStatus(answer, 200);
        expect(answer.text.length).toBeLessThan(LARGEST_PAGE);
        expect(page.data.length).toBeLessThan(10);
        seen.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(ids);
    }
    const answers = await Promise.all(Array.from({ length: 40 }, () => list()));
    expect(statusesOf(answers)).toEqual({ 200: 40 });
    for (const { text } of answers) expect(text.length).toBeLessThan(LARGEST_PAGE);
  }, 60_000);
});

describe('calls with a token in flight', () => {
  it('of a tenant are 64: further ones are a 429, those of other tenants and of wallets are served [T555]', async () => {
    const flood = Array.from({ length: 300 }, () => tenant.api.users.list({ limit: 1000 }));
    const nonces = Array.from({ length: 100 }, () => new ApiClient(tenant.url).request('POST', '/v1/openid/nonce'));
    const beside = Array.from({ length: 20 }, () => other.api.users.list());
    const answers = await Promise.all(flood);
    const counts = statusesOf(answers);
    expect(Object.keys(counts)).toEqual(['200', '429']);
    expect(counts[200]).toBeGreaterThanOrEqual(64);
    const refused = answers.find(({ status }) => status === 429)!;
    expect([refused.headers.get('retry-after'), refused.body]).toEqual([
      '1',
      { code: 'TooManyRequests', message: 'Too many calls with access tokens in flight' },
    ]);
    expect(statusesOf(await Promise.all(nonces))).toEqual({ 200: 100 });
    expect(statusesOf(await Promise.all(beside))).toEqual({ 200: 20 });
    expect((await tenant.api.users.list()).status).toBe(200);
  }, 60_000);
});

describe('a flood of refused calls of a known client', () => {
  const parameters = (more: Record<string, string>) =>
    new URLSearchParams({
      ...{ response_type: 'code', client_id: CLIENT, redirect_uri: BACK },
      code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    });
  const eventsOf = async (type: string) => {
    const found: { type: string; metadata: Record<string, unknown>; requestId: string }[] = [];
    let cursor: string | undefined;
    do {
      const page = expectStatus(
        await tenant.api.analytics.list({ types: [type], limit: 1000, ...(cursor !== undefined && { cursor }) }),
        200,
      );
      found.push(...(page.data as unknown as typeof found));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return found;
  };

  it('is 20 of each check with START and FAIL, and one pair with the number of the others [T556]', async () => {
    await registerWallet(tenant.api, CLIENT, BACK);
    const push = (more: Record<string, string>) =>
      new ApiClient(tenant.url).request('POST', '/v1/oauth/par', { body: parameters(more) });
    for (let n = 0; n < 10; n++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => push({ scope: 'no_such_scope' })));
      expect(statusesOf(answers)).toEqual({ 400: 50 });
    }
    const authorizations = Array.from({ length: 30 }, () =>
      new ApiClient(tenant.url).request('GET', `/v1/oauth/authorize?${parameters({ scope: 'no_such_scope' })}`, {}),
    );
    await Promise.all(authorizations);
    // Counts that are not a minute old are written too when the process stops.
    await platform.end();
    await platform.restart();
    for (const [prefix, repeated] of [
      ['OPENID_PAR', 480],
      ['OPENID_AUTHORIZE', 10],
    ] as const) {
      const [starts, failures] = [await eventsOf(`${prefix}_START`), await eventsOf(`${prefix}_FAIL`)];
      expect([starts.length, failures.length]).toEqual([21, 21]);
      expect(new Set(starts.map(({ requestId }) => requestId))).toEqual(
        new Set(failures.map(({ requestId }) => requestId)),
      );
      const numbers = failures.flatMap(({ metadata }) => metadata['repeated'] ?? []);
      expect(numbers).toEqual([repeated]);
      for (const { metadata } of failures)
        expect(metadata).toMatchObject({ walletId: expect.any(String), error: { status: 400 } });
    }
  }, 90_000);
});
