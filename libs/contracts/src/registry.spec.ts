import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { callersOf } from './bus-rights.js';
import type { Operation } from './operation.js';
import { OPERATIONS, operationsOf } from './registry.js';
import { SERVICE_NAMES } from './services.js';

const filesOf = (service: string): string[] =>
  readdirSync(join(import.meta.dirname, '../../../apps', service, 'src'), { recursive: true, encoding: 'utf8' });
const files = new Map(SERVICE_NAMES.map((service) => [service, filesOf(service)]));
/** Recorded operations that are about no single resource, or whose service names it. */
const WITHOUT_OBJECT: ReadonlySet<string> = new Set([
  // The session that the code or token names, or the registered wallet.
  'issuance.authorize',
  'issuance.push-authorization',
  'issuance.complete-authorization',
  'issuance.complete-interaction',
  'issuance.exchange-token',
  'issuance.revoke-wallet-token',
  'issuance.issue-credential',
  'issuance.issue-deferred-credential',
  'issuance.record-notification',
]);
/** Prefixes of the events of every recorded operation on credentials (specification notes). Written out, so that no table proves itself. */
const PREFIXES_OF_CREDENTIALS: Record<string, string> = {
  // Configurations
  'issuance.create-credential-configuration.mobile': 'MOBILE_CREDENTIAL_CONFIGURATION_CREATE',
  'issuance.list-credential-configurations.mobile': 'MOBILE_CREDENTIAL_CONFIGURATION_RETRIEVE_LIST',
  'issuance.retrieve-credential-configuration.mobile': 'MOBILE_CREDENTIAL_CONFIGURATION_RETRIEVE',
  'issuance.update-credential-configuration.mobile': 'MOBILE_CREDENTIAL_CONFIGURATION_UPDATE',
  'issuance.delete-credential-configuration.mobile': 'MOBILE_CREDENTIAL_CONFIGURATION_DELETE',
  'issuance.create-credential-configuration.compact': 'CREDENTIAL_COMPACT_CREDENTIAL_CONFIGURATION_CREATE',
  'issuance.list-credential-configurations.compact': 'CREDENTIAL_COMPACT_CREDENTIAL_CONFIGURATION_RETRIEVE_LIST',
  'issuance.retrieve-credential-configuration.compact': 'CREDENTIAL_COMPACT_CREDENTIAL_CONFIGURATION_RETRIEVE',
  'issuance.update-credential-configuration.compact': 'CREDENTIAL_COMPACT_CREDENTIAL_CONFIGURATION_UPDATE',
  'issuance.delete-credential-configuration.compact': 'CREDENTIAL_COMPACT_CREDENTIAL_CONFIGURATION_DELETE',
  'issuance.create-credential-configuration.compact-semantic':
    'CREDENTIAL_COMPACT_SEMANTIC_CREDENTIAL_CONFIGURATION_CREATE',
  'issuance.list-credential-configurations.compact-semantic':
    'CREDENTIAL_COMPACT_SEMANTIC_CREDENTIAL_CONFIGURATION_RETRIEVE_LIST',
  'issuance.retrieve-credential-configuration.compact-semantic':
    'CREDENTIAL_COMPACT_SEMANTIC_CREDENTIAL_CONFIGURATION_RETRIEVE',
  'issuance.update-credential-configuration.compact-semantic':
    'CREDENTIAL_COMPACT_SEMANTIC_CREDENTIAL_CONFIGURATION_UPDATE',
  'issuance.delete-credential-configuration.compact-semantic':
    'CREDENTIAL_COMPACT_SEMANTIC_CREDENTIAL_CONFIGURATION_DELETE',
  'issuance.create-credential-configuration.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION_CREATE',
  'issuance.list-credential-configurations.web-semantic':
    'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION_RETRIEVE_LIST',
  'issuance.retrieve-credential-configuration.web-semantic':
    'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION_RETRIEVE',
  'issuance.update-credential-configuration.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION_UPDATE',
  'issuance.delete-credential-configuration.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION_DELETE',
  'issuance.create-credential-configuration.sd-jwt': 'CREDENTIAL_SD_JWT_CREDENTIAL_CONFIGURATION_CREATE',
  'issuance.list-credential-configurations.sd-jwt': 'CREDENTIAL_SD_JWT_CREDENTIAL_CONFIGURATION_RETRIEVE_LIST',
  'issuance.retrieve-credential-configuration.sd-jwt': 'CREDENTIAL_SD_JWT_CREDENTIAL_CONFIGURATION_RETRIEVE',
  'issuance.update-credential-configuration.sd-jwt': 'CREDENTIAL_SD_JWT_CREDENTIAL_CONFIGURATION_UPDATE',
  'issuance.delete-credential-configuration.sd-jwt': 'CREDENTIAL_SD_JWT_CREDENTIAL_CONFIGURATION_DELETE',
  'issuance.create-credential-configuration.jwt-vc': 'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION_CREATE',
  'issuance.list-credential-configurations.jwt-vc': 'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION_RETRIEVE_LIST',
  'issuance.retrieve-credential-configuration.jwt-vc': 'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION_RETRIEVE',
  'issuance.update-credential-configuration.jwt-vc': 'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION_UPDATE',
  'issuance.delete-credential-configuration.jwt-vc': 'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION_DELETE',
  // Certificates and signers
  'issuance.create-iaca': 'MOBILE_CREDENTIAL_IACA_CREATE',
  'issuance.list-iacas': 'MOBILE_CREDENTIAL_IACA_RETRIEVE_LIST',
  'issuance.retrieve-iaca': 'MOBILE_CREDENTIAL_IACA_RETRIEVE',
  'issuance.update-iaca': 'MOBILE_CREDENTIAL_IACA_UPDATE',
  'issuance.delete-iaca': 'MOBILE_CREDENTIAL_IACA_DELETE',
  'issuance.update-iaca-crl': 'MOBILE_CREDENTIAL_IACA_CRL_UPDATE',
  'issuance.create-document-signer': 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_CREATE',
  'issuance.list-document-signers': 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_RETRIEVE_LIST',
  'issuance.retrieve-document-signer': 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_RETRIEVE',
  'issuance.update-document-signer': 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_UPDATE',
  'issuance.delete-document-signer': 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_DELETE',
  'issuance.revoke-document-signer': 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_REVOKE',
  'issuance.create-document-signer.status-list': 'MOBILE_CREDENTIAL_STATUS_LIST_SIGNER_CREATE',
  'issuance.list-document-signers.status-list': 'MOBILE_CREDENTIAL_STATUS_LIST_SIGNER_RETRIEVE_LIST',
  'issuance.retrieve-document-signer.status-list': 'MOBILE_CREDENTIAL_STATUS_LIST_SIGNER_RETRIEVE',
  'issuance.update-document-signer.status-list': 'MOBILE_CREDENTIAL_STATUS_LIST_SIGNER_UPDATE',
  'issuance.delete-document-signer.status-list': 'MOBILE_CREDENTIAL_STATUS_LIST_SIGNER_DELETE',
  // Status lists and revocation lists
  'issuance.create-status-list-configuration': 'MOBILE_CREDENTIAL_STATUS_LIST_CONFIGURATION_CREATE',
  'issuance.list-status-list-configurations': 'MOBILE_CREDENTIAL_STATUS_LIST_CONFIGURATION_RETRIEVE_LIST',
  'issuance.retrieve-status-list-configuration': 'MOBILE_CREDENTIAL_STATUS_LIST_CONFIGURATION_RETRIEVE',
  'issuance.update-status-list-configuration': 'MOBILE_CREDENTIAL_STATUS_LIST_CONFIGURATION_UPDATE',
  'issuance.delete-status-list-configuration': 'MOBILE_CREDENTIAL_STATUS_LIST_CONFIGURATION_DELETE',
  'issuance.list-mobile-status-lists': 'MOBILE_CREDENTIAL_STATUS_LIST_RETRIEVE_LIST',
  'issuance.retrieve-mobile-status-list': 'MOBILE_CREDENTIAL_STATUS_LIST_RETRIEVE',
  'issuance.list-revocation-lists.compact': 'CREDENTIAL_COMPACT_REVOCATION_LISTS_RETRIEVE',
  'issuance.list-revocation-lists.compact-semantic': 'CREDENTIAL_COMPACT_SEMANTIC_REVOCATION_LISTS_RETRIEVE',
  // Statuses and revocation
  'issuance.set-credential-status.mobile': 'MOBILE_CREDENTIAL_STATUS_SET',
  'issuance.retrieve-credential-status.mobile': 'MOBILE_CREDENTIAL_STATUS_RETRIEVE',
  'issuance.set-credential-status.sd-jwt': 'CREDENTIAL_SD_JWT_STATUS_SET',
  'issuance.retrieve-credential-status.sd-jwt': 'CREDENTIAL_SD_JWT_STATUS_RETRIEVE',
  'issuance.set-credential-status.jwt-vc': 'CREDENTIAL_JWT_VC_STATUS_SET',
  'issuance.retrieve-credential-status.jwt-vc': 'CREDENTIAL_JWT_VC_STATUS_RETRIEVE',
  'issuance.set-revocation-status.compact': 'CREDENTIAL_COMPACT_REVOCATION_SET_STATUS',
  'issuance.retrieve-revocation-status.compact': 'CREDENTIAL_COMPACT_REVOCATION_RETRIEVE_STATUS',
  'issuance.set-revocation-status.compact-semantic': 'CREDENTIAL_COMPACT_SEMANTIC_REVOCATION_SET_STATUS',
  'issuance.retrieve-revocation-status.compact-semantic': 'CREDENTIAL_COMPACT_SEMANTIC_REVOCATION_RETRIEVE_STATUS',
  'issuance.set-revocation-status.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_REVOCATION_SET_STATUS',
  'issuance.retrieve-revocation-status.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_REVOCATION_RETRIEVE',
  'issuance.create-revocation-notification': 'CREDENTIAL_WEB_SEMANTIC_REVOCATION_MESSAGE_PAYLOAD_CREATE',
  // Issued credentials
  'issuance.list-credentials': 'CREDENTIAL_RETRIEVE_LIST',
  'issuance.list-issued-credentials.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_RETRIEVE_LIST',
  'issuance.retrieve-issued-credential.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_RETRIEVE',
  'issuance.delete-issued-credential.web-semantic': 'CREDENTIAL_WEB_SEMANTIC_DELETE',
  'issuance.delete-issued-credential.compact': 'CREDENTIAL_COMPACT_DELETE',
  'issuance.delete-issued-credential.compact-semantic': 'CREDENTIAL_COMPACT_SEMANTIC_DELETE',
  'issuance.delete-issued-credential.mobile': 'USER_CREDENTIAL_DELETE',
};
const described = OPERATIONS.map((operation) => [operation.name, operation] as const);
const overHttp = described.filter(([, { http }]) => http);

