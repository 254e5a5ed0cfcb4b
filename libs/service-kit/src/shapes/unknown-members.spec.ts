import {
  createClient,
  createPreAuthorizedOffer,
  createTenant,
  createUser,
  jwtVcConfigurations,
  listEvents,
  listUsers,
  MAX_DETAILS,
  OPERATIONS,
  updateMembership,
  updateTenant,
  type AppError,
  type ErrorDetail,
  type Operation,
  type OperationRequest,
} from '@attestry/contracts';
import { checkRequest } from './validation.js';
import { nearestName, readOnlyNamesOf } from './unknown-members.js';

const UUID = '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a01';
const tenantId = UUID;
const check = (operation: unknown, request: Partial<OperationRequest>, strict = true) =>
  checkRequest(operation as Operation, { params: {}, query: {}, body: {}, ...request, ...(strict && { strict }) });
const details = (operation: unknown, request: Partial<OperationRequest>): ErrorDetail[] => {
  try {
    check(operation, request);
  } catch (error) {
    return (error as AppError).details!;
  }
  return [];
};
const client = { name: 'Ann', roles: ['issuer'] };
const configuration = { type: 'T', name: 'n', issuer: { name: 'Acme' }, claimMappings: {} };

describe('unknown members of a strict request', () => {
  it('are named with the nearest known name and the allowed names, beside other faults', () => {
    expect(details(createClient, { params: { tenantId }, body: { nmae: 'Ann', roles: ['issuer'] } })).toEqual([
      { msg: 'is required', param: 'name', location: 'body' },
      { msg: 'is not known; did you mean "name"? Allowed: name, roles', param: 'nmae', location: 'body' },
    ]);
  });

  it('of the lifetime of an offer are refused with its limit [T653]', () => {
    for (const unit of ['days', 'hours', 'minute'])
      expect(details(createPreAuthorizedOffer, { body: { credentials: [UUID], expiresIn: { [unit]: 1 } } })).toEqual([
        {
          msg: `is not known${unit === 'minute' ? '; did you mean "minutes"?' : '.'} An offer lasts at most 10 minutes. Allowed: minutes, seconds`,
          param: `expiresIn.${unit}`,
          location: 'body',
        },
      ]);
    for (const expiresIn of [1, '1d', null])
      expect(details(createPreAuthorizedOffer, { body: { credentials: [UUID], expiresIn } })).toEqual([
        {
          value: expiresIn,
          msg: 'must be an object with minutes or seconds. An offer lasts at most 10 minutes.',
          param: 'expiresIn',
          location: 'body',
        },
      ]);
  });

  it('without a near name are named with the allowed names', () => {
    expect(details(createClient, { params: { tenantId }, body: { ...client, colour: 1 } })).toEqual([
      { msg: 'is not known. Allowed: name, roles', param: 'colour', location: 'body' },
    ]);
  });

  it('of nested objects are named by their path', () => {
    const issuer = { name: 'Acme', logoURI: 'x' };
    expect(details(jwtVcConfigurations.create, { body: { ...configuration, issuer, expiresIn: { year: 1 } } })).toEqual(
      [
        {
          msg: 'is not known; did you mean "logoUrl"? Allowed: name, logoUrl, iconUrl',
          param: 'issuer.logoURI',
          location: 'body',
        },
        {
          msg: expect.stringContaining('did you mean "years"') as string,
          param: 'expiresIn.year',
          location: 'body',
        },
      ],
    );
  });

  it('of the objects of a list are named by their place', () => {
    const display = [{ name: 'Degree' }, { colour: '#a1b2c3', logo: { url: 'x', uri: 'https://a.example/l.png' } }];
    expect(details(jwtVcConfigurations.create, { body: { ...configuration, display } })).toEqual([
      {
        msg: expect.stringContaining('is not known. Allowed: name') as string,
        param: 'display.1.colour',
        location: 'body',
      },
      {
        msg: 'is not known; did you mean "uri"? Allowed: uri, alt_text',
        param: 'display.1.logo.url',
        location: 'body',
      },
    ]);
  });

  it('of a query are named', () => {
    expect(details(listUsers, { query: { limt: '1' } })).toEqual([
      { msg: 'is not known; did you mean "limit"? Allowed: limit, cursor', param: 'limt', location: 'query' },
    ]);
    expect(details(listEvents, { query: { 'types[]': ['A', 'B'] } })).toEqual([
      expect.objectContaining({ param: 'types[]', msg: expect.stringContaining('did you mean "types"') as string }),
    ]);
  });

  it('have values that are not echoed: a misspelled member may be a secret', () => {
    const secret = 'very-secret';
    expect(JSON.stringify(details(createUser, { body: { clientSecrt: secret, claim: { secret } } }))).not.toContain(
      secret,
    );
  });

  it('with names that every object inherits are named, not read', () => {
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      const body = JSON.parse(`{"name":"Ann","roles":["issuer"],"${name}":{"name":"x"}}`) as object;
      expect(details(createClient, { params: { tenantId }, body })).toEqual([
        expect.objectContaining({ param: name, location: 'body' }),
      ]);
    }
    const query = Object.fromEntries([['__proto__', '1']]);
    expect(details(listUsers, { query })).toEqual([expect.objectContaining({ param: '__proto__', location: 'query' })]);
  });

  it('are limited to ten named ones, the rest are counted over all levels', () => {
    const many = (count: number, stem: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${stem}${n}`, 1]));
    const issuer = { name: 'Acme', ...many(15_000, 'y') };
    const found = details(jwtVcConfigurations.create, { body: { ...configuration, issuer, ...many(8, 'x') } });
    expect(found.map(({ param }) => param)).toEqual([
      ...Array.from({ length: 8 }, (_, n) => `x${n}`),
      'issuer.y0',
      'issuer.y1',
      'body',
    ]);
    expect(found.at(-1)).toEqual({
      msg: 'has 14998 more members that are not known',
      param: 'body',
      location: 'body',
    });
    expect(found.length).toBeLessThan(MAX_DETAILS);
  });

  it('of any number and length take linear time and cause a short response', () => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`${'é'.repeat(20)}${n}`, 1]));
    const start = performance.now();
    const found = details(createClient, {
      params: { tenantId },
      body: { ...client, ['n'.repeat(1_000_000)]: 1, ...body },
    });
    expect(performance.now() - start).toBeLessThan(1000);
    expect(JSON.stringify(found).length).toBeLessThan(3000);
    expect(found[0]!.param).toBe(`${'n'.repeat(100)}…`);
  });

  it('whose name is cut within a surrogate pair remain well-formed', () => {
    const [found] = details(createClient, { params: { tenantId }, body: { ...client, ['n'.repeat(99) + '😀']: 1 } });
    expect(found!.param.isWellFormed()).toBe(true);
  });
});

describe('the content of a strict request', () => {
  it('read-only members of the resource are ignored', () => {
    const tenant = { id: UUID, subdomain: 'a', environmentId: UUID, environment: { any: 1 }, membership: {} };
    expect(check(updateTenant, { params: { tenantId }, body: { ...tenant, name: 'Acme' } }).body).toEqual({
      name: 'Acme',
    });
    // The update returns a member in the form in which it is read.
    const member = { id: UUID, email: 'a@b.example', name: 'A', status: 'Active', userId: UUID, tenantId };
    const params = { tenantId, userId: UUID };
    expect(check(updateMembership, { params, body: { ...member, roles: ['admin'] } }).body).toEqual({
      roles: ['admin'],
    });
  });

  it('members that only a creation returns are not read-only, and are refused', () => {
    const body = { ...client, clientSecret: 'mine' };
    expect(details(createClient, { params: { tenantId }, body })).toEqual([
      expect.objectContaining({ param: 'clientSecret' }),
    ]);
    expect([...readOnlyNamesOf(createTenant as Operation)]).not.toContain('client');
    expect([...readOnlyNamesOf(createPreAuthorizedOffer as Operation)]).toEqual([]);
  });

  it('members with the names of read-only ones are unknown below the resource', () => {
    const issuer = { name: 'Acme', id: UUID };
    expect(details(jwtVcConfigurations.create, { body: { ...configuration, id: UUID, issuer } })).toEqual([
      expect.objectContaining({ param: 'issuer.id' }),
    ]);
  });

  it('open maps have any names', () => {
    const claims = { nmae: 1, limt: { id: 2 } };
    expect(check(createUser, { body: { claims } }).body).toEqual({ claims });
  });

  it('a value that is not an object is reported as such', () => {
    expect(details(createUser, { body: ['x'] })).toEqual([
      { msg: 'must be an object', param: 'body', location: 'body' },
    ]);
    const body = { ...configuration, issuer: ['x'] };
    expect(details(jwtVcConfigurations.create, { body })).toEqual([
      expect.objectContaining({ param: 'issuer', msg: 'must be an object' }),
    ]);
  });

  it('the mark itself does not reach the service', () => {
    expect(check(listUsers, { query: {} })).not.toHaveProperty('strict');
  });
});

it('a request that is not strict loses its unknown members', () => {
  const request = { params: { tenantId }, query: {}, body: { ...client, nmae: 'x' } };
  expect(check(createClient, request, false).body).toEqual(client);
});

describe('read-only members', () => {
  // Setting a status changes a resource; of an offer its state is retrieved, not what was created.
  const creations = OPERATIONS.filter(
    ({ http, body, access }) =>
      http?.method === 'POST' &&
      !/[/-]status$/.test(http.path) &&
      http.path !== createPreAuthorizedOffer.http!.path &&
      body &&
      (access.kind === 'roles' || access.kind === 'management'),
  );
  const hasItem = ({ http }: Operation) =>
    OPERATIONS.some(
      (other) =>
        other.http?.method === 'GET' && other.http.path === http!.path && other.http.hosts?.[0] === http!.hosts?.[0],
    );

  it.each(creations.map((operation) => [operation.name, operation] as const))(
    'are declared when the created resource can be retrieved: %s',
    (_name, operation) => {
      expect(operation.resource !== undefined).toBe(hasItem(operation));
      expect(readOnlyNamesOf(operation).size > 0).toBe(hasItem(operation));
    },
  );
});

describe('the nearest name', () => {
  const known = ['name', 'logoUrl', 'transactionCodeConfiguration', 'clientId', 'roles'];
  it.each([
    ['nmae', 'name'],
    ['Name', 'name'],
    ['names', 'name'],
    ['client_id', 'clientId'],
    ['role', 'roles'],
    ['logoUri', 'logoUrl'],
    ['logo', undefined],
    ['transactionCodeConfig', 'transactionCodeConfiguration'],
    ['transactionCode', undefined],
    ['x', undefined],
    ['', undefined],
    ['[]', undefined],
    ['__proto__', undefined],
  ])('of %s is %s', (name, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });

  it('is found for names in every script, and for none without letters and digits', () => {
    expect(nearestName('имяя', ['фамилия', 'имя'])).toBe('имя');
    expect(nearestName('имя', ['城市'])).toBeUndefined();
    expect(nearestName('--', ['__'])).toBeUndefined();
  });

  it('of a name of 1,000,000 characters is undefined', () => {
    expect(nearestName('n'.repeat(1_000_000), known)).toBeUndefined();
  });

  it('is the first of several equally near ones', () => {
    expect(nearestName('dateForm', ['dateFrom', 'dateTo'])).toBe('dateFrom');
    expect(nearestName('nane', ['name', 'nape'])).toBe('name');
  });
});
