import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { OPERATIONS, type OpenApiDocument } from '@attestry/contracts';
import {
  ApiClient,
  chromiumPath,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  interfaceDocument,
  interfaceDocuments,
  platformMode,
  PLATFORM_START_MS,
  repository,
  sharedPlatform,
  skipSuite,
  startBrowser,
  waitUntil,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

let platform: PlatformAddresses;
let tenant: TenantUnderTest;
/** Base address of the host that serves each definition. */
let hosts: Record<'management' | 'tenant', string>;
beforeAll(async () => {
  platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'interface');
  hosts = { management: platform.ready.management, tenant: tenant.url };
}, PLATFORM_START_MS);

/** The domain of the platform itself. */
const base = () => platform.ready.management.replace('//management.', '//');
interface FrontPage {
  links: { title: string; href: string }[];
  steps?: { description: string; command: string }[];
}

const both = [['management'], ['tenant']] as const;
/** The committed documents have examples of the hosts of an environment. */
const withoutServers = ({ paths, ...document }: OpenApiDocument): object => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, { servers, ...operation }]) => [
          method,
          { ...operation, hasServers: servers !== undefined },
        ]),
      ),
    ]),
  ),
});

describe.each(both)('the interface definition of the %s API', (name) => {
  it('is served on its host as it is committed [T69]', async () => {
    const answer = await new ApiClient(hosts[name]).request<OpenApiDocument>('GET', '/openapi.json');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(withoutServers(answer.body)).toEqual(withoutServers(interfaceDocument(name)));
    expect(answer.body.openapi).toMatch(/^3\.1\./);
    expect(answer.body.info['version']).toMatch(/^v\d+\.\d+\.\d+$/);
  });

  it('names the hosts and the scheme of the environments, whatever the Host header [T801]', async () => {
    const client = new ApiClient(hosts[name]);
    const { body, text } = await client.request<OpenApiDocument>('GET', '/openapi.json');
    const { host } = new URL(hosts[name]);
    for (const other of [host.toUpperCase(), host.replace(/(?=:|$)/, '.')])
      expect((await client.request('GET', '/openapi.json', { headers: { host: other } })).text).toBe(text);
    expect(/[\w.-]+\.invalid\b/.exec(text)).toBeNull();
    const named = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { servers }]) =>
        ((servers ?? []) as { url: string }[]).map(({ url }) => ({ method, path, url })),
      ),
    );
    const expected = { management: platform.ready.auth, tenant: platform.tenantUrl('contexts') }[name];
    expect([...new Set(named.map(({ url }) => url))]).toEqual([expected]);
    const allowed = (await client.request('GET', '/docs')).headers.get('content-security-policy');
    expect(allowed).toContain(`connect-src 'self' ${expected};`);
    for (const { method, path, url } of named.filter(({ method }) => method === 'get')) {
      const { status } = await new ApiClient(url).request(method.toUpperCase(), path);
      expect([path, status]).toEqual([path, 200]);
    }
  });

  it('is compressed for clients that accept it, as is the viewer [T663]', async () => {
    const client = new ApiClient(hosts[name]);
    for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css']) {
      const plain = await client.request('GET', path, { headers: { 'accept-encoding': 'identity' } });
      const headers = { 'accept-encoding': 'gzip, deflate, br' };
      const answer = await client.request('GET', path, { headers });
      expect([path, answer.status, answer.headers.get('content-encoding')]).toEqual([path, 200, 'gzip']);
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      expect(answer.text === plain.text).toBe(true);
      expect(3 * Number(answer.headers.get('content-length'))).toBeLessThan(plain.text.length);
      const [etag, other] = [answer, plain].map((one) => one.headers.get('etag')!);
      expect(etag).not.toBe(other);
      const again = await client.request('GET', path, { headers: { ...headers, 'if-none-match': etag! } });
      expect([again.status, again.text]).toEqual([304, '']);
    }
  });

  it('answers HEAD, 304 to a matching ETag, and no other method', async () => {
    const client = new ApiClient(hosts[name]);
    const head = await client.request('HEAD', '/openapi.json');
    expect([head.status, head.text]).toEqual([200, '']);
    const headers = { 'if-none-match': head.headers.get('etag')! };
    expect((await client.request('GET', '/openapi.json', { headers })).status).toBe(304);
    const posted = await client.request('POST', '/openapi.json', { body: {} });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is shown at /docs by a page without external resources and inline code', async () => {
    const client = new ApiClient(hosts[name]);
    const { status, text, headers } = await client.request('GET', '/docs');
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self';",
    );
    expect(text).not.toMatch(/<style|\son\w+=|style=|<script(?! src=)/);
    const parts = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(parts.length).toBeGreaterThan(3);
    for (const path of parts) {
      expect(path).toMatch(/^\/[^/]/);
      const part = await client.request('GET', path);
      expect([path, part.status, part.headers.get('x-content-type-options')]).toEqual([path, 200, 'nosniff']);
    }
    // The dialog of a tenant has another field, for tokens of wallets.
    expect(text).toContain('in the field of <code>bearerAuth</code>');
    const call = /<code>(curl .*)<\/code>/
      .exec(text)![1]!
      .replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(code));
    const clients = {
      management: () => platform.managementClient(),
      tenant: () => ({ client_id: tenant.admin.clientId, client_secret: tenant.admin.clientSecret }),
    };
    const filled = clients[name]();
    const command = call.replace(/<(client_id|client_secret)>/g, (_all, member: keyof typeof filled) => filled[member]);
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', `${command} -sS --fail-with-body`]);
    const token = (JSON.parse(stdout) as { access_token: string }).access_token;
    const list = { management: '/v1/tenants', tenant: '/v1/dids' }[name];
    expect((await new ApiClient(hosts[name], token).request('GET', list)).status).toBe(200);
    expect((await client.request('GET', '/docs/../../package.json')).status).toBe(404);
    expect((await client.request('GET', '/docs/package.json')).status).toBe(404);
  });
});