const addressesOf = ({ http }: Operation): string[] =>
  (http!.hosts ?? ['tenant']).flatMap((host) =>
    [http!.path, ...(http!.alsoAt ?? [])].map((path) => `${host} ${http!.method} ${path.replaceAll(/:\w+/g, ':')}`),
  );
const repeated = (values: string[]): string[] => values.filter((value, index) => values.indexOf(value) < index);

describe('registry', () => {
  it('names every operation and every address once', () => {
    expect(repeated(OPERATIONS.map(({ name }) => name))).toEqual([]);
    expect(repeated(OPERATIONS.map(({ subject }) => subject))).toEqual([]);
    expect(repeated(overHttp.flatMap(([, operation]) => addressesOf(operation)))).toEqual([]);
  });

  it('counts as calls of wallets what RATE_LIMIT_WALLET_TENANT names', () => {
    const pathsOf = (wanted: string) =>
      overHttp.filter(([, { rate }]) => rate === wanted).map(([, { http }]) => http!.path);
    expect(new Set(pathsOf('wallet'))).toEqual(
      new Set([
        '/v1/oauth/authorize',
        '/v1/oauth/authorize/consent',
        '/v1/oauth/authentication/callback',
        '/v1/oauth/interaction/callback',
        '/v1/oauth/token',
        '/v1/oauth/revoke',
        '/v1/oauth/challenge',
        '/v1/openid/nonce',
        '/v1/openid/credential',
        '/v1/openid/deferred-credential',
        '/v1/openid/notification',
      ]),
    );
    expect(pathsOf('push')).toEqual(['/v1/oauth/par']);
  });

  it('assigns every operation to one service', () => {
    expect(SERVICE_NAMES.flatMap(operationsOf).length).toBe(OPERATIONS.length);
  });

  it.each(described)('%s has a folder named after its use case', (_name, { service, useCase }) => {
    const file = join(useCase, `${useCase}.ts`);
    expect(files.get(service)!.filter((path) => `/${path}`.endsWith(`/${file}`))).toHaveLength(1);
  });

  it.each(described)('%s has a name in lower-case words', (name, operation) => {
    expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*(?:\.[a-z]+(?:-[a-z]+)*)?$/);
    expect(operation.subject).toBe(`op.${name}`);
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
  });

  it.each(described)('%s is internal exactly when it has no HTTP path', (_name, { access, http }) => {
    expect(access.kind === 'internal').toBe(http === undefined);
  });

  it.each(described)(
    '%s is called by the gateway or by the participants it names, never by its own service',
    (_name, it) => {
      const callers = callersOf(it);
      expect(callers.length).toBeGreaterThan(0);
      expect(callers).not.toContain(it.service);
      if (it.http) expect(callers).toEqual(['gateway']);
    },
  );

  it.each(overHttp)(
    '%s has the kind, body and status that its method requires',
    (_name, { http, kind, body, params }) => {
      const { method, path, success } = http!;
      expect(path).toMatch(/^\/[\w./:-]+$/);
      // A redirection is a step of a flow, whose state it changes.
      if (method === 'GET' && success === 302) expect([kind, http!.body]).toEqual(['command', 'raw']);
      else if (method === 'GET') expect([kind, body, success]).toEqual(['query', undefined, 200]);
      if (method === 'DELETE') expect([kind, body, success]).toEqual(['command', undefined, 204]);
      if (method === 'PUT') expect([kind, success]).toEqual(['command', 200]);
      expect(path.includes(':')).toBe(params !== undefined);
    },
  );

  it('redirects only from the steps of the authorization code flow', () =>
    expect(overHttp.filter(([, { http }]) => http!.success >= 300).map(([name]) => name)).toEqual([
      'issuance.authorize',
      'issuance.complete-authorization',
      'issuance.complete-interaction',
    ]));

  it('streams only lists, without bodies, and records none of them', () => {
    for (const [, { http, response, body, analytics }] of overHttp.filter((entry) => entry[1].http!.stream))
      expect([http!.method, Array.isArray(response), body, analytics]).toEqual(['GET', true, undefined, undefined]);
  });

  it.each(overHttp)('%s is served on the hosts of its callers', (_name, { http, access, errors }) => {
    const hosts = http!.hosts ?? ['tenant'];
    if (access.kind === 'management') expect([hosts, errors]).toEqual([['management'], 'management']);
    if (access.kind === 'roles') expect([hosts, errors]).toEqual([['tenant'], 'tenant']);
    if (access.kind === 'holder') expect([hosts, errors]).toEqual([['tenant'], 'oauth']);
  });
});

