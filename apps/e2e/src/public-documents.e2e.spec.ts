import { get as httpGet } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  sharedPlatform,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';
import { makeIssuer, type Issuer } from './journey.js';

// Bytes of public documents (ADR 0097).

const METADATA = '/.well-known/openid-credential-issuer';

let platform: PlatformAddresses;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let large: Issuer;
let small: Issuer;
beforeAll(async () => {
  platform = await sharedPlatform();
  const management = await connectManagement(platform);
  [tenant, other] = await Promise.all([
    createTenantUnderTest(platform, management, 'publisher'),
    createTenantUnderTest(platform, management, 'beside'),
  ]);
  [large, small] = await Promise.all([makeIssuer(tenant), makeIssuer(other)]);
  // Almost 2 MiB of metadata, which do not compress well.
  const uri = `data:image/png;base64,${Buffer.from(Array.from({ length: 67_000 }, (_, n) => (n * n * 31 + (n >> 3) * 7) & 255)).toString('base64')}`;
  const display = ['en', 'de'].map((locale) => ({ name: 'Large', locale, logo: { uri } }));
  for (let n = 0; n < 5; n++) {
    const request = { type: `Large${n}`, name: `Large${n}`, issuer: { name: 'x' }, claimMappings: {}, display };
    expectStatus(await tenant.api.jwtVc.create({ ...request, issuerDid: large.did }), 201);
  }
}, PLATFORM_START_MS);

interface Received {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
}
/** Without the headers that `fetch` adds. */
const get = (of: TenantUnderTest, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<Received>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: platform.ready.port, path, method };
    httpGet({ ...options, headers: { host: of.host, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers as Received['headers'],
          body: Buffer.concat(chunks),
        }),
      );
    }).on('error', reject);
  });

const PATHS = [
  METADATA,
  '/.well-known/oauth-authorization-server',
  '/.well-known/did-configuration',
  '/.well-known/did.json',
  '/v1/oauth/jwks',
  '/v1/webhooks/jwks',
  '/.well-known/jwt-vc-issuer',
  '/v1/openid/issuer-ca',
  '/v1/openid/iacas',
  '/v2/credentials/status-lists/aggregation',
  '/v2/credentials/mobile/status-lists/distribution',
];

describe('a public document', () => {
  it.each(PATHS)('%s has an ETag for each encoding, and is a 304 for a client that has it [T535]', async (path) => {
    for (const encoding of [{}, { 'accept-encoding': 'gzip' }] as Record<string, string>[]) {
      const { status, headers, body } = await get(tenant, path, encoding);
      // Keys of the issuer exist with the first SD-JWT VC.
      if (status === 404) continue;
      expect([status, headers['etag']]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)]);
      expect(headers['vary']).toContain('Accept-Encoding');
      expect(Number(headers['content-length'])).toBe(body.length);
      const known = { ...encoding, 'if-none-match': headers['etag']! };
      const again = await get(tenant, path, known);
      expect([again.status, again.body.length, again.headers['content-type']]).toEqual([304, 0, undefined]);
      for (const name of ['etag', 'vary', 'cache-control', 'access-control-allow-origin'])
        expect(again.headers[name]).toBe(headers[name]);
      const head = await get(tenant, path, encoding, 'HEAD');
      expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
        200,
        0,
        headers['content-length'],
      ]);
    }
  });

  it('is the same compressed, with another ETag, and shorter [T535]', async () => {
    const [plain, compressed] = [
      await get(tenant, METADATA),
      await get(tenant, METADATA, { 'accept-encoding': 'br, gzip' }),
    ];
    expect(compressed.headers['content-encoding']).toBe('gzip');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true);
    expect(compressed.body.length).toBeLessThan(plain.body.length);
    expect(compressed.headers['etag']).not.toBe(plain.headers['etag']);
  });

  it('has another ETag in each language, and is as new as the lists after a change [T536]', async () => {
    const of = async (language: string) => get(other, METADATA, { 'accept-language': language });
    const request = { type: 'New', name: 'New', issuer: { name: 'x' }, claimMappings: {}, issuerDid: small.did };
    const display = ['en', 'de'].map((locale) => ({ name: `in ${locale}`, locale }));
    const { id } = expectStatus(await other.api.jwtVc.create({ ...request, display }), 201);
    const [de, en] = [await of('de'), await of('en')];
    expect(new Set([de, en].map(({ headers }) => headers['etag'])).size).toBe(2);
    for (let n = 0; n < 5; n++) {
      const name = `changed ${n}`;
      const changed = { ...request, display: [{ name, locale: 'de' }] };
      expectStatus(await other.api.jwtVc.update(id, changed), 200);
      const { status, headers, body } = await get(other, METADATA, {
        'accept-language': 'de',
        'if-none-match': de.headers['etag']!,
      });
      expect([status, body.includes(name)]).toEqual([200, true]);
      expect(headers['etag']).not.toBe(de.headers['etag']);
    }
    expectStatus(await other.api.jwtVc.delete(id), 204);
    expect((await of('de')).body.includes('changed')).toBe(false);
  });

  it('that is signed is signed once a minute [T537]', async () => {
    const sdJwt = { type: 'S', name: 'S', issuer: { name: 'x' }, claimMappings: {} };
    expectStatus(await other.api.sdJwt.create(sdJwt), 201);
    const signed = () => get(other, METADATA, { accept: 'application/jwt' });
    const first = await signed();
    expect(first.headers['content-type']).toBe('application/jwt');
    await pause(1100);
    // Another process signs its own; of so many requests each of the two gets some.
    const later: unknown[] = [];
    for (let n = 0; n < 16; n++) later.push((await signed()).headers['etag']);
    expect(later).toContain(first.headers['etag']);
    expect(new Set(later).size).toBeLessThanOrEqual(2);
  });
});
