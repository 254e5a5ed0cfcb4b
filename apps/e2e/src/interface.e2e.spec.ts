import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  ] as const)('(%s) names its purpose and links to documentation and health', async (_kind, url, title, own) => {
    const client = new ApiClient(url());
    const { status, headers, text } = await client.request('GET', '/');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(`<title>${title} - ${new URL(url()).host}</title>`);
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
    const documentation = own.some((path) => path === '/docs') ? [] : [`${platform.ready.management}/docs`];
    expect(links).toEqual([...own, ...documentation, '/health/ready']);
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

  it('is a 404 on a host that serves nothing', async () => {
    for (const host of [platform.tenantUrl('nobody'), hosts.tenant.replace('//', '//sub.')])
      expect((await new ApiClient(host).request('GET', '/')).status).toBe(404);
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
