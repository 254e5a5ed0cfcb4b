import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  startPlatform,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';

// Addresses that a platform refuses in its default setting, which allows only public targets.

let platform: RunningPlatform;
let tenant: TenantUnderTest;
beforeAll(async () => {
  platform = await startPlatform({ env: { ALLOW_PRIVATE_TARGETS: 'false' } });
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'cautious');
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

describe('targets', () => {
  it.each([
    'http://hooks.example.com/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://10.0.0.8/x',
    'https://2130706433/x',
    'https://localhost/x',
    'https://intranet/x',
    'https://hooks.example.com/x?token=1',
    'https://hooks.example.com/x#part',
    'https://user:secret@hooks.example.com/x',
    'ftp://hooks.example.com/x',
    'hooks.example.com/x',
    '',
  ])('cannot be %p', async (url) => {
    const answer = await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url });
    expect([answer.status, answer.text]).toEqual([400, expect.anything()]);
    expect(answer.body).toMatchObject({ details: [expect.objectContaining({ param: 'url', location: 'body' })] });
    expect(expectStatus(await tenant.api.webhooks.list(), 200).data).toEqual([]);
  });

  it('may have host names outside ASCII, stored in their ASCII form', async () => {
    const url = 'https://hooks.bücher.de/x';
    const answer = await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url });
    expect(expectStatus(answer, 201).url).toBe('https://hooks.xn--bcher-kva.de/x');
  });
});

describe('an address that is not public', () => {
  it.each([
    'http://accounts.example.com',
    'https://127.0.0.1',
    'https://[::1]',
    'https://10.0.0.8',
    'https://169.254.169.254/latest',
    'https://2130706433',
    'https://localhost',
    'https://intranet',
    'https://idp.no-such-tld',
    'https://accounts.example.com?tenant=1',
    'https://user:word@accounts.example.com',
  ])('is refused: %s', async (url) => {
    const answer = await tenant.api.authenticationProviders.create({ url, clientId: 'c' });
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { code: 'BadRequest', message: 'Validation Error', details: [{ param: 'url' }] },
    ]);
    expect(answer.text).not.toContain('word@');
    expect(expectStatus(await tenant.api.authenticationProviders.list(), 200).data).toEqual([]);
  });
});

describe('claims sources and interaction hooks [T410, T418]', () => {
  it.each([
    'http://source.example.com/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://169.254.169.254/x',
    'https://2130706433/x',
    'https://localhost/x',
    'https://source.internal/x',
    'https://source.example.com/x?a=1',
    'https://user:word@source.example.com/x',
  ])('are not at %s', async (url) => {
    const faultOf = ({ status, body, text }: { status: number; body: unknown; text: string }) => {
      expect(text).not.toContain('word@');
      return [status, (body as { details: { param: string }[] }).details.map(({ param }) => param)];
    };
    const { claimSources, openIdConfiguration } = tenant.api;
    expect(faultOf(await claimSources.create({ name: 'x', url }))).toEqual([400, ['url']]);
    const authorization = {
      type: 'oauth-client-credentials' as const,
      ...{ tokenEndpoint: url, clientId: 'c', clientSecret: 's' },
    };
    const answer = await claimSources.create({ name: 'x', url: 'https://source.example.com/', authorization });
    expect(faultOf(answer)).toEqual([400, ['authorization.tokenEndpoint']]);
    expect(faultOf(await openIdConfiguration.update({ interactionHook: { url } }))).toEqual([
      400,
      ['interactionHook.url'],
    ]);
    expect(expectStatus(await claimSources.list(), 200).data).toEqual([]);
  });
});
