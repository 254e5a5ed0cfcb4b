import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { INTERFACE_VERSION, OPERATIONS, type OpenApiDocument } from '@attestry/contracts';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  PLATFORM_START_MS,
  repository,
  sharedPlatform,
  type PlatformAddresses,
} from '@attestry/testing';

let platform: PlatformAddresses;
/** Base address of the host that serves each definition. */
let hosts: Record<'management' | 'tenant', string>;
beforeAll(async () => {
  platform = await sharedPlatform();
  const management = await connectManagement(platform);
  const tenant = await createTenantUnderTest(platform, management, 'interface');
  hosts = { management: platform.ready.management, tenant: tenant.url };
}, PLATFORM_START_MS);

/** The domain of the platform itself. */
const base = () => platform.ready.management.replace('//management.', '//');
interface FrontPage {
  links: { title: string; href: string }[];
  steps?: { description: string; command: string }[];
}

const both = [['management'], ['tenant']] as const;
const kept = (name: string) => readFileSync(join(repository, `docs/reference/openapi-${name}.json`), 'utf8');

describe.each(both)('the interface definition of the %s API', (name) => {
  it('is served on its host as it is in docs/reference [T69]', async () => {
    const answer = await new ApiClient(hosts[name]).request<OpenApiDocument>('GET', '/openapi.json');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(answer.body).toEqual(JSON.parse(kept(name)));
    expect(answer.body.openapi).toMatch(/^3\.1\./);
    expect(answer.body.info['version']).toMatch(/^v\d+\.\d+\.\d+$/);
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
    expect((await client.request('GET', '/docs/../../package.json')).status).toBe(404);
    expect((await client.request('GET', '/docs/package.json')).status).toBe(404);
  });
});

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
  const received = both.flatMap(([name]) =>
    Object.entries((JSON.parse(kept(name)) as OpenApiDocument).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    ),
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
  expect(newest).toBe(INTERFACE_VERSION);
});
