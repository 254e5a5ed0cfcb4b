import { Max, MaxLength, Min } from 'class-validator';
import {
  defineOperation,
  managementAccess,
  Optional,
  OPERATIONS,
  PageQuery,
  publicAccess,
  refusesUnknown,
  requires,
  Rule,
  Uuid,
  type InterfaceName,
  type JsonSchema,
  type Operation,
} from '@attestry/contracts';
import { interfaceDocument } from '../record-examples.js';
import { errorExampleIn, responseExampleIn, setErrorExample, setResponseExample } from './examples.js';
import { openApiDocument, statusesOf } from './openapi-document.js';

class Thing {
  id: string;
}
class ThingRequest {
  @MaxLength(10) @Rule('fit', (value) => (value === 'x' ? 'must not be x' : undefined)) name: string;
  @Optional() @Min(1) @Max(9) size?: number;
}
class ThingParams {
  @Uuid() id: string;
}
const text = { type: 'string' };
const shapes = {
  Thing: { type: 'object', properties: { id: text }, required: ['id'] },
  ThingRequest: {
    type: 'object',
    properties: { name: text, size: { type: 'number' } },
    required: ['name', 'size'],
  },
  ThingParams: { type: 'object', properties: { id: text }, required: ['id'] },
  PageQuery: {
    type: 'object',
    properties: { limit: { type: 'number', description: 'Maximum number of entries of the page.' }, cursor: text },
  },
  ErrorDetail: { type: 'object' },
};
const update = defineOperation({
  name: 'dids.update-thing.old',
  summary: 'Update a thing',
  description: 'Its id cannot be changed.',
  http: { method: 'PUT', path: '/v1/users/:id', success: 200 },
  access: requires('dids:create'),
  analytics: { prefix: 'THING_UPDATE', category: 'thing' },
  errors: 'tenant',
  params: ThingParams,
  body: ThingRequest,
  example: { name: 'a', size: 1 },
  response: Thing,
  errorStatuses: [400, 401, 403, 404],
});
const list = defineOperation({
  name: 'dids.list-things',
  summary: 'Things',
  http: { method: 'GET', path: '/v1/users', success: 200 },
  access: publicAccess,
  errors: 'tenant',
  query: PageQuery,
  response: [Thing],
});
const documentAt = (name: InterfaceName, ...operations: Operation[]) =>
  openApiDocument(name, operations, { shapes, version: 'v1.0.0' });
const documentOf = (...operations: Operation[]) => documentAt('tenant', ...operations);

