/** @engines embedded */
import { nestedTypeOf, OPERATIONS, refusesUnknown, rulesOf, type DtoClass, type Operation } from '@attestry/contracts';
import { pathOf, PLATFORM_START_MS, waitUntil, type Answer, type OperationParts } from '@attestry/testing';
import { clientOf, rightToken, snapshot } from './registry/calls.js';
import { closeWorld, openWorld } from './registry/open-world.js';
import { ROWS } from './registry/rows.js';
import type { World } from './registry/world.js';

// Everything is derived from the registry and its rows: an operation added later is tested without a new line here.

/** Near the name of no member. */
const UNKNOWN = 'zzUnknownzz';
const LENIENT = { prefer: 'handling=lenient' };

const served = OPERATIONS.filter(({ http }) => http !== undefined).map((it) => [it.name, it as Operation] as const);
const strict = served.filter(([, operation]) => refusesUnknown(operation));
const withBody = strict.filter(([, { body }]) => body !== undefined);
const withQuery = strict.filter(([, { query }]) => query !== undefined);
const others = served.filter(([, operation]) => !refusesUnknown(operation));

/** Path segment of a list's first entry. */
const FIRST = '0';

/** Paths of the objects in a body, the body itself first. */
const objectsIn = (type: DtoClass, path: readonly string[] = []): (readonly string[])[] => [
  path,
  ...[...new Set(rulesOf(type).map(({ propertyName }) => propertyName))].flatMap((name) => {
    const nested = nestedTypeOf(type, name);
    const isList = rulesOf(type).some((rule) => rule.propertyName === name && rule.name === 'isArray');
    return nested ? objectsIn(nested, [...path, name, ...(isList ? [FIRST] : [])]) : [];
  }),
];

type Members = Record<string, unknown>;
/** The body with one more member in the object at a path. */
const withMember = (body: unknown, [step, ...rest]: readonly string[], name: string): unknown => {
  if (step === FIRST) return [withMember((body as unknown[] | undefined)?.[0], rest, name)];
  const known = (body ?? {}) as Members;
  if (step === undefined) return Object.fromEntries([...Object.entries(known), [name, 'secret-value']]);
  return { ...known, [step]: withMember(known[step], rest, name) };
};

interface Refusal {
  details: { param: string; location: string; msg: string; value?: unknown }[];
}

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, PLATFORM_START_MS);
afterAll(async () => world && closeWorld(world));

const send = (operation: Operation, { params, ...rest }: OperationParts): Promise<Answer> =>
  clientOf(world, operation, rightToken(world, operation)).request(
    operation.http!.method,
    pathOf(operation.http!.path, params),
    rest,
  );
const right = (operation: Operation) => ROWS[operation.name]!.right(world);

const expectRefusal = (answer: Answer, param: string, location: string): void => {
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('is not known')]);
  expect(answer.text).not.toContain('secret-value');
  const named = (answer.body as Refusal).details.filter((detail) => detail.param === param);
  expect(named).toEqual([
    { param, location, msg: expect.stringMatching(/^is not known[.;].* Allowed: \w+/) as string },
  ]);
  expect(answer.headers.get('preference-applied')).toBeNull();
};

describe('an unknown member of a body', () => {
  const cases = withBody.flatMap(([name, operation]) =>
    objectsIn(operation.body!).map((path) => [`${name} ${[...path, UNKNOWN].join('.')}`, operation, path] as const),
  );

  it.each(cases)('is refused by name, and nothing changes: %s', async (_name, operation, path) => {
    const parts = await right(operation);
    const refused = { ...parts, body: withMember(parts.body, path, UNKNOWN) };
    const changesNothing = async () => {
      const before = await snapshot(world);
      expectRefusal(await send(operation, refused), [...path, UNKNOWN].join('.'), 'body');
      return (await snapshot(world)) === before;
    };
    // The effects of earlier calls may not be in the lists yet.
    await waitUntil(changesNothing, { what: 'a refusal that changes nothing' });
    if (path.length > 0) return;
    for (const inherited of ['__proto__', 'constructor', 'toString'])
      expectRefusal(
        await send(operation, { ...parts, body: withMember(parts.body, [], inherited) }),
        inherited,
        'body',
      );
    // The same call without the member succeeds.
    expect((await send(operation, parts)).status).toBe(operation.http!.success);
  });

  it.each(withBody)('is dropped with Prefer: handling=lenient: %s', async (_name, operation) => {
    const parts = await right(operation);
    const body = withMember(withMember(parts.body, [], UNKNOWN), [], '__proto__');
    const answer = await send(operation, { ...parts, body, headers: { ...parts.headers, ...LENIENT } });
    expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
    expect(answer.headers.get('preference-applied')).toBe('handling=lenient');
    expect(answer.text).not.toContain(UNKNOWN);
  });

  it('is refused in XML too', async () => {
    const { tenant } = world;
    const body = `<r><name>Acme</name><logoURL>https://a.example/l.png</logoURL><domain>xml.brand.example</domain></r>`;
    const headers = { 'content-type': 'application/xml' };
    const answer = await tenant.api.client.request('POST', '/v1/config/domain', { body, headers });
    expect([answer.status, (answer.body as Refusal).details]).toEqual([
      400,
      [
        { param: 'logoUrl', location: 'body', msg: 'is required' },
        {
          param: 'logoURL',
          location: 'body',
          msg: 'is not known; did you mean "logoUrl"? Allowed: name, logoUrl, domain',
        },
      ],
    ]);
  });

  it('is named with up to nine others, the rest are counted', async () => {
    const body = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`${UNKNOWN}${n}`, n]));
    const answer = await world.tenant.api.client.request('POST', '/v1/users', { body });
    const { details } = answer.body as Refusal;
    expect([answer.status, details.length]).toEqual([400, 11]);
    expect(details.at(-1)).toMatchObject({ param: 'body', msg: 'has 19990 more members that are not known' });
  });
});

