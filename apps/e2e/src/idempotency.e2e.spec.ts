import { request as httpRequest } from 'node:http';
import {
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  ManagementApi,
  PLATFORM_START_MS,
  startPlatform,
  waitUntil,
  type Answer,
  type ApiClient,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';

let platform: RunningPlatform;
let management: ManagementApi;
let tenant: TenantUnderTest;

beforeAll(async () => {
  platform = await startPlatform({ startTimeoutMs: PLATFORM_START_MS });
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'repeats');
}, PLATFORM_START_MS + 60_000);
afterAll(() => platform?.stop());

const post = (client: ApiClient, path: string, body: unknown, key?: string): Promise<Answer<Record<string, unknown>>> =>
  client.request('POST', path, { body, ...(key !== undefined && { headers: { 'Idempotency-Key': key } }) });
/** Until the first call of this key is over. */
const repeated = async (client: ApiClient, path: string, body: unknown, key: string) => {
  let last: Answer<Record<string, unknown>> | undefined;
  await waitUntil(
    async () => {
      last = await post(client, path, body, key);
      return last.status !== 409;
    },
    { intervalMs: 100 },
  );
  return last!;
};
/** Sends the call and hangs up before anything can be answered. */
const sendAndHangUp = ({ baseUrl, token }: ApiClient, path: string, body: unknown, key: string): Promise<void> => {
  const url = new URL(baseUrl + path);
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: url.port,
        method: 'POST',
        path: url.pathname,
        headers: {
          host: url.host,
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          'idempotency-key': key,
        },
      },
      (response) => response.resume(),
    );
    request.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve() : reject(error)));
    request.end(text, () => {
      request.destroy();
      resolve();
    });
  });
};

const webhook = (n: string) => ({ url: `https://receiver.attestry.dev/${n}`, events: ['OpenIdCredentialIssued'] });

it(
  'returns the first result again, including secrets, also after the process was killed',
  async () => {
    const body = { name: 'once', roles: ['issuer'] };
    const path = `/v1/tenants/${tenant.id}/clients`;
    const first = expectStatus(await post(management.client, path, body, 'client-1'), 201);
    expect(await post(management.client, path, body, 'client-1')).toMatchObject({ status: 201, body: first });
    const user = expectStatus(await post(tenant.api.client, '/v1/users', { claims: { a: 1 } }, 'user-1'), 201);
    await platform.kill();
    await platform.restart();
    expect(await repeated(management.client, path, body, 'client-1')).toMatchObject({ status: 201, body: first });
    const again = await repeated(tenant.api.client, '/v1/users', { claims: { a: 1 } }, 'user-1');
    expect(again).toMatchObject({ status: 201, body: user });
    const { data } = expectStatus(await management.clients.list(tenant.id), 200);
    expect(data.filter(({ name }) => name === 'once')).toHaveLength(1);
    expect(platform.log()).not.toContain(first['clientSecret'] as string);
  },
  PLATFORM_START_MS,
);

it('creates one resource for a call whose answer was lost', async () => {
  for (let n = 0; n < 10; n++) {
    const key = `lost-${n}`;
    const body = webhook(key);
    await sendAndHangUp(tenant.api.client, '/v1/webhooks', body, key);
    const received = await repeated(tenant.api.client, '/v1/webhooks', body, key);
    expect(received.status).toBe(201);
    expect((await post(tenant.api.client, '/v1/webhooks', body, key)).body).toEqual(received.body);
  }
  const { data } = expectStatus(await tenant.api.webhooks.list(), 200);
  expect(data.filter(({ url }) => url.includes('/lost-'))).toHaveLength(10);
});

it(
  'creates one tenant for a call that a killed process did not answer',
  async () => {
    const [environment] = expectStatus(await management.environments.list(), 200).data;
    const body = { name: 'killed', subdomain: 'killed', environmentId: environment!.id };
    await sendAndHangUp(management.client, '/v1/tenants', body, 'killed');
    await platform.kill();
    await platform.restart();
    const made = expectStatus(await repeated(management.client, '/v1/tenants', body, 'killed'), 201);
    expect((await post(management.client, '/v1/tenants', body, 'killed')).body).toEqual(made);
    const { data } = expectStatus(await management.tenants.list(), 200);
    expect(data.filter(({ name }) => name === 'killed').map(({ id }) => id)).toEqual([made['id']]);
  },
  PLATFORM_START_MS,
);

it('is separate for each client and tenant', async () => {
  const other = await createTenantUnderTest(platform, management, 'repeats-other');
  const second = await connectWithRoles(platform, management, tenant, ['issuer']);
  const ids = new Set<unknown>();
  for (const client of [tenant.api.client, second.client, other.api.client])
    ids.add(expectStatus(await post(client, '/v1/users', { claims: {} }, 'same'), 201)['id']);
  expect(ids.size).toBe(3);
});

it('refuses another body with 422 and an invalid key with 400, in the error shape of each API', async () => {
  expectStatus(await post(tenant.api.client, '/v1/users', { claims: {} }, 'body'), 201);
  const details = [{ param: 'Idempotency-Key', location: 'headers', msg: expect.any(String) }];
  expect(await post(tenant.api.client, '/v1/users', { claims: { a: 1 } }, 'body')).toMatchObject({
    status: 422,
    body: { code: 'UnprocessableContent', message: expect.any(String), details },
  });
  expect(await post(tenant.api.client, '/v1/users', { claims: {} }, 'a b')).toMatchObject({
    status: 400,
    body: { details },
  });
  const path = `/v1/tenants/${tenant.id}/clients`;
  expectStatus(await post(management.client, path, { name: 'a', roles: ['issuer'] }, 'body'), 201);
  expect(await post(management.client, path, { name: 'b', roles: ['issuer'] }, 'body')).toMatchObject({
    status: 422,
    body: { code: 'UnprocessableContent', type: 'RepeatError', details },
  });
});

it('is ignored by operations that create nothing', async () => {
  const answer = await tenant.api.client.request('GET', '/v1/users', { headers: { 'Idempotency-Key': 'a b' } });
  expect(answer.status).toBe(200);
});