const suite = 'e2e: /docs in a browser';
const missing = chromiumPath() === undefined ? 'Chromium is not installed (Debian: apt install chromium)' : undefined;
if (missing !== undefined) skipSuite(suite, missing);

/**
 * One process is enough: the page is made of files of the gateway, which are compared above in both modes, and of calls that other specs
 * make.
 */
const describeBrowser = () => {
  const SHOWN_MS = 60_000;
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, PLATFORM_START_MS);
  afterAll(() => browser?.close());

  const open = async (context: BrowserContext, url: string, faults: string[] = []): Promise<Page> => {
    context.setDefaultTimeout(SHOWN_MS);
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) faults.push(message.text());
    });
    await page.goto(`${url}/docs`);
    await page.waitForSelector('.opblock-tag');
    return page;
  };
  const authorize = async (page: Page, token: string) => {
    await page.click('.btn.authorize');
    await page.locator('.auth-container input').first().fill(token);
    await page.locator('.auth-btn-wrapper .authorize').first().click();
    await page.locator('.btn-done').first().click();
  };
  const tryOut = async (page: Page, id: string) => {
    await page.fill('.operation-filter-input', id.split('-').at(-1)!);
    const operation = page.locator(`#operations-${id}`);
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.try-out__btn').click();
    return operation;
  };
  const execute = async (operation: Locator) => {
    await operation.locator('.execute').click();
    return operation.locator('.live-responses-table tbody .response-col_status').first().innerText();
  };
  const filled = (operation: Locator, selector: string, text: string) =>
    waitUntil(async () => (await operation.locator(selector).first().inputValue()).includes(text), {
      what: `${selector} with ${text}`,
      timeoutMs: SHOWN_MS,
    });

  it('with collapsed tags and a filter over path, summary, method, tag and operation id [T664]', async () => {
    const context = await browser.newContext();
    const faults: string[] = [];
    const page = await open(context, hosts.tenant, faults);
    const ids = () => page.locator('.opblock').evaluateAll((all: { id: string }[]) => all.map(({ id }) => id));
    const shows = async (phrase: string, expected: string[]) => {
      await page.fill('.operation-filter-input', phrase);
      const isShown = async () => JSON.stringify(await ids()) === JSON.stringify(expected);
      await waitUntil(isShown, { what: `the operations of ${phrase}`, timeoutMs: SHOWN_MS });
    };
    expect(await ids()).toEqual([]);
    expect(await page.locator('.opblock-tag').count()).toBeGreaterThan(10);
    const [authorized, preAuthorized] = ['operations-Offers-createOffer', 'operations-Offers-createPreAuthorizedOffer'];
    await shows('CREATE offer', [authorized!, preAuthorized!]);
    await shows('createPreAuthorizedOffer', [preAuthorized!]);
    await shows('post /v1/openid/offers', [authorized!, preAuthorized!]);
    await shows('resolve any other DID', ['operations-DIDs-retrieveDid']);
    await shows('unheard-of', []);
    await shows('offers /pre-authorized post', [preAuthorized!]);
    await shows('', []);
    expect(faults).toEqual([]);
    await context.close();
  }, 180_000);

  it('that keeps the access token for the tab, and fills in ids that exist [T665, T666]', async () => {
    const { did } = expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
    const named = { type: 'Listed', name: 'Listed', issuer: { name: 'Docs' }, claimMappings: {} };
    const { id } = expectStatus(await tenant.api.jwtVc.create(named), 201);
    const context = await browser.newContext();
    const faults: string[] = [];
    const page = await open(context, hosts.tenant, faults);
    await authorize(page, tenant.api.client.token!);
    await page.reload();
    await page.waitForSelector('.btn.authorize.locked');
    expect(await page.locator('#token-call').getAttribute('open')).toBe(null);
    const keys = await page.evaluate('[Object.keys(sessionStorage), Object.keys(localStorage), document.cookie]');
    expect(keys).toEqual([['attestry.access-token'], [], '']);

    const offer = await tryOut(page, 'Offers-createPreAuthorizedOffer');
    await filled(offer, 'textarea', id);
    expect(await execute(offer)).toMatch(/^200/);
    const retrieved = await tryOut(page, 'DIDs-retrieveDid');
    await filled(retrieved, 'tr[data-param-name="id"] input', did);
    expect(await execute(retrieved)).toMatch(/^200/);
    // The person chooses what is deleted.
    const deleted = await tryOut(page, 'DIDs-deleteDid');
    expect(await deleted.locator('tr[data-param-name="id"] input').inputValue()).toBe('');

    const other = await open(context, hosts.tenant, faults);
    expect(await other.locator('.btn.authorize.unlocked').count()).toBe(1);
    await other.close();
    await page.click('.btn.authorize');
    await page.locator('.auth-btn-wrapper button', { hasText: 'Logout' }).first().click();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    const expired = `e30.${Buffer.from('{"exp":1}').toString('base64url')}.x`;
    await page.evaluate(`sessionStorage.setItem('attestry.access-token', '${expired}')`);
    await page.reload();
    await page.waitForSelector('.btn.authorize.unlocked');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  }, 240_000);

  it('of the management API, with the id of an environment and of a tenant [T666]', async () => {
    const context = await browser.newContext();
    const page = await open(context, hosts.management);
    const management = (await connectManagement(platform)).client;
    await authorize(page, management.token!);
    const { body } = await management.request<{ data: { id: string }[] }>('GET', '/v1/environments');
    await filled(await tryOut(page, 'Tenants-createTenant'), 'textarea', body.data[0]!.id);
    const retrieved = await tryOut(page, 'Tenants-retrieveTenant');
    await filled(retrieved, 'tr[data-param-name="tenantId"] input', '-');
    expect(await execute(retrieved)).toMatch(/^200/);
    await context.close();
  }, 180_000);
};
if (platformMode() !== 'cluster')
  (missing === undefined ? describe : describe.skip)('a browser shows /docs', describeBrowser);