describe('an operation in the interface definition', () => {
  const { paths, components } = documentOf(update as Operation, list as Operation);
  const put = paths['/v1/users/{id}']!['put']!;

  it('has its name, its texts, its roles and their security scheme', () => {
    expect(put).toMatchObject({
      operationId: 'updateThingOld',
      summary: 'Update a thing',
      description:
        'Its id cannot be changed. Requires one of the roles: `admin`, `issuer`, `managed-issuer`, `verifier`, `dts-provider`.',
      tags: ['Users'],
      requestBody: { content: { 'application/json': { example: { name: 'a', size: 1 } } } },
      security: [{ bearerAuth: [] }],
      'x-roles': ['admin', 'issuer', 'managed-issuer', 'verifier', 'dts-provider'],
      'x-operation': 'dids.update-thing.old',
      'x-kind': 'command',
      'x-hosts': ['tenant'],
      'x-access': 'permission',
      'x-permission': 'dids:create',
      'x-rate-class': 'api',
      'x-event-prefix': 'THING_UPDATE',
      'x-event-category': 'thing',
    });
    expect(paths['/v1/users']!['get']).toMatchObject({ security: [], 'x-access': 'public', 'x-kind': 'query' });
    expect(components.securitySchemes['bearerAuth']!['x-role-permissions']).toMatchObject({
      issuer: expect.arrayContaining(['dids:create']) as unknown,
    });
  });

  it('has the types of its classes and the rules of their decorators', () => {
    expect(put['parameters']).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid', maxLength: 36 } },
      expect.objectContaining({ name: 'Prefer', in: 'header', required: false }),
    ]);
    expect(components.schemas['ThingRequest']).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string', maxLength: 10 }, size: { type: 'number', minimum: 1, maximum: 9 } },
      required: ['name'],
    });
    expect(paths['/v1/users']!['get']!['parameters']).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      description: 'Maximum number of entries of the page.',
      schema: { type: 'integer', minimum: 1, maximum: 1000 },
    });
  });

  it('has a closed body where unknown members are refused, with the read-only members of the resource', () => {
    expect(components.schemas['ThingRequest']).toMatchObject({
      properties: { id: { type: 'string', readOnly: true } },
      required: ['name'],
      additionalProperties: false,
    });
    expect(put['responses']).toMatchObject({
      200: { headers: { 'preference-applied': { $ref: '#/components/headers/preference-applied' } } },
    });
    expect(components.schemas['Thing']).not.toHaveProperty('additionalProperties');
  });

  it('has an open body and no preference where unknown members are ignored', () => {
    const open = { ...update, access: publicAccess } as Operation;
    const document = documentOf(open);
    expect(document.components.schemas['ThingRequest']).not.toHaveProperty('additionalProperties');
    expect(document.components.schemas['ThingRequest']!.properties).not.toHaveProperty('id');
    const operation = document.paths['/v1/users/{id}']!['put']!;
    expect(JSON.stringify([operation['parameters'], operation['responses']])).not.toMatch(/prefer/i);
  });

  it('describes its response class, lists as pages, and refusals in its error shape', () => {
    expect(put['responses']).toMatchObject({
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
      404: { $ref: '#/components/responses/TenantNotFound' },
    });
    expect(paths['/v1/users']!['get']!['responses']).toMatchObject({
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/PageOfThing' } } } },
    });
    expect(components.schemas['PageOfThing']).toMatchObject({ required: ['data'] });
    expect(components.responses['TenantForbidden']).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/TenantError' } } },
      headers: { 'www-authenticate': {} },
    });
    expect(components.responses['TenantTooManyRequests']!['headers']).toMatchObject({
      'retry-after': {},
      'x-ratelimit-reset': {},
    });
  });

  it('has 304, ETag, Vary and If-None-Match where it is a public document, and nowhere else [T678]', () => {
    const whole = interfaceDocument('tenant');
    const documents = OPERATIONS.filter(({ http }) => http?.document).map(({ name }) => name);
    for (const operation of OPERATIONS.filter(({ http }) => http && (http.hosts ?? ['tenant']).includes('tenant'))) {
      const { path, method, success } = operation.http!;
      const described = whole.paths[path.replace(/:([A-Za-z]+)/g, '{$1}')]![method.toLowerCase()]!;
      const responses = described['responses'] as Record<string, { headers?: object }>;
      const names = ((described['parameters'] ?? []) as { name: string }[]).map(({ name }) => name);
      const isDocument = documents.includes(operation.name);
      const isAlone = ['application/pkix-crl', 'application/cwt'].includes(operation.http!.mediaType!);
      const has = (status: number, header: string) => Object.hasOwn(responses[status]?.headers ?? {}, header);
      expect([operation.name, '304' in responses, names.includes('If-None-Match')]).toEqual([
        ...[operation.name, isDocument, isDocument],
      ]);
      for (const status of [success, 304])
        expect([operation.name, has(status, 'etag'), has(status, 'vary')]).toEqual([
          ...[operation.name, isDocument, isDocument && !isAlone],
        ]);
    }
    expect(whole.components.headers).toMatchObject({ etag: {}, vary: {} });
  });

  it('includes the errors of every call, and those of its body', () => {
    expect(statusesOf(update as Operation)).toEqual([200, 400, 401, 403, 404, 408, 413, 415, 429, 431, 500, 503]);
    expect(statusesOf(list as Operation)).toEqual([200, 400, 429, 431, 500, 503]);
  });

  it('is omitted when no host of the API serves it', () => {
    const elsewhere = defineOperation({
      name: 'management.list-things',
      summary: 'Things',
      http: { method: 'GET', path: '/v1/users', success: 200, hosts: ['management'] },
      access: managementAccess,
      errors: 'management',
    });
    expect(documentOf(elsewhere as Operation).paths).toEqual({});
    expect(Object.keys(documentAt('management', elsewhere as Operation).paths)).toEqual(['/v1/users']);
  });

  it('of another host names servers of it, and no other operation does [T801]', () => {
    const hosts = ['auth'] as const;
    const elsewhere = { ...list, http: { ...list.http!, hosts }, errors: 'management' } as Operation;
    const here = {
      ...elsewhere,
      http: { ...list.http!, path: '/v1/tenants', hosts: ['management', 'auth'] },
    } as Operation;
    const described = documentAt('management', elsewhere, here);
    expect(described.paths['/v1/users']!['get']).toMatchObject({ servers: [{ url: 'https://auth.attestry.example' }] });
    expect(described.paths['/v1/tenants']!['get']).not.toHaveProperty('servers');
  });

  it('keeps the recorded examples of its response and of errors', () => {
    const former = documentOf(list as Operation);
    setResponseExample(former, list as Operation, { data: [{ id: 'a' }] });
    setErrorExample(former, 'TenantInvalid', { code: 'BadRequest', message: 'no' });
    const again = openApiDocument('tenant', [list as Operation], { shapes, version: 'v1.0.0', former: [former] });
    expect(again).toEqual(former);
    expect(responseExampleIn([again], list as Operation)).toEqual({ data: [{ id: 'a' }] });
    expect(errorExampleIn([again], 'TenantInvalid')).toEqual({ code: 'BadRequest', message: 'no' });
  });

  it('whose class has no shape is refused', () => {
    expect(() => openApiDocument('tenant', [update as Operation], { shapes: {}, version: 'v1.0.0' })).toThrow(
      'has no shape',
    );
  });
});

