import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '@attestry/contracts';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  interfaceDocument,
  PLATFORM_START_MS,
  sharedPlatform,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';
import { describedOperations, patternOf, type ApiName } from './fuzz/described-operations.js';

let platform: PlatformAddresses;
let tenant: TenantUnderTest;
let clients: Record<ApiName, ApiClient>;
beforeAll(async () => {
  platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'interface-rules');
  clients = { management: management.client, tenant: tenant.api.client };
}, PLATFORM_START_MS);

const definitions: Record<ApiName, OpenApiDocument> = {
  management: interfaceDocument('management'),
  tenant: interfaceDocument('tenant'),
};
const ID = '7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61';
const filled = (path: string) => path.replaceAll(/\{\w+\}/g, ID);

describe.each<ApiName>(['management', 'tenant'])('the interface definition of the %s API', (name) => {
  const { paths } = definitions[name];

  it('has the methods of a literal path, also where another path has a parameter in its place [T802]', async () => {
    const ambiguous = Object.keys(paths).filter(
      (path) => !path.includes('{path}') && Object.keys(paths).some((it) => it !== path && patternOf(it).test(path)),
    );
    if (name === 'tenant') expect(ambiguous.length).toBeGreaterThan(10);
    for (const path of ambiguous) {
      const declared = Object.keys(paths[path]!).map((method) => method.toUpperCase());
      const allowed = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].filter(
        (method) => declared.includes(method) || (method === 'HEAD' && declared.includes('GET')),
      );
      const options = await clients[name].request('OPTIONS', filled(path));
      expect([path, options.status, options.headers.get('allow')]).toEqual([
        ...[path, 204, [...allowed, 'OPTIONS'].join(', ')],
      ]);
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'].filter((it) => !allowed.includes(it))) {
        const refused = await clients[name].request(method, filled(path));
        expect([path, method, refused.status, refused.headers.get('allow')]).toEqual([
          ...[path, method, 405, allowed.join(', ')],
        ]);
      }
    }
  });

  it('has a body that is an object, and no operation accepts null in its place [T804]', async () => {
    const withBody = describedOperations(name, definitions[name]).filter(
      ({ body, security }) => body?.['application/json'] && security.some((it) => 'bearerAuth' in it),
    );
    expect(withBody.length).toBeGreaterThan(5);
    for (const { method, path, id } of withBody) {
      const own = path.replace('{tenantId}', tenant.id).replaceAll(/\{\w+\}/g, ID);
      const { status, body } = await clients[name].request<{ details?: object[] }>(method, own, { body: 'null' });
      expect([id, status, body.details]).toEqual([
        ...[id, 400, expect.arrayContaining([{ msg: 'must be an object', param: 'body', location: 'body' }])],
      ]);
    }
  });
});