it('other hosts serve no definition', async () => {
  for (const host of [platform.ready.auth, platform.tenantUrl('contexts'), platform.tenantUrl('nobody')])
    for (const path of ['/openapi.json', '/docs'])
      expect((await new ApiClient(host).request('GET', path)).status).toBe(404);
});

describe('/ of a host', () => {
  it.each([
    ['management', () => platform.ready.management, 'Management API', ['/docs', '/openapi.json']],
    ['auth', () => platform.ready.auth, 'Authorization server', []],
    ['tenant', () => hosts.tenant, 'Tenant API', ['/docs', '/openapi.json', '/.well-known/openid-credential-issuer']],
    ['contexts', () => platform.tenantUrl('contexts'), 'JSON-LD contexts', ['/v1']],
    [
      'platform',
      base,
      'Attestry',
      () => [platform.ready.management, `${platform.ready.management}/docs`, platform.ready.auth],
    ],
  ] as const)('(%s) names its purpose and links to documentation and health', async (_kind, url, title, own) => {
    const client = new ApiClient(url());
    const { status, headers, text } = await client.request('GET', '/');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(`<title>${title} - ${new URL(url()).host}</title>`);
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
    const expected: readonly string[] = typeof own === 'function' ? own() : own;
    const documentation = expected.some((path) => path.endsWith('/docs')) ? [] : [`${platform.ready.management}/docs`];
    expect(links).toEqual([...expected, ...documentation, '/health/ready']);
    for (const link of links) {
      const { origin, pathname } = new URL(link, url());
      const linked = await new ApiClient(origin).request('GET', pathname);
      expect([link, linked.status]).toEqual([link, 200]);
    }
  });

  it('runs no script and loads no external resources', async () => {
    const { headers, text } = await new ApiClient(hosts.tenant).request('GET', '/');
    const style = createHash('sha256')
      .update(/<style>([^]*)<\/style>/.exec(text)![1]!)
      .digest('base64');
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${style}'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(text).not.toMatch(/<script|\son\w+=|style=|src=/);
    expect(text).toContain('<html lang="en">');
  });

  it('answers HEAD, 304 and OPTIONS, and other methods with 405', async () => {
    const client = new ApiClient(hosts.tenant);
    const head = await client.request('HEAD', '/?x=1');
    expect([head.status, head.text]).toEqual([200, '']);
    const known = { 'if-none-match': head.headers.get('etag')! };
    expect((await client.request('GET', '/', { headers: known })).status).toBe(304);
    const options = await client.request('OPTIONS', '/');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refused = await client.request(method, '/');
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });

  it('is JSON for clients that ask for it [T662]', async () => {
    const headers = { accept: 'application/json' };
    for (const host of [base(), hosts.tenant, hosts.management]) {
      const { status, headers: received, body } = await new ApiClient(host).request<FrontPage>('GET', '/', { headers });
      expect([status, received.get('content-type'), received.get('vary')]).toEqual([
        ...[200, 'application/json; charset=utf-8', 'Accept'],
      ]);
      for (const { href } of body.links) {
        const { origin, pathname } = new URL(href);
        expect([href, (await new ApiClient(origin).request('GET', pathname)).status]).toEqual([href, 200]);
      }
    }
  });

  it('of the domain of the platform has the first steps, whose commands work [T660]', async () => {
    const { body, text } = await new ApiClient(base()).request<FrontPage>('GET', '/', {
      headers: { accept: 'application/json' },
    });
    expect(text).toContain(`<subdomain>.${new URL(base()).host}`);
    const { client_id, client_secret } = platform.managementClient();
    const known: Record<string, string> = { client_id, client_secret };
    const run = async (command: string) => {
      const filled = command.replace(/<(\w+)>/g, (_all, name: string) => known[name]!);
      const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', `${filled} -sS --fail-with-body`]);
      return JSON.parse(stdout) as { access_token: string; data: { id: string }[]; subdomain: string };
    };
    const [token, environments, tenant] = body.steps!.map(({ command }) => command);
    known['access_token'] = (await run(token!)).access_token;
    known['id'] = (await run(environments!)).data[0]!.id;
    const subdomain = `first-steps-${Date.now().toString(36)}`;
    const created = await run(tenant!.replace('"subdomain":"acme"', `"subdomain":"${subdomain}"`));
    expect(created.subdomain).toContain(subdomain);
    expect((await new ApiClient(base()).request('GET', '/v1/dids')).status).toBe(404);
  });

  it('is a 404 on a host that serves nothing: JSON, and a page for browsers [T661]', async () => {
    for (const host of [platform.tenantUrl('nobody'), hosts.tenant.replace('//', '//sub.')]) {
      const client = new ApiClient(host);
      const plain = await client.request<{ code: string }>('GET', '/');
      expect([plain.status, plain.body.code]).toEqual([404, 'NotFound']);
      const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      const page = await client.request('GET', '/', { headers });
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect([page.headers.get('cache-control'), page.headers.get('x-frame-options')]).toEqual(['no-store', 'DENY']);
      expect(page.text).toContain('<h1>Unknown host</h1>');
      expect(page.text).not.toMatch(/<script|\son\w+=|style=|src=|nobody/);
      const head = await client.request('HEAD', '/', { headers });
      expect([head.status, head.text]).toEqual([404, '']);
    }
  });
});

it('together they describe every operation over HTTP, once', () => {
  const received = interfaceDocuments().flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`)),
  );
  const declared = OPERATIONS.flatMap(({ http }) =>
    http
      ? [http.path, ...(http.alsoAt ?? [])].map(
          (path) => `${http.method.toLowerCase()} ${path.replace(/^\*/, '/{path}').replaceAll(/:(\w+)/g, '{$1}')}`,
        )
      : [],
  );
  expect(received.sort()).toEqual(declared.sort());
});

it('the changelog lists each version, the newest first [T71]', () => {
  const changelog = readFileSync(join(repository, 'docs/reference/changelog.md'), 'utf8');
  const [newest] = [...changelog.matchAll(/^## (v\S+)$/gm)].map(([, version]) => version);
  for (const { info } of interfaceDocuments()) expect(info['version']).toBe(newest);
});
