import {
  carriesRecord,
  createDid,
  issueCredential,
  issueToken,
  listTenants,
  lookUpTenant,
  OPERATIONS,
  reserveIssuerKey,
  retrieveIssuerMetadata,
  retrieveOfferContent,
  type ContextOf,
  type Operation,
  type OperationContext,
} from '@attestry/contracts';
import { contextFromHeaders, contextToHeaders } from './operation-headers.js';

const call = { requestId: 'r1', operation: 'dids.create-did', deadline: 1_700_000_000_000 };
const tenant = { id: 't1', host: 'acme.localhost', baseUrl: 'http://acme.localhost' };
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const client: ContextOf<typeof createDid> = { ...call, tenant, caller: { kind: 'client', clientId: 'c' } };
const user: ContextOf<typeof listTenants> = { ...call, caller: { kind: 'user', userId: 'u' } };
const machine: ContextOf<typeof listTenants> = { ...call, caller: { kind: 'management', clientId: 'm' } };
const holder: ContextOf<typeof issueCredential> = { ...call, tenant, caller: { kind: 'holder' } };
const open: ContextOf<typeof retrieveOfferContent> = { ...call, tenant, caller: { kind: 'public' } };
const addressed: ContextOf<typeof retrieveIssuerMetadata> = { ...open, publicUrl: 'https://brand.example' };
const platform: ContextOf<typeof issueToken> = {
  ...call,
  caller: { kind: 'public' },
  publicUrl: 'https://auth.example',
};
const forTenant: ContextOf<typeof reserveIssuerKey> = {
  ...call,
  tenant,
  caller: { kind: 'service', service: 'issuance' },
};
const service: ContextOf<typeof lookUpTenant> = { ...call, caller: { kind: 'service', service: 'gateway' } };

const kinds = [
  ['client', createDid, client],
  ['client with an idempotency key', createDid, { ...client, idempotencyKey: 'k 1' }],
  ['client of a recorded command', createDid, { ...client, record: { startedAt: '2026-01-02T03:04:05.678Z' } }],
  [
    'client of a recorded command with data',
    createDid,
    { ...client, record: { startedAt: '2026-01-02T03:04:05.678Z', requestData: 'sealed' } },
  ],
  ['user', listTenants, user],
  ['machine', listTenants, machine],
  ['holder', issueCredential, { ...holder, traceparent }],
  ['public', retrieveOfferContent, open],
  [
    'public of a tenant with a name of any characters',
    retrieveOfferContent,
    { ...open, tenant: { ...tenant, name: 'Universität "Ж" 😀 \\ \u2028' } },
  ],
  ['public with the public address', retrieveIssuerMetadata, addressed],
  ['public on a host of the platform', issueToken, platform],
  ['service for a tenant', reserveIssuerKey, forTenant],
  ['service', lookUpTenant, service],
] as unknown as [string, Operation, OperationContext][];

const refusalOf = (operation: Operation, headers: Record<string, string>): string => {
  try {
    contextFromHeaders(operation, headers);
  } catch (error) {
    expect(error).toMatchObject({ kind: 'internal', message: 'Internal error', check: 'parse-context' });
    return ((error as Error).cause as Error).message;
  }
  throw new Error('was read');
};
const without = (member: string, { [member]: _removed, ...rest }: Record<string, string>) => rest;

