import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import {
  ApiClient,
  clientToken,
  Cluster,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  startPlatform,
  TenantApi,
  waitUntil,
  type ManagementApi,
  type RunningPlatform,
} from '@attestry/testing';
import { command } from './commands.js';

const LEAD_SECONDS = 4;

let platform: RunningPlatform;
let management: ManagementApi;
beforeAll(async () => {
  platform = await startPlatform({ env: { TOKEN_KEY_LEAD_SECONDS: String(LEAD_SECONDS) } });
  if (platform instanceof Cluster) await platform.add('management', 'management-2');
  management = await connectManagement(platform);
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

interface Rotation {
  kid: string;
  signsFrom: string;
  previous: { kid: string };
}
const rotate = async (): Promise<Rotation> => {
  const said =
    platform instanceof Cluster
      ? await platform.command('rotate-token-keys')
      : await command('rotate-token-keys', [], {
          DATA_DIR: platform.dataDir,
          TOKEN_KEY_LEAD_SECONDS: String(LEAD_SECONDS),
        });
  return JSON.parse(said) as Rotation;
};

describe('`npm run rotate-token-keys`', () => {
  it('publishes the key, then all replicas sign with it; tokens of the previous key remain valid', async () => {
    const tenant = await createTenantUnderTest(platform, management, 'rotating-keys');
    const keySet = async () =>
      expectStatus(
        await new ApiClient(platform.ready.auth).request<JSONWebKeySet>('GET', '/.well-known/jwks.json'),
        200,
      );
    const kidsOf = async () => (await keySet()).keys.map(({ kid }) => kid);
    const newToken = () => clientToken(platform, tenant.url, tenant.admin);
    const kidOf = (token: string) => decodeProtectedHeader(token).kid;
    const before = await kidsOf();
    expect(before).toEqual([kidOf(tenant.token)]);

    const { kid, signsFrom, previous } = await rotate();
    expect([previous.kid, await kidsOf()]).toEqual([before[0], [before[0], kid]]);
    const early = await newToken();
    if (Date.now() < Date.parse(signsFrom) - 500) expect(kidOf(early)).toBe(previous.kid);
    await waitUntil(() => Date.now() >= Date.parse(signsFrom), { timeoutMs: 2000 * LEAD_SECONDS, what: 'the lead' });
    // Several, because they are distributed over all replicas.
    const tokens = await Promise.all(Array.from({ length: 10 }, newToken));
    expect([...new Set(tokens.map(kidOf))]).toEqual([kid]);
    const set = createLocalJWKSet(await keySet());
    for (const token of [tenant.token, early, ...tokens]) {
      await jwtVerify(token, set);
      expectStatus(await new TenantApi(tenant.url, token).dids.list(), 200);
    }
  }, 60_000);
});
