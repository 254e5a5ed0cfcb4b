import {
  connectManagement,
  createTenantUnderTest,
  PLATFORM_START_MS,
  startPlatform,
  waitUntil,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';

let platform: RunningPlatform;
let tenant: TenantUnderTest;
beforeAll(async () => {
  platform = await startPlatform({ env: { LOG_LEVEL: 'debug' } });
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'refused');
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

const CANARY = 'canary.person@example.com';
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const linesOf = (requestId: string) =>
  platform
    .log()
    .split('\n')
    .filter((line) => line.includes(requestId))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The only line about the refused request. */
const lineOf = async (method: string, path: string, body: string, headers: Record<string, string>) => {
  const answer = await tenant.api.client.request(method, path, { body, headers });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  const requestId = answer.headers.get('x-request-id')!;
  await waitUntil(async () => linesOf(requestId).some(({ msg }) => msg === 'operation refused'), { what: 'the line' });
  const refused = linesOf(requestId).filter(({ msg }) => msg === 'operation refused');
  expect(refused).toHaveLength(1);
  return refused[0]!;
};

describe('the log of a refused operation', () => {
  it.each<[string, string, string, object, Record<string, string>]>([
    [
      'POST',
      '/v1/dids',
      '{"method":"web","options":{}}',
      { member: 'options.url', reason: expect.stringMatching(/^is required: /) },
      json,
    ],
    [
      'POST',
      '/v1/dids',
      `{"method":"${CANARY}","options":{"a":1}}`,
      { member: 'method', reason: 'must be one of: key, web' },
      json,
    ],
    [
      'POST',
      '/v1/dids',
      `{"method":"${CANARY}`,
      { member: 'body', reason: expect.stringMatching(/^must be valid JSON: /) },
      json,
    ],
    [
      'POST',
      '/v1/webhooks',
      `{"url":"https://user:${CANARY}@example.com/${CANARY}","events":[]}`,
      { member: expect.stringMatching(/^(url|events)$/), reason: expect.any(String) },
      json,
    ],
    [
      'POST',
      '/v1/users',
      `{"claims":{"email":"${CANARY}","notes":"${'x'.repeat(520_000)}"}}`,
      { member: 'claims.notes', reason: expect.stringMatching(/^must have at most \d+ characters$/) },
      json,
    ],
    [
      'POST',
      '/v1/openid/offers/pre-authorized',
      `{"credentials":["${CANARY}"],"claims":{"email":"${CANARY}"}}`,
      { member: expect.stringMatching(/^credentials/), reason: expect.any(String) },
      json,
    ],
    [
      'POST',
      '/v1/oauth/token',
      `grant_type=${CANARY}&code=${CANARY}`,
      { code: 'unsupported_grant_type', reason: expect.any(String) },
      form,
    ],
    [
      'POST',
      '/v1/openid/credential',
      `{"email":"${CANARY}"}`,
      { code: expect.any(String), reason: expect.any(String) },
      json,
    ],
  ])('%s %s has level, member and reason, and no value [T657, T658]', async (method, path, body, expected, headers) => {
    const line = await lineOf(method, path, body, headers);
    expect(line).toMatchObject({ level: 'info', tenantId: tenant.id, operation: expect.any(String), ...expected });
    expect(JSON.stringify(line)).not.toMatch(/canary|xxx/);
  });

  it('of an unknown caller is of level debug, with the reason of the challenge [T658]', async () => {
    const answer = await tenant.api.client.request('GET', '/v1/dids', { token: null });
    const requestId = answer.headers.get('x-request-id')!;
    await waitUntil(async () => linesOf(requestId).length > 0, { what: 'the line' });
    expect(linesOf(requestId)).toEqual([
      expect.objectContaining({ level: 'debug', code: 'Unauthorized', reason: 'The request has no access token' }),
    ]);
  });

  it('has no line with a value or a numeric level [T657]', () => {
    expect(platform.log()).not.toContain('canary');
    expect(platform.log()).not.toMatch(/"level":\d/);
  });
});
