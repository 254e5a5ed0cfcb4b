import {
  AppError,
  createClient,
  createDid,
  createPreAuthorizedOffer,
  createWebhook,
  invalid,
  listEvents,
  retrieveTenant,
  rotateClientSecret,
  webSemanticConfigurations,
  type Operation,
  type OperationRequest,
} from '@attestry/contracts';
import { checkRequest } from './validation.js';

const check = (operation: unknown, request: Partial<OperationRequest>) =>
  checkRequest(operation as Operation, { params: {}, query: {}, body: {}, ...request });
const details = (operation: unknown, request: Partial<OperationRequest>) => {
  try {
    check(operation, request);
  } catch (error) {
    if (error instanceof AppError) return error.details;
    throw error;
  }
  return undefined;
};
const HOSTILE = [undefined, null, '', 1, true, 'foo', [], {}, [[]], ['x', 1]];
const UUID = '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a01';

describe('the shape of requests', () => {
  it('returns one detail per fault, with its location', () => {
    expect(details(createClient, { params: { tenantId: 'x' }, body: { name: ' ', roles: ['king'] } })).toEqual([
      { value: 'x', msg: 'must be a UUID', param: 'tenantId', location: 'params' },
      { value: '', msg: 'must have 1 to 255 characters', param: 'name', location: 'body' },
      expect.objectContaining({ param: 'roles', location: 'body', value: ['king'] }) as object,
    ]);
  });

  it('names missing members', () => {
    expect(details(createClient, { params: { tenantId: UUID } })).toEqual([
      { msg: 'is required', param: 'name', location: 'body' },
      { msg: 'is required', param: 'roles', location: 'body' },
    ]);
  });

  it('drops undeclared members', () => {
    const { body } = check(createClient, {
      params: { tenantId: UUID },
      body: { name: ' Ann ', roles: ['issuer'], admin: true },
    });
    expect(body).toEqual({ name: 'Ann', roles: ['issuer'] });
  });

  it.each([null, 1, 'x', [], true])('refuses a body that is not an object: %j [T804]', (body) => {
    for (const request of [{ body }, { body, strict: true as const }])
      expect(details(createClient, { params: { tenantId: UUID }, ...request })).toEqual([
        { msg: 'must be an object', param: 'body', location: 'body' },
      ]);
  });

  it.each(HOSTILE.map((value) => [value]))('never throws anything but a 400: %j', (value) => {
    for (const operation of [createDid, createWebhook, webSemanticConfigurations.create, createClient]) {
      const members = [
        'method',
        'options',
        'url',
        'events',
        'type',
        'issuer',
        'claimMappings',
        'credentials',
        'claims',
      ];
      for (const member of members) expect(Array.isArray(details(operation, { body: { [member]: value } }))).toBe(true);
    }
  });

  it('names nested members with their path', () => {
    const body = {
      type: 'T',
      name: 'n',
      issuer: { name: 7 },
      claimMappings: {},
      expiresIn: { years: -1 },
      credentialBranding: { backgroundColor: 'red' },
    };
    expect(details(webSemanticConfigurations.create, { body })?.map(({ param }) => param)).toEqual([
      'issuer.name',
      'credentialBranding.backgroundColor',
      'expiresIn.years',
    ]);
  });

  it.each<[unknown, string, string]>([
    ['60', 'must be an integer', 'must be an integer'],
    [null, 'must be an integer', 'must be an integer'],
    [0.5, 'must be an integer', 'must be an integer'],
    [-1, 'must not be negative', 'must not be negative'],
    [604_801, 'must be at most 10 minutes', 'must be at most 604800 (7 days)'],
  ])('names the type before the bounds of a number: %j', (value, ofOffers, ofSecrets) => {
    for (const unit of ['minutes', 'seconds'])
      expect(
        details(createPreAuthorizedOffer, { body: { credentials: [UUID], expiresIn: { [unit]: value } } }),
      ).toMatchObject([{ msg: ofOffers, param: `expiresIn.${unit}`, location: 'body' }]);
    const params = { tenantId: UUID, clientId: 'a'.repeat(32) };
    expect(details(rotateClientSecret, { params, body: { overlapSeconds: value } })).toMatchObject([
      { msg: ofSecrets, param: 'overlapSeconds', location: 'body' },
    ]);
  });

  it('never echoes a secret', () => {
    const claims = 'my-private-value';
    expect(details(createPreAuthorizedOffer, { body: { credentials: [UUID], claims } })).toEqual([
      { msg: 'must be an object', param: 'claims', location: 'body' },
    ]);
  });

  it('does not echo long values', () => {
    const [detail] = details(retrieveTenant, { params: { tenantId: 'x'.repeat(500) } })!;
    expect(detail).not.toHaveProperty('value');
  });

  it('keeps claims unchanged', () => {
    const claims = { a: { b: [1, null, { c: 'd' }] }, 'https://x/y': true };
    const { body } = check(createPreAuthorizedOffer, { body: { credentials: [UUID], claims } });
    expect((body as { claims: unknown }).claims).toEqual(claims);
  });

  it('leaves absent members absent', () => {
    const { body } = check(createPreAuthorizedOffer, { body: { credentials: [UUID] } });
    expect(Object.keys(body as object)).toEqual(['credentials']);
  });

  it('returns a bounded number of details', () => {
    const fault = { msg: 'must not be', param: 'a', location: 'body' } as const;
    expect(invalid(...Array.from({ length: 5000 }, () => fault)).details).toHaveLength(100);
  });

  it('accepts lists as repeated parameters and separated by commas', () => {
    const { query } = check(listEvents, { query: { types: ['A,B', 'C'], requestIds: 'r1,r2', limit: '10' } });
    expect(query).toEqual({ types: ['A', 'B', 'C'], requestIds: ['r1', 'r2'], limit: 10 });
  });

  it.each(['0', '1001', '-1', '1.5', 'ten', '1e2', ' 1', ['1', '2']])('refuses the limit %j', (limit) => {
    expect(details(listEvents, { query: { limit } })).toMatchObject([{ param: 'limit', location: 'query' }]);
  });
});