describe('an unknown query parameter of a list', () => {
  it.each(withQuery)('is refused by name: %s', async (name, operation) => {
    const parts = await right(operation);
    const query = { ...parts.query, [UNKNOWN]: ['secret-value', 'b'] };
    expectRefusal(await send(operation, { ...parts, query }), UNKNOWN, 'query');
    const known = Object.keys(parts.query ?? {})[0] ?? 'limit';
    const misspelled = await send(operation, { ...parts, query: { ...parts.query, [`${known}z`]: '1' } });
    expect([name, misspelled.text]).toEqual([name, expect.stringContaining('did you mean')]);
    const inherited = Object.fromEntries([...Object.entries(parts.query ?? {}), ['__proto__', 'a']]);
    expectRefusal(await send(operation, { ...parts, query: inherited }), '__proto__', 'query');
  });

  it.each(withQuery)('is dropped with Prefer: handling=lenient: %s', async (_name, operation) => {
    const parts = await right(operation);
    const query = { ...parts.query, [UNKNOWN]: 'a' };
    const answer = await send(operation, { ...parts, query, headers: { ...parts.headers, ...LENIENT } });
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, 'handling=lenient']);
  });
});

describe('a body that is accepted', () => {
  const updates = withBody.filter(([, { http }]) => http!.method === 'PUT');
  const creations = withBody.filter(([, { http, resource }]) => http!.method === 'POST' && resource);

  it.each(updates)('the response of an update as its body: %s', async (_name, operation) => {
    const parts = await right(operation);
    const first = await send(operation, parts);
    const again = await send(operation, { ...parts, body: { ...(first.body as object), ...(parts.body as object) } });
    expect([again.status, again.text]).toEqual([200, expect.anything()]);
  });

  const readOf = ({ http: updated }: Operation) =>
    OPERATIONS.find(
      ({ http }) =>
        http?.method === 'GET' &&
        http.path === updated!.path.replace('/memberships/', '/members/') &&
        http.hosts?.[0] === updated!.hosts?.[0],
    ) as Operation;
  const jsonUpdates = updates.filter(([, operation]) => readOf(operation).http!.mediaType === undefined);

  it.each(jsonUpdates)('what GET returns as the body of PUT: %s', async (_name, operation) => {
    const parts = await right(operation);
    await send(operation, parts);
    const read = readOf(operation);
    const { body } = await send(read, { ...(parts.params && { params: parts.params }) });
    const answer = await send(operation, { ...parts, body });
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  });

  it.each(creations)('what GET returns in the body of POST: %s', async (_name, operation) => {
    const parts = await right(operation);
    const created = await send(operation, parts);
    const fresh = await right(operation);
    const resource = Object.fromEntries(
      Object.entries(created.body as object).filter(([name]) => !['client', 'clientSecret'].includes(name)),
    );
    const known = rulesOf(operation.body!).map(({ propertyName }) => propertyName);
    const readOnly = Object.fromEntries(Object.entries(resource).filter(([name]) => !known.includes(name)));
    const answer = await send(operation, { ...fresh, body: { ...readOnly, ...(fresh.body as object) } });
    expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
  });

  it('any names in open maps', async () => {
    const { tenant, own } = world;
    const map = { [UNKNOWN]: 'a', nmae: 'b' };
    const user = await tenant.api.client.request('POST', '/v1/users', { body: { claims: { ...map, deep: map } } });
    expect([user.status, user.body]).toEqual([201, expect.objectContaining({ claims: { ...map, deep: map } })]);
    const offer = { credentials: [own.jwtVc], claims: { given_name: 'Ada', ...map } };
    expect((await tenant.api.client.request('POST', '/v1/openid/offers/pre-authorized', { body: offer })).status).toBe(
      200,
    );
    const authorized = { credentials: [own.jwtVc], request_parameters: map };
    const answer = await tenant.api.client.request('POST', '/v1/openid/offers', { body: authorized });
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
    const update = OPERATIONS.find(({ name }) => name === 'tenant-config.update-authentication-provider') as Operation;
    const parts = await right(update);
    const provider = await send(update, {
      ...parts,
      body: { ...(parts.body as object), staticRequestParameters: map },
    });
    expect([provider.status, provider.body]).toEqual([200, expect.objectContaining({ staticRequestParameters: map })]);
  });
});

describe('unknown members of public requests and of OAuth and OID4VCI requests', () => {
  it.each(others)('are ignored: %s', async (_name, operation) => {
    const parts = await right(operation);
    const { body } = parts;
    const more =
      body instanceof URLSearchParams
        ? new URLSearchParams([...body, [UNKNOWN, 'a'], ['__proto__', 'b']])
        : typeof body === 'object'
          ? withMember(body, [], UNKNOWN)
          : body;
    const answer = await send(operation, {
      ...parts,
      ...(more !== undefined && { body: more }),
      query: { ...parts.query, [UNKNOWN]: 'a' },
      headers: { ...parts.headers, ...LENIENT },
    });
    expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
    expect(answer.headers.get('preference-applied')).toBeNull();
  });
});

it('covers every operation', () => {
  expect(new Set([...strict, ...others].map(([name]) => name)).size).toBe(served.length);
  expect(withBody.length).toBeGreaterThan(20);
  expect(withQuery.length).toBeGreaterThan(15);
  expect(others.map(([name]) => name)).toContain('management.issue-token');
});