describe('a rule that a keyword expresses', () => {
  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'tenant', ...definitions.tenant } as object);

  const claimMappings = { a: { mapFrom: 'claims.a' } };
  const issuer = { name: 'A' };
  const jwtVc = { type: 'Rule', name: 'A', issuer, claimMappings };
  const mobile = {
    type: 'org.example.rule',
    claimMappings: { 'org.example.1': claimMappings },
    expiresIn: { days: 1 },
  };
  const offer = (entry: unknown) => ({ credentials: [entry] });
  const sets = (...claimSets: object[]) => offer({ credentialConfigurationId: ID, claimSets });
  const configurations = (profile: string) => `/v2/credentials/${profile}/configurations`;
  const wrong: [what: string, path: string, body: object][] = [
    ['a locale', configurations('jwt-vc'), { ...jwtVc, display: [{ locale: 'en_US' }] }],
    ['an empty expiresIn', configurations('jwt-vc'), { ...jwtVc, expiresIn: {} }],
    ['an image', configurations('jwt-vc'), { ...jwtVc, credentialBranding: { watermarkImageUrl: 'logo.png' } }],
    ['a path of a claim', configurations('jwt-vc'), { ...jwtVc, claimMappings: { a: { mapFrom: 'a' } } }],
    [
      'an unknown member of a mapping',
      configurations('jwt-vc'),
      { ...jwtVc, claimMappings: { a: { mapFrom: 'claims.a', b: 1 } } },
    ],
    [
      'a language of a claim',
      configurations('jwt-vc'),
      { ...jwtVc, claimMappings: { a: { mapFrom: 'claims.a', display: [{ name: 'A', locale: 'x' }] } } },
    ],
    ['a context', configurations('web-semantic'), { ...jwtVc, contexts: ['context.json'] }],
    ['a vct', configurations('sd-jwt'), { ...jwtVc, vct: 'degree' }],
    ['an issuer', configurations('compact'), { type: 'Rule', claimMappings, issuer: 'did:key:z6Mk' }],
    ['a begin of the validity', configurations('mobile'), { ...mobile, validFrom: { mapFrom: 'a' } }],
    ['an end of the validity', configurations('mobile'), { ...mobile, validUntil: { mapFrom: 'claims' } }],
    ['a mechanism without a status', configurations('mobile'), { ...mobile, statusMechanism: 'status_list' }],
    [
      'a type of an element',
      configurations('mobile'),
      { ...mobile, claimMappings: { 'org.example.1': { a: { mapFrom: 'claims.a', type: 'text' } } } },
    ],
    ['an id', '/v1/openid/offers', offer('1')],
    ['an entry without claim sets', '/v1/openid/offers', offer({ credentialConfigurationId: ID })],
    ['no claim set', '/v1/openid/offers', sets()],
    ['an unknown member of a claim set', '/v1/openid/offers', sets({ claims: {}, x: 1 })],
    ['an empty identifier', '/v1/openid/offers', sets({ claims: {}, identifier: '' })],
    ['an empty lifetime', '/v1/openid/offers/pre-authorized', { ...offer(ID), expiresIn: {} }],
    ['a cursor', '/v1/users/search', { cursor: 'a-b' }],
    ['no options of a DID', '/v1/dids', { method: 'key', options: {} }],
    ['a key type', '/v1/dids', { method: 'key', options: { keyType: 'RSA' } }],
    ['an address of a webhook', '/v1/webhooks', { events: ['OpenIdCredentialIssued'], url: 'hooks.example' }],
    [
      'a path of a parameter',
      '/v1/claim-sources',
      { name: 'A', url: 'https://a.example.com', requestParameters: { a: { mapFrom: 'credentialConfiguration.x' } } },
    ],
  ];

  it.each(wrong)('is a rule of the server: %s [T803]', async (_what, path, body) => {
    const { requestBody } = definitions.tenant.paths[path]!['post'] as unknown as {
      requestBody: { content: Record<string, { schema: { $ref: string } }> };
    };
    const validate = ajv.compile({ $ref: `tenant${requestBody.content['application/json']!.schema.$ref}` });
    expect(validate(body)).toBe(false);
    expect((await tenant.api.client.request('POST', path, { body })).status).toBe(400);
  });

  it('also of a cursor in a query [T803]', async () => {
    for (const cursor of ['a-b', 'YQ==', ''])
      expect((await tenant.api.client.request('GET', '/v1/users', { query: { cursor } })).status).toBe(400);
  });

  it('accepts null for disabled of a webhook [T803]', async () => {
    const body = { events: ['OpenIdCredentialIssued'], url: 'https://hooks.example.com/rules', disabled: null };
    const validate = ajv.compile({ $ref: 'tenant#/components/schemas/WebhookRequest' });
    expect(validate(body)).toBe(true);
    const created = await tenant.api.client.request<{ disabled: boolean }>('POST', '/v1/webhooks', { body });
    expect([created.status, created.body.disabled]).toEqual([201, false]);
  });
});