describe('the tags', () => {
  const { tags, paths } = interfaceDocument('tenant');
  const used = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map((it) => (it['tags'] as string[])[0]),
  );

  it('are the resources of the operations, in one order, each with a description', () => {
    const names = tags.map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set(used));
    expect(names.indexOf('DIDs')).toBeLessThan(names.indexOf('Offers'));
    for (const { description } of tags) expect(description).toMatch(/\.$/);
  });

  it('distinguish sub-resources from the resources that their paths start with', () => {
    expect(paths['/v1/users/authentication-providers']!['get']!['tags']).toEqual(['Authentication providers']);
    expect(paths['/v1/openid/credential']!['post']!['tags']).toEqual(['Credential issuer']);
  });

  it('say what their operations are about [T807]', () => {
    const tagOf = Object.fromEntries(
      Object.entries(paths).map(([path, methods]) => [path, Object.values(methods)[0]!['tags']]),
    );
    expect(tagOf).toMatchObject({
      '/v2/credentials/compact/revocation-lists': ['Status lists'],
      '/v2/credentials/web-semantic/revocation-lists/{id}': ['Status lists'],
      '/v2/credentials/mobile/identifier-lists/{id}/token': ['Status lists'],
      '/v2/credentials/status-lists/{id}/token': ['Status lists'],
      '/v2/credentials/mobile/status-list-signers': ['Status list signers'],
      '/v2/credentials/mobile/{id}/status': ['Credentials'],
      '/v2/credentials/mobile/configurations': ['Credential configurations'],
      '/v1/openid/wallet-attestation-configurations': ['Wallets'],
      '/v1/openid/configuration': ['OpenID settings'],
      '/v1/openid/deferred/{id}/approve': ['Deferred issuances'],
      '/v1/openid/deferred-credential': ['Credential issuer'],
      '/v1/oauth/token': ['Authorization server'],
    });
    const configured = Object.keys(paths).filter(
      (path) => (tagOf[path] as string[])[0] === 'Credential configurations',
    );
    for (const path of configured) expect(path).toMatch(/\/configurations/);
  });

  it('are complete: a path without a resource is refused', () => {
    const http = { ...list.http!, path: '/v1/things' };
    expect(() => documentOf({ ...list, http } as Operation)).toThrow('no resource');
  });
});

