import { OPERATIONS, type OpenApiDocument, type Operation } from '@attestry/contracts';
import { InterfaceDocuments } from './interface-documents.js';
import { readCommitted, type ReadDocument } from './served-operations.js';

const config = {
  publicScheme: 'https',
  contextUrl: 'https://contexts.test/v1',
  managementDomain: 'management.test',
  environments: ['a', 'b'].map((name) => ({
    name,
    domain: `${name}.test`,
    authorizationServerDomain: `auth.${name}.test`,
  })),
} as never;
const documentsOf = (operations: readonly Operation[] = OPERATIONS, read: ReadDocument = readCommitted) =>
  new InterfaceDocuments(operations, read, config);
const served = (api: 'management' | 'tenant') =>
  documentsOf()
    .find({ api } as never, '/openapi.json')!
    .kept.bytes.toString();
/** Reads the committed documents with a change. */
const changed =
  (change: (document: OpenApiDocument) => void): ReadDocument =>
  (name) => {
    const document = readCommitted(name);
    if (name === 'management') change(document);
    return document;
  };

describe('the served interface definition', () => {
  it.each(['management', 'tenant'] as const)('is the committed one but for the servers: %s', (api) => {
    const withoutServers = (text: string) => text.replace(/"servers":\[[^\]]*\],/g, '');
    expect(withoutServers(served(api))).toBe(withoutServers(JSON.stringify(readCommitted(api))));
  });

  it('names the authorization host of each environment [T801]', () => {
    const { paths } = JSON.parse(served('management')) as OpenApiDocument;
    expect(paths['/oauth/revoke']!['post']!['servers']).toEqual([
      { url: 'https://auth.a.test', description: 'The authorization host of the environment a.' },
      { url: 'https://auth.b.test', description: 'The authorization host of the environment b.' },
    ]);
    expect(paths['/v1/environments']!['get']).not.toHaveProperty('servers');
  });
});

describe('a gateway does not start when documents and declarations differ', () => {
  it('in an operation that is not described', () => {
    const withoutTenants = changed(({ paths }) => delete paths['/v1/tenants']!['post']);
    expect(() => documentsOf(OPERATIONS, withoutTenants)).toThrow(
      'the OpenAPI documents differ from the declared operations (npm run docs): management API: POST /v1/tenants (createTenant) is declared, but not described',
    );
  });

  it('in an operation that is not declared', () => {
    const others = OPERATIONS.filter(({ operationId }) => operationId !== 'createDid');
    expect(() => documentsOf(others)).toThrow('tenant API: POST /v1/dids (createDid) is described, but not declared');
  });

  it('in the id of an operation', () => {
    const renamed = changed(({ paths }) => (paths['/v1/tenants']!['post']!['operationId'] = 'addTenant'));
    expect(() => documentsOf(OPERATIONS, renamed)).toThrow(
      'POST /v1/tenants (createTenant) is declared, but not described; management API: POST /v1/tenants (addTenant) is described, but not declared',
    );
  });
});