describe('the context of an operation', () => {
  it.each(overHttp)('has a tenant on hosts of tenants only: %s', (_name, { http, forTenant }) => {
    for (const host of http!.hosts ?? ['tenant']) expect(forTenant).toBe(host === 'tenant' || host === 'custom-domain');
  });

  it('has the address of the request only for public operations', () => {
    const addressed = described.filter(([, { publicUrl }]) => publicUrl);
    expect(new Set(addressed.map(([, { access }]) => access.kind))).toEqual(new Set(['public']));
  });

  it('of operations between services has a tenant when the caller acts for one', () => {
    const forTenant = described.filter(([, { access, forTenant: has }]) => access.kind === 'internal' && has);
    expect(forTenant.map(([name]) => name)).toEqual([
      'tenant-config.retrieve-brand',
      'tenant-config.begin-sign-in',
      'tenant-config.complete-sign-in',
      'dids.check-did',
      'dids.reserve-issuer-key',
      'issuance.check-credential-configuration',
      'issuance.count-domain-configurations',
    ]);
  });
});

describe('analytics of operations', () => {
  const recorded = described.filter(([, { analytics }]) => analytics);

  it('have unique prefixes', () => {
    expect(repeated(recorded.map(([, { analytics }]) => analytics!.prefix))).toEqual([]);
  });

  it('have the specified prefixes where they are about credentials, their certificates, statuses and lists [T119]', () => {
    const ofCredentials = overHttp.filter(([, { http }]) => /^\/v2\/credentials\b/.test(http!.path));
    const prefixes = ofCredentials.flatMap(([name, { analytics }]) => (analytics ? [[name, analytics.prefix]] : []));
    expect(Object.fromEntries(prefixes)).toEqual(PREFIXES_OF_CREDENTIALS);
    const publicDocuments = ofCredentials.filter(([, { analytics }]) => !analytics);
    expect(publicDocuments.map(([, { access }]) => access.kind)).toEqual(publicDocuments.map(() => 'public'));
  });

  it.each(recorded)('%s has a prefix in capitals and a category in lower case', (_name, { analytics }) => {
    expect(analytics!.prefix).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/);
    expect(analytics!.category).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
  });

  it.each(recorded)('%s is a list, or names its object', (name, { analytics, response, http, kind, forTenant }) => {
    if (Array.isArray(response) || WITHOUT_OBJECT.has(name)) return expect(analytics!.object).toBeUndefined();
    const { type, from } = analytics!.object!;
    expect(type).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    const [source, member] = from.split('.') as [string, string?];
    if (source === 'params') expect(http!.path).toContain(`:${member}`);
    // A query appends nothing.
    if (source === 'stream' || source === 'event') expect(kind).toBe('command');
    if (source === 'tenant') expect(forTenant).toBe(true);
  });

  it('of a management call name the tenant in the path', () => {
    const ofTenants = recorded.filter(
      ([, { access, http }]) => access.kind === 'management' && http!.path.includes(':tenantId'),
    );
    expect(ofTenants.filter(([, { analytics }]) => analytics!.tenantFrom !== 'params').map(([name]) => name)).toEqual([
      // Not listed in the tenant's own events, which would grow with every query.
      'management.list-tenant-events',
    ]);
  });

  it('are a START of their own for effects outside the append of a command', () => {
    const outside = recorded.filter(([, { analytics }]) => analytics!.effects);
    expect(outside.map(([, { kind }]) => kind)).toEqual(outside.map(() => 'command'));
    expect(outside.map(([, { analytics }]) => analytics!.prefix)).toEqual([
      'CONFIG_CUSTOM_DOMAIN_VERIFY',
      'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION_CREATE',
      'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION_CREATE',
      'CREDENTIAL_SD_JWT_CREDENTIAL_CONFIGURATION_CREATE',
      'CREDENTIAL_COMPACT_CREDENTIAL_CONFIGURATION_CREATE',
      'CREDENTIAL_COMPACT_SEMANTIC_CREDENTIAL_CONFIGURATION_CREATE',
      'MOBILE_CREDENTIAL_CONFIGURATION_CREATE',
      'CREDENTIAL_WEB_SEMANTIC_DELETE',
      'CREDENTIAL_COMPACT_DELETE',
      'CREDENTIAL_COMPACT_SEMANTIC_DELETE',
      'USER_CREDENTIAL_DELETE',
      'OPENID_AUTHENTICATION_CALLBACK',
      'OPENID_INTERACTION_CALLBACK',
      'USER_DELETE',
    ]);
  });

  // Client token calls, public documents, key sets, nonce and analytics queries are exempt (ADR 0072).
  it('exist for every tenant and management operation except the exempt ones', () => {
    const without = overHttp.filter(
      ([, { analytics, access }]) => !analytics && ['roles', 'management', 'holder'].includes(access.kind),
    );
    expect(without.map(([, { service }]) => service)).toEqual(['issuance', 'analytics', 'analytics', 'analytics']);
    const publicly = recorded.filter(([, { access }]) => access.kind === 'public' || access.kind === 'internal');
    expect(publicly.map(([name]) => name)).toEqual([]);
  });
});