describe('a deprecated operation', () => {
  const deprecated = { since: '2026-01-01T00:00:00Z', sunset: '2026-07-01T00:00:00Z', link: '/docs' };
  const { paths } = documentOf({ ...update, deprecated } as Operation);
  const put = paths['/v1/users/{id}']!['put']! as { responses: Record<string, { headers: object }> };

  it('is marked, with its end', () => {
    expect(put).toMatchObject({ deprecated: true, 'x-sunset': deprecated.sunset });
  });

  it('describes the headers of every response (RFC 9745, RFC 8594)', () => {
    const headers = {
      deprecation: { schema: { const: '@1767225600' } },
      sunset: { schema: { const: 'Wed, 01 Jul 2026 00:00:00 GMT' } },
      link: { schema: { const: '</docs>; rel="deprecation", </docs>; rel="sunset"' } },
    };
    for (const response of Object.values(put.responses)) expect(response.headers).toMatchObject(headers);
  });
});

describe('the request bodies in the interface definitions', () => {
  const documents = (['management', 'tenant'] as const).map(interfaceDocument);
  const served = OPERATIONS.filter(({ http, body }) => http && body);

  it.each(served.map((operation) => [operation.name, operation] as const))(
    'of %s allow additional members unless the operation refuses them',
    (_name, operation) => {
      const described = documents.filter(({ components }) => components.schemas[operation.body!.name]);
      expect(described).not.toEqual([]);
      for (const { components } of described) {
        const schema = components.schemas[operation.body!.name]!;
        if (!refusesUnknown(operation)) expect(schema).not.toHaveProperty('additionalProperties');
        else
          for (const object of objectsOf(schema, components.schemas))
            expect([object, object.additionalProperties !== undefined]).toEqual([object, true]);
      }
    },
  );

  it('do not make the schemas of responses refuse additional members', () => {
    const [, tenant] = documents;
    for (const name of [
      'CredentialIssuer',
      'Duration',
      'CredentialBranding',
      'ClaimMapping',
      'Display',
      'ClaimDisplay',
    ]) {
      expect(tenant!.components.schemas[name]).not.toHaveProperty('additionalProperties');
      expect(tenant!.components.schemas[`${name}Request`]).toHaveProperty('additionalProperties', false);
    }
  });
});

/** Schemas of objects with named members in a schema, read-only ones excepted. */
const objectsOf = (given: JsonSchema, named: Readonly<Record<string, JsonSchema>>): JsonSchema[] => {
  if (given.readOnly) return [];
  const schema = given.$ref === undefined ? given : named[given.$ref.split('/').at(-1)!]!;
  const { properties = {}, additionalProperties: values, items, anyOf = [] } = schema;
  const below = [
    ...Object.values(properties),
    ...(typeof values === 'object' ? [values] : []),
    ...(items ? [items] : []),
    ...anyOf,
  ];
  return [...(schema.properties ? [schema] : []), ...below.flatMap((one) => objectsOf(one, named))];
};

it('an operation has the id of its declaration, or one from its name, which stays [T807]', () => {
  const named = defineOperation({ ...list, operationId: 'listWhatIsThere' }) as Operation;
  expect(named).toMatchObject({ name: 'dids.list-things', subject: 'op.dids.list-things' });
  expect(documentOf(named).paths['/v1/users']!['get']).toMatchObject({ operationId: 'listWhatIsThere' });
  const signer = OPERATIONS.find(({ name }) => name === 'issuance.create-document-signer.status-list');
  expect(signer).toMatchObject({
    operationId: 'createStatusListSigner',
    analytics: { prefix: expect.any(String) as string },
  });
});

it('every operation over HTTP has a unique id', () => {
  const ids = OPERATIONS.filter(({ http }) => http).map(({ operationId }) => operationId);
  expect(ids.filter((id, index) => ids.indexOf(id) < index)).toEqual([]);
  for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
});