describe('the context in the headers of a message', () => {
  it.each(kinds)('is read as it was sent for the kind %s', (_kind, operation, context) => {
    expect(contextFromHeaders(operation, contextToHeaders(operation, context))).toEqual(context);
  });

  it.each(kinds)('must have every member of the kind %s', (_kind, operation, context) => {
    const {
      traceparent: _trace,
      'idempotency-key': _key,
      record: _record,
      ...headers
    } = contextToHeaders(operation, context);
    expect(Object.keys(headers).length).toBeGreaterThanOrEqual(4);
    for (const member of Object.keys(headers)) {
      for (const wrong of [without(member, headers), { ...headers, [member]: '' }])
        expect(refusalOf(operation, wrong)).toContain(`context of ${operation.name}: ${member} must be`);
    }
  });

  it.each(kinds)(
    'must not have members that the operation does not have, for the kind %s',
    (_kind, operation, context) => {
      const headers = contextToHeaders(operation, context);
      const all = { tenant: JSON.stringify(tenant), 'public-url': 'https://a', 'idempotency-key': 'k', record: '{}' };
      for (const [name, value] of Object.entries(all)) {
        if (name in headers || (name === 'idempotency-key' && operation.idempotent)) continue;
        if (name === 'record' && carriesRecord(operation)) continue;
        expect(refusalOf(operation, { ...headers, [name]: value })).toBe(
          `context of ${operation.name}: ${name} is no member of it`,
        );
      }
    },
  );

  it('is not sent with members of another kind of context', () => {
    const more = {
      ...user,
      tenant,
      publicUrl: 'https://a',
      idempotencyKey: 'k',
      idempotentCall: {},
      record: { startedAt: '2026-01-02T03:04:05.678Z' },
      pendingRecord: {},
    } as OperationContext;
    const headers = contextToHeaders(listTenants, more);
    expect(contextFromHeaders(listTenants, headers)).toEqual(user);
  });

  it.each([
    ['deadline', 'soon', 'deadline must be milliseconds since the epoch'],
    ['deadline', '1.5', 'deadline must be milliseconds since the epoch'],
    ['caller', 'client', 'caller must be a JSON object'],
    ['caller', 'null', 'caller.kind must be a text that is not empty'],
    ['caller', '{"kind":"client"}', 'caller.clientId must be a text that is not empty'],
    ['caller', '{"kind":"client","clientId":7}', 'caller.clientId must be a text that is not empty'],
    ['caller', '{"kind":"toString"}', 'must be a text that is not empty'],
    ['record', 'x', 'record must be a JSON object'],
    ['record', '{}', 'record.startedAt must be a text that is not empty'],
    ['record', '{"startedAt":"now"}', 'record.startedAt must be a time'],
    ['record', '{"startedAt":"2026-01-02T03:04:05.678Z","requestData":7}', 'record.requestData must be a text'],
    [
      'record',
      JSON.stringify({ startedAt: '2026-01-02T03:04:05.678Z', requestData: 'x'.repeat(65_537) }),
      'is too long',
    ],
    ['tenant', '[]', 'tenant.id must be a text that is not empty'],
    ['tenant', '{"id":"t1","host":"h","baseUrl":"b","name":""}', 'tenant.name must be a text that is not empty'],
    ['tenant', '{"id":"t1","host":"h"}', 'tenant.baseUrl must be a text that is not empty'],
    ['tenant', '{"id":"t1","host":"","baseUrl":"b"}', 'tenant.host must be a text that is not empty'],
  ])('is refused with %s = %s', (name, value, problem) => {
    expect(refusalOf(createDid, { ...contextToHeaders(createDid, client), [name]: value })).toContain(problem);
  });

  it('has of a record only what the gateway knows', () => {
    const record = { startedAt: '2026-01-02T03:04:05.678Z', outcome: 'FAIL', object: { type: 'x', id: 'y' } };
    const headers = { ...contextToHeaders(createDid, client), record: JSON.stringify(record) };
    expect(contextFromHeaders(createDid, headers).record).toEqual({ startedAt: record.startedAt });
  });

  it('has ASCII headers only', () => {
    const named = { ...client, tenant: { ...tenant, name: 'Universität 😀\u2028' } };
    for (const header of Object.values(contextToHeaders(createDid, named))) expect(header).toMatch(/^[\x20-\x7e]*$/);
  });

  it('ignores headers and members of a newer release', () => {
    const headers = contextToHeaders(createDid, client);
    const newer = { ...headers, other: 'x', tenant: JSON.stringify({ ...tenant, region: 'eu' }) };
    expect(contextFromHeaders(createDid, newer)).toEqual(client);
  });
});

describe('a context', () => {
  it('has the address of the request for the operations that use it', () => {
    expect(OPERATIONS.filter(({ publicUrl }) => publicUrl).map(({ name }) => name)).toEqual([
      'management.issue-token',
      'management.revoke-token',
      'dids.retrieve-did-configuration',
      'dids.retrieve-did-document',
      'issuance.retrieve-issuer-metadata',
      'issuance.retrieve-jwt-vc-issuer',
    ]);
  });
});
