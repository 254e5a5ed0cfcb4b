import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  startPlatform,
  Wallet,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import { makeIssuer } from './journey.js';

const LIMIT = 400_000;
const large = { claims: { note: 'x'.repeat(50_000) } };
let platform: RunningPlatform;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
beforeAll(async () => {
  platform = await startPlatform({ env: { WRITE_LIMIT_DAY: String(LIMIT) } });
  const management = await connectManagement(platform);
  [tenant, other] = [
    await createTenantUnderTest(platform, management, 'flood'),
    await createTenantUnderTest(platform, management, 'calm'),
  ];
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

describe('a tenant that writes more bytes than it may', () => {
  it('gets 429, while its wallets collect, its data can be deleted and other tenants are not affected [T582] [T583]', async () => {
    const issuer = await makeIssuer(tenant);
    const offer = expectStatus(
      await tenant.api.offers.create({ credentials: [issuer.jwtVc], claims: { given_name: 'Ada' } }),
      200,
    );
    const made: string[] = [];
    let answer = await tenant.api.users.create(large);
    for (; answer.status === 201; answer = await tenant.api.users.create(large)) {
      made.push((answer.body as { id: string }).id);
      if (made.length > 20) break;
    }
    expect(answer.status).toBe(429);
    expect(answer.body).toMatchObject({
      code: 'TooManyRequests',
      message: `The tenant may write at most ${LIMIT} bytes in a day`,
    });
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(86_000);
    expect(seconds).toBeLessThanOrEqual(86_400);
    expect(made.length).toBeGreaterThan(2);

    expectStatus(await tenant.api.users.list(), 200);
    const { credentials } = await new Wallet().collect(offer.uri);
    expect(credentials).toHaveLength(1);
    expect((await tenant.api.users.delete(made[0]!)).status).toBe(204);
    expectStatus(await other.api.users.create(large), 201);
  });
});
