/** @engines embedded */
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { PLATFORM_START_MS, startPlatformProcess, type PlatformProcess } from '@attestry/testing';

const BASE = 'issue.example.org';
const TENANT = `acme.${BASE}`;
const LISTED = 'https://wallet.example/back';
const MANAGEMENT_CLIENT = { client_id: 'm'.repeat(32), client_secret: 's'.repeat(64) };

const UNKNOWN = /client_id must be the one of a wallet that is registered with this issuer/;

let platform: PlatformProcess;
/** Access token of the tenant. */
let token: string;

/** Sends requests like a proxy that terminates TLS: plain HTTP to the gateway, with the public Host. */
const send = (method: string, host: string, path: string, more: { token?: string; body?: object } = {}) =>
  new Promise<{ status: number; headers: Record<string, string>; text: string }>((resolve, reject) => {
    const body = more.body && JSON.stringify(more.body);
    const request = httpRequest(
      {
        ...{ host: '127.0.0.1', port: platform.ready.port, method, path, agent: false },
        headers: {
          host,
          ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...(more.token && { authorization: `Bearer ${more.token}` }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers as Record<string, string>,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    request.once('error', reject);
    request.end(body);
  });

const authorize = (redirectUri: string | undefined, more: Record<string, string> = {}) =>
  send(
    'GET',
    TENANT,
    `/v1/oauth/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: 'wallet',
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
      scope: 'ldp_vc:Course',
      state: 'of-the-wallet',
      code_challenge: randomBytes(32).toString('base64url'),
      code_challenge_method: 'S256',
      ...more,
    })}`,
  );

const expectPage = (
  { status, headers, text }: Awaited<ReturnType<typeof authorize>>,
  description: RegExp,
  error = 'invalid_request',
) => {
  expect([status, headers['content-type'], headers['location'], headers['cache-control']]).toEqual([
    400,
    'text/html; charset=utf-8',
    undefined,
    'no-store',
  ]);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(text).toMatch(/^<!doctype html>/);
  expect(text).toContain(`<dd>${error}</dd>`);
  expect(text).toMatch(description);
  expect(text).toContain(headers['x-request-id']);
};

beforeAll(async () => {
  platform = await startPlatformProcess({
    env: {
      ...{ NODE_ENV: 'production', PUBLIC_SCHEME: 'https', BASE_DOMAIN: BASE, ALLOW_PRIVATE_TARGETS: 'false' },
      MASTER_KEY: randomBytes(32).toString('base64url'),
      MANAGEMENT_CLIENT_ID: MANAGEMENT_CLIENT.client_id,
      MANAGEMENT_CLIENT_SECRET: MANAGEMENT_CLIENT.client_secret,
    },
  });
  const given = await send('POST', `auth.${BASE}`, '/oauth/token', {
    body: { ...MANAGEMENT_CLIENT, grant_type: 'client_credentials' },
  });
  const { access_token: operator } = JSON.parse(given.text) as { access_token: string };
  const environments = await send('GET', `management.${BASE}`, '/v1/environments', { token: operator });
  const [environment] = (JSON.parse(environments.text) as { data: { id: string }[] }).data;
  const made = await send('POST', `management.${BASE}`, '/v1/tenants', {
    token: operator,
    body: { name: 'Acme', subdomain: 'acme', environmentId: environment!.id },
  });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  const { client } = JSON.parse(made.text) as { client: { clientId: string; clientSecret: string } };
  const granted = await send('POST', `auth.${BASE}`, '/oauth/token', {
    body: {
      ...{ client_id: client.clientId, client_secret: client.clientSecret },
      ...{ grant_type: 'client_credentials', audience: `https://${TENANT}` },
    },
  });
  token = (JSON.parse(granted.text) as { access_token: string }).access_token;
}, PLATFORM_START_MS);
afterAll(() => platform?.stop());

describe('the authorization endpoint in production', () => {
  it('refuses wallets that are not registered, on a page [T214]', async () => {
    expectPage(await authorize(LISTED), UNKNOWN, 'unauthorized_client');
    for (const redirectUri of ['http://127.0.0.1:1/back', 'org.example.wallet:/back'])
      expectPage(await authorize(redirectUri), UNKNOWN, 'unauthorized_client');
    expectPage(await authorize('intent://x'), /redirect_uri must be an https URL/);
    expectPage(await authorize(undefined), /redirect_uri must be sent once, with a value/);
    expectPage(await authorize(LISTED, { client_id: '' }), /client_id must be sent once, with a value/);
    expectPage(
      await send('GET', TENANT, '/v1/oauth/authentication/callback?state=x'),
      /the sign-in has ended or was started in another browser/,
    );
    const { text } = await send('GET', TENANT, '/v1/openid/configuration', { token });
    expect(JSON.parse(text)).toMatchObject({ allowUnregisteredWallets: false });
  });

  it('shows nothing of the request on the error page', async () => {
    const { text } = await authorize('https://phish.example/<b>', { client_id: 'call-0800-phish', state: 'phish' });
    expect(text).not.toContain('phish');
  });

  it('redirects errors to listed addresses, with a warning, until the tenant has a wallet [T215]', async () => {
    await platform.end();
    await platform.restart({ WALLET_REDIRECT_URIS: `${LISTED},intent://listed` });
    for (let n = 0; n < 2; n++) {
      const { status, headers } = await authorize(LISTED);
      expect([status, headers['location']]).toEqual([
        302,
        expect.stringMatching(/^https:\/\/wallet\.example\/back\?error=invalid_scope&.*state=of-the-wallet&iss=https/),
      ]);
    }
    expect(platform.log().split('wallet allowed by WALLET_REDIRECT_URIS')).toHaveLength(2);
    for (const other of [`${LISTED}/`, 'https://other.example/back', 'org.example.wallet:/back'])
      expectPage(await authorize(other, { response_type: 'token' }), UNKNOWN, 'unauthorized_client');
    expectPage(await authorize('intent://listed'), /redirect_uri must be an https URL/);

    const body = { name: 'City wallet', clientId: 'city', redirectUris: ['org.example.city:/back'] };
    expect((await send('POST', TENANT, '/v1/openid/wallets', { token, body })).status).toBe(201);
    expectPage(await authorize(LISTED), UNKNOWN, 'unauthorized_client');
    const registered = await authorize('org.example.city:/back', { client_id: 'city' });
    expect([registered.status, registered.headers['location']]).toEqual([
      302,
      expect.stringMatching(/^org\.example\.city:\/back\?error=invalid_scope&/),
    ]);
  });
});
