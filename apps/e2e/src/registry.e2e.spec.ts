import { OPERATIONS, ROLES, type Operation, type Role } from '@attestry/contracts';
import {
  ApiClient,
  expectStatus,
  interfaceDocuments,
  isRecording,
  pathOf,
  platformMode,
  PLATFORM_START_MS,
  responseExampleIn,
  setResponseExample,
  waitUntil,
  writeExamples,
  type Answer,
  type ManagementApi,
  type OperationParts,
  servedDocument,
} from '@attestry/testing';
import { clientOf, rightToken, snapshot } from './registry/calls.js';
import { closeWorld, connectPerson, openWorld } from './registry/open-world.js';
import type { Row } from './registry/row.js';
import { ROWS } from './registry/rows.js';
import type { World } from './registry/world.js';
import { exampleOf, shapesOf } from './response-examples.js';

const overHttp = OPERATIONS.filter(({ http }) => http !== undefined);
const table = overHttp.map((operation) => [operation.name, operation] as const);
const withAccess = (kind: Operation['access']['kind']) => table.filter(([, { access }]) => access.kind === kind);

const send = (client: ApiClient, operation: Operation, parts: OperationParts & { method?: string; path?: string }) => {
  const { method = operation.http!.method, path, params, ...rest } = parts;
  return client.request(method, path ?? pathOf(operation.http!.path, params), rest);
};

/** The error body an operation declares (specification notes, Errors). */
const expectErrorShape = (operation: Operation, answer: Answer): void => {
  const { status, headers, body } = answer;
  const isProtocolFault = status === 405 || status === 404;
  switch (isProtocolFault && operation.errors === 'oauth' ? 'tenant' : operation.errors) {
    case 'oauth':
      expect(body).toEqual(
        expect.objectContaining({
          error: expect.stringMatching(/^[a-z_]+$/),
          error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
        }),
      );
      break;
    case 'management':
      expect(body).toEqual({
        code: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
        type: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
        message: expect.any(String),
        details: expect.any(Array),
      });
      break;
    case 'tenant':
      expect(body).toEqual({
        code: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
        message: expect.any(String),
        ...((body as { details?: unknown }).details !== undefined && { details: expect.any(Array) }),
      });
  }
  expect(headers.get('cache-control')).toBe('no-store');
};

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, PLATFORM_START_MS);
afterAll(async () => world && closeWorld(world));

const call = async (operation: Operation, parts: OperationParts, token = rightToken(world, operation)) =>
  send(clientOf(world, operation, token), operation, parts);
const rowOf = (name: string): Row => ROWS[name]!;

const refused = new Map<string, OperationParts>();
/** A right call of an operation, for callers without access: what is refused changes nothing, so that it can be sent again. */
const partsToRefuse = async (name: string): Promise<OperationParts> => {
  const parts = refused.get(name) ?? (await rowOf(name).right(world));
  refused.set(name, parts);
  return parts;
};

/** The gateway compares roles before it calls a service, in both modes: on a cluster one allowed and one refused role are enough. */
const rolesFor = (allowed: readonly Role[]): readonly Role[] => {
  if (platformMode() !== 'cluster') return ROLES;
  return [ROLES.find((role) => allowed.includes(role)), ROLES.find((role) => !allowed.includes(role))].filter(
    (role) => role !== undefined,
  );
};

describe('the registry', () => {
  it('has exactly one test row for every HTTP operation', () => {
    expect(Object.keys(ROWS).sort()).toEqual(overHttp.map(({ name }) => name).sort());
  });

  it('has a row with foreign ids for every operation that takes ids', () => {
    const taking = overHttp.filter(({ http, access }) => http!.path.includes(':') && access.kind !== 'public');
    expect(taking.filter(({ name }) => !rowOf(name).foreign).map(({ name }) => name)).toEqual([]);
  });
});

const isEmpty = ({ http }: Operation): boolean => [204, 302].includes(http!.success) || http!.noContent === true;
const hasJson = ({ http }: Operation): boolean => /json/.test(http!.mediaType ?? 'json');

describe('a valid call', () => {
  it.each(table)('%s', async (name, operation) => {
    const answer = await call(operation, await rowOf(name).right(world));
    expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
    expect(answer.headers.get('cache-control')).toBe(operation.http!.cacheControl ?? 'no-store');
    if (isEmpty(operation)) expect(answer.text).toBe('');
    else if (operation.http!.stream) expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    else if (operation.http!.mediaType)
      expect(answer.headers.get('content-type')!.split(';', 1)[0]).toBe(operation.http!.mediaType);
    else expect(answer.headers.get('content-type')).toMatch(/^application\/(?:ld\+|did\+(?:ld\+)?)?json\b/);
    if (Array.isArray(operation.response) && !operation.http!.stream)
      expect((answer.body as { data: unknown }).data).toEqual(expect.any(Array));
  });
});

describe('an example in the interface definition', () => {
  /** Members that name what only this platform has: their values are those of the right call. */
  const OWN: Record<string, readonly string[]> = {
    'management.accept-invitation': ['token'],
    'management.create-tenant': ['environmentId'],
    'management.issue-token': ['client_id', 'client_secret', 'audience'],
    'management.revoke-token': ['client_id', 'client_secret'],
    'tenant-config.create-authentication-provider': ['url'],
    'tenant-config.update-authentication-provider': ['url'],
    'issuance.update-credential-configuration.jwt-vc': ['type'],
    'issuance.update-credential-configuration.mobile': ['type'],
    'issuance.update-credential-configuration.web-semantic': ['type'],
    'issuance.update-credential-configuration.sd-jwt': ['type'],
    'issuance.update-credential-configuration.compact': ['type'],
    'issuance.update-credential-configuration.compact-semantic': ['type'],
    'issuance.create-document-signer': ['iacaId'],
    'issuance.create-document-signer.status-list': ['iacaId'],
    'issuance.update-iaca-crl': ['crlPem'],
    'issuance.create-wallet': ['clientId'],
    'issuance.update-wallet': ['clientId'],
    'issuance.create-wallet.attested': ['clientId', 'rootCertificates'],
    'issuance.update-wallet.attested': ['clientId', 'rootCertificates'],
    'issuance.create-offer': ['credentials'],
    'issuance.create-pre-authorized-offer': ['credentials'],
    'issuance.push-authorization': ['authorization_details'],
    'issuance.exchange-token': ['pre-authorized_code'],
    'issuance.issue-credential': ['credential_configuration_id', 'proofs'],
    'issuance.issue-deferred-credential': ['transaction_id'],
    'issuance.record-notification': ['notification_id'],
    'issuance.submit-consent': ['request', 'token'],
    'issuance.create-revocation-notification': ['from'],
    'issuance.report-credentials': ['startDate', 'endDate'],
  };
  const withBody = overHttp.filter(({ body, http }) => body !== undefined || http!.accepts !== undefined);

  /** Operations that respond with one JSON document. */
  const responding = overHttp.filter(
    (operation) => !isEmpty(operation) && !operation.http!.stream && hasJson(operation),
  );
  const documents = interfaceDocuments();
  const recorded = new Map<Operation, unknown>();
  const compareExample = (operation: Operation, { status, body }: Answer) => {
    const { name, http } = operation;
    expect(status).toBe(http!.success);
    if (!responding.includes(operation)) return;
    recorded.set(operation, exampleOf(body));
    if (isRecording) return;
    const [shape] = shapesOf(responseExampleIn(documents, operation));
    expect([name, shapesOf(body)]).toEqual([name, expect.arrayContaining([shape])]);
  };
  afterAll(() => {
    if (!isRecording) return;
    writeExamples((document) => {
      for (const [operation, example] of recorded) setResponseExample(document, operation, example);
    });
  });

  it('of a response exists exactly for the operations that respond with JSON', () => {
    if (isRecording) return;
    expect(overHttp.filter((operation) => responseExampleIn(documents, operation) !== undefined)).toEqual(responding);
  });

  it.each(withBody.map((operation) => [operation.name, operation] as const))(
    'succeeds: %s',
    async (name, operation) => {
      const { body, ...parts } = await rowOf(name).right(world);
      const isForm = body instanceof URLSearchParams;
      const right = (isForm ? Object.fromEntries(body) : body) as Record<string, unknown>;
      const own = (OWN[name] ?? []).map((member) => [member, right[member]] as const);
      const example = { ...(operation.example as Record<string, string>), ...Object.fromEntries(own) };
      expect(Object.keys(operation.example!)).toEqual(expect.arrayContaining(own.map(([member]) => member)));
      const answer = await call(operation, {
        ...parts,
        body: isForm ? new URLSearchParams(example as Record<string, string>) : example,
      });
      expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
      compareExample(operation, answer);
    },
  );

  const withoutBody = responding.filter((operation) => !withBody.includes(operation));
  it.each(withoutBody.map((operation) => [operation.name, operation] as const))(
    'has the members of the response: %s',
    async (name, operation) => {
      const { query, ...parts } = await rowOf(name).right(world);
      const isList = Array.isArray(operation.response);
      const answer = await call(operation, { ...parts, query: { ...query, ...(isList && { limit: 100 }) } });
      compareExample(operation, answer);
    },
  );
});

describe('an operation with several addresses', () => {
  const several = table.filter(([, { http }]) => (http!.hosts ?? []).length > 1 || http!.alsoAt);
  it('is one of the operations tested below', () => {
    expect(several.map(([name]) => name).sort()).toEqual([
      'dids.retrieve-did-configuration',
      'dids.retrieve-did-document',
      'issuance.retrieve-issuer-metadata',
      'issuance.retrieve-jwt-vc-issuer',
      'management.issue-token',
      'tenant-config.retrieve-manifest',
    ]);
  });

  it('issues tokens on the management host too', async () => {
    const { platform, management } = world;
    const { client_id, client_secret } = platform.managementClient();
    const right = { client_id, client_secret, grant_type: 'client_credentials' };
    const client = new ApiClient(management.client.baseUrl);
    // There the audience may be absent, or name the host with and without its scheme.
    for (const audience of [undefined, management.client.baseUrl, new URL(management.client.baseUrl).host]) {
      const answer = await client.request<{ access_token: string }>('POST', '/oauth/token', {
        body: { ...right, audience },
      });
      expect(answer.status).toBe(200);
      expect((await client.as(answer.body.access_token).request('GET', '/v1/tenants')).status).toBe(200);
    }
    const wrong = await client.request('POST', '/oauth/token', { body: { ...right, client_secret: 'wrong' } });
    expect([wrong.status, wrong.body]).toMatchObject([
      401,
      {
        error: 'access_denied',
        error_description: expect.stringMatching(/^Unauthorized; tenant clients need audience/),
      },
    ]);
  });

  it('issues tokens for JSON and form requests, with the credentials in the body or in the header (RFC 6749 section 2.3.1)', async () => {
    const { platform, tenant } = world;
    const { clientId, clientSecret } = tenant.admin;
    const client = new ApiClient(platform.ready.auth);
    const credentials = { client_id: clientId, client_secret: clientSecret };
    const rest = { grant_type: 'client_credentials', audience: tenant.url };
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from([clientId, secret].map(encodeURIComponent).join(':')).toString('base64')}`,
    });
    const ask = async (body: Record<string, string>, headers?: Record<string, string>) =>
      Promise.all(
        [body, new URLSearchParams(body)].map((one) =>
          client.request<{ access_token: string }>('POST', '/oauth/token', { body: one, ...(headers && { headers }) }),
        ),
      );
    for (const answers of [
      await ask({ ...credentials, ...rest }),
      await ask(rest, basic(clientSecret)),
      await ask({ ...rest, client_id: clientId, client_secret: '' }, basic(clientSecret)),
    ])
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        const own = new ApiClient(tenant.url, body.access_token);
        expect((await own.request('GET', '/v1/dids')).status).toBe(200);
      }
    for (const { status, body, headers } of await ask(rest, basic('wrong'))) {
      expect([status, body]).toEqual([401, { error: 'access_denied', error_description: 'Unauthorized' }]);
      expect(headers.get('www-authenticate')).toBe('Basic realm="oauth", charset="UTF-8"');
    }
    for (const { status, body } of [
      ...(await ask({ ...credentials, ...rest }, basic(clientSecret))),
      ...(await ask(rest, { authorization: 'Basic nonsense' })),
    ])
      expect([status, body]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })]);
    const revoked = await client.request('POST', '/oauth/revoke', {
      body: new URLSearchParams({ token: 'not.a.token' }),
      headers: basic(clientSecret),
    });
    expect([revoked.status, revoked.body]).toEqual([200, {}]);
    const xml = { 'content-type': 'application/xml' };
    expect((await client.request('POST', '/oauth/token', { body: '<a/>', headers: xml })).status).toBe(415);
  });

  it('serves the document of a did:web with a path below that path', async () => {
    const { tenant } = world;
    const created = await tenant.api.dids.create({ method: 'web', options: { url: `${tenant.host}/people/ada` } });
    expect(created.status).toBe(201);
    const { did } = created.body;
    expect(did).toBe(`did:web:${encodeURIComponent(tenant.host)}:people:ada`);
    const answer = await new ApiClient(tenant.url).request('GET', '/people/ada/did.json');
    const served = servedDocument(created.body.localMetadata.initialDidDocument, tenant.url);
    expect([answer.status, answer.body]).toEqual([200, served]);
    expect((await new ApiClient(tenant.url).request('GET', '/people/bob/did.json')).status).toBe(404);
    expect((await tenant.api.dids.delete(did)).status).toBe(204);
    expect((await new ApiClient(tenant.url).request('GET', '/people/ada/did.json')).status).toBe(404);
  });
});

describe('an invalid call', () => {
  it.each(table)('%s', async (name, operation) => {
    const { wrong, refusal } = rowOf(name);
    const parts = await wrong(world);
    const answer = await call(operation, parts);
    expect([answer.status, answer.text]).toEqual([refusal.status, expect.anything()]);
    if ('page' in refusal) expect(answer.text).toContain(`<dd>${refusal.page}</dd>`);
    else expectErrorShape(operation, answer);
    if ('param' in refusal) {
      const { details } = answer.body as { details: { msg: string; param: string; location: string }[] };
      expect(details).toContainEqual(expect.objectContaining({ param: refusal.param, location: refusal.location }));
      for (const { msg } of details) expect(msg).toMatch(/\S/);
    }
    if ('error' in refusal) expect(answer.body).toMatchObject({ error: refusal.error });
    if (refusal.status === 405) expect(answer.headers.get('allow')?.split(', ')).toContain(operation.http!.method);
    if (operation.kind !== 'command' || operation.access.kind === 'public') return;
    // The effects of earlier calls may not be in the lists yet, hence the retry.
    const changesNothing = async () => {
      const before = await snapshot(world);
      expect((await call(operation, parts)).status).toBe(refusal.status);
      return (await snapshot(world)) === before;
    };
    await waitUntil(changesNothing, { what: 'a refusal that changes nothing' });
  });
});

describe('a call without a token', () => {
  it.each([...withAccess('roles'), ...withAccess('management')])('%s', async (name, operation) => {
    const parts = await partsToRefuse(name);
    for (const headers of [undefined, { authorization: 'Bearer nonsense' }, { authorization: 'Basic YTpi' }]) {
      const answer = await send(clientOf(world, operation), operation, { ...parts, ...(headers && { headers }) });
      expect(answer.status).toBe(401);
      expectErrorShape(operation, answer);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
    }
  });

  it('issuance.issue-credential', async () => {
    const operation = overHttp.find(({ name }) => name === 'issuance.issue-credential')!;
    const { body } = await partsToRefuse(operation.name);
    const answer = await call(operation, { body });
    expect(answer.status).toBe(401);
    expectErrorShape(operation, answer);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer, DPoP algs="ES256"');
  });

  it.each(withAccess('public'))('is sufficient for %s', async (name, operation) => {
    const answer = await send(clientOf(world, operation), operation, await rowOf(name).right(world));
    expect(answer.status).toBe(operation.http!.success);
  });
});

describe('a call with one role [T56]', () => {
  const cases = table.flatMap(([name, operation]) => {
    const { access } = operation;
    return access.kind === 'roles'
      ? rolesFor(access.roles).map((role) => [name, role, operation, access.roles] as const)
      : [];
  });
  it.each(cases)('%s as %s', async (name, role, operation, allowed) => {
    const isAllowed = allowed.includes(role);
    const parts = isAllowed ? await rowOf(name).right(world) : await partsToRefuse(name);
    const answer = await call(operation, parts, world.tokenOf[role]);
    if (isAllowed) expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
    else {
      expect(answer.status).toBe(403);
      expectErrorShape(operation, answer);
      const reason = `The client needs one of these roles: ${allowed.join(', ')}`;
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", error_description="${reason}"`,
      );
    }
  });

  it.each(withAccess('management'))(
    '%s refuses tokens of tenant clients, whatever their roles',
    async (name, operation) => {
      const parts = await partsToRefuse(name);
      for (const role of rolesFor([])) expect((await call(operation, parts, world.tokenOf[role])).status).toBe(401);
    },
  );

  it.each(withAccess('public'))('%s needs no role', async (name, operation) => {
    for (const role of rolesFor(ROLES)) {
      const answer = await call(operation, await rowOf(name).right(world), world.tokenOf[role]);
      expect(answer.status).toBe(operation.http!.success);
    }
  });

  it.each(withAccess('holder'))('%s refuses the token of a client [T88]', async (name, operation) => {
    const { body, query } = await rowOf(name).right(world);
    for (const role of rolesFor([])) {
      const answer = await call(
        operation,
        { ...(body !== undefined && { body }), ...(query && { query }) },
        world.tokenOf[role],
      );
      // The authorization endpoint reads no token; the token endpoint reads only the code, which is valid once.
      const blind: Record<string, number> = {
        'issuance.authorize': 302,
        'issuance.push-authorization': 201,
        // It reads the token of its form, and one that is unknown is no error (RFC 7009 section 2.2).
        'issuance.revoke-wallet-token': 200,
        // Its cookie is not sent here.
        'issuance.complete-authorization': 400,
        'issuance.complete-interaction': 400,
        'issuance.exchange-token': role === ROLES[0] ? 200 : 400,
      };
      expect(answer.status).toBe(blind[name] ?? 401);
    }
  });
});

describe('a call on the management host', () => {
  const management = table.flatMap(([name, operation]) =>
    operation.access.kind === 'management' ? [[name, operation, operation.access] as const] : [],
  );
  const ofMembers = management.flatMap(([name, operation, { roles, orSelf }]) =>
    roles ? [[name, operation, { roles, orSelf: orSelf === true }] as const] : [],
  );
  const people = {} as Record<Role, ManagementApi>;
  beforeAll(async () => {
    for (const role of ROLES) people[role] = await connectPerson(world.platform, world.provider);
  });

  /** Registered users become members at once; 400 for members. */
  const join = async (person: ManagementApi, tenantId: unknown, role: Role) => {
    const { email } = expectStatus(await person.user.retrieve(), 200);
    const joined = await world.management.members.invite(String(tenantId), { email, roles: [role] });
    expect([200, 400]).toContain(joined.status);
  };
  const expectForbidden = (operation: Operation, answer: Answer, reason: string) => {
    expect([answer.status, answer.text]).toEqual([403, expect.anything()]);
    expectErrorShape(operation, answer);
    expect(answer.body).toMatchObject({ message: reason });
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", error_description="${reason}"`,
    );
  };

  it('is about a tenant exactly where roles are declared', () => {
    expect(ofMembers.map(([name]) => name)).toEqual(
      management.filter(([, { http }]) => http!.path.includes(':tenantId')).map(([name]) => name),
    );
  });

  it.each(ofMembers.flatMap(([name, ...declared]) => ROLES.map((role) => [name, role, ...declared] as const)))(
    '%s by a member with the role %s',
    async (name, role, operation, { roles }) => {
      const parts = await rowOf(name).right(world);
      await join(people[role], parts.params!['tenantId'], role);
      const answer = await call(operation, parts, people[role].client.token);
      if (roles.includes(role))
        expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
      else expectForbidden(operation, answer, `The caller needs the role ${roles.join(' or ')} on the tenant`);
    },
  );

  it.each(ofMembers.filter(([, { http }]) => http!.path.includes(':userId')))(
    '%s by a member without such a role, about themselves',
    async (_name, operation, { roles, orSelf }) => {
      const person = await connectPerson(world.platform, world.provider);
      const { id: userId } = expectStatus(await person.user.retrieve(), 200);
      const params = { tenantId: world.tenant.id, userId };
      await join(person, params.tenantId, 'auditor');
      const body = operation.example;
      const answer = await call(operation, { params, ...(body !== undefined && { body }) }, person.client.token);
      if (orSelf) expect([answer.status, answer.text]).toEqual([operation.http!.success, expect.anything()]);
      else expectForbidden(operation, answer, `The caller needs the role ${roles.join(' or ')} on the tenant`);
    },
  );

  it.each(management.filter(([, , { roles }]) => !roles))(
    '%s by a client and by a user',
    async (name, operation, { usersOnly }) => {
      const user = await call(operation, await rowOf(name).right(world), world.person.client.token);
      expect([user.status, user.text]).toEqual([operation.http!.success, expect.anything()]);
      const client = await call(operation, await rowOf(name).right(world), world.management.client.token);
      if (usersOnly) expectForbidden(operation, client, 'The operation is for users; the caller is a client');
      else expect(client.status).toBe(operation.http!.success);
    },
  );
});

describe("a call with another tenant's", () => {
  it.each(table.filter(([name]) => rowOf(name)?.foreign))('ids: %s', async (name, operation) => {
    const answer = await call(operation, rowOf(name).foreign!(world));
    expect([answer.status, answer.text]).toEqual([404, expect.anything()]);
    expectErrorShape(operation, answer);
    expect(answer.body).toMatchObject({ code: 'NotFound', message: 'Resource Not Found' });
  });

  it('ids: an offer can only name configurations of its own tenant', async () => {
    const { tenant, foreign } = world;
    const answer = await tenant.api.offers.create({ credentials: [foreign.jwtVc] });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      details: [expect.objectContaining({ param: 'credentials', location: 'body' })],
    });
  });

  it('management client returns 404 for its tenants', async () => {
    const { outsider, tenant, own } = world;
    expect((await outsider.tenants.list()).body).toEqual({ data: [] });
    expect((await outsider.tenants.retrieve(tenant.id)).status).toBe(404);
    expect((await outsider.tenants.delete(tenant.id)).status).toBe(404);
    expect((await outsider.clients.list(tenant.id)).status).toBe(404);
    expect((await outsider.clients.create(tenant.id, { name: 'x', roles: ['admin'] })).status).toBe(404);
    expect((await outsider.clients.delete(tenant.id, own.client)).status).toBe(404);
  });

  it.each(withAccess('roles'))('token: %s', async (name, operation) => {
    const answer = await call(operation, await partsToRefuse(name), world.other.token);
    expect(answer.status).toBe(401);
    expectErrorShape(operation, answer);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });

  it.each(withAccess('roles'))('management token: %s', async (name, operation) => {
    const answer = await call(operation, await partsToRefuse(name), world.management.client.token);
    expect(answer.status).toBe(401);
  });
});

describe('cursors', () => {
  const lists = table.filter(([, { response, http }]) => Array.isArray(response) && !http!.stream);
  it.each(lists)('%s refuses one that it did not issue', async (name, operation) => {
    const parts = await rowOf(name).right(world);
    // A search has them in its body.
    const location = operation.query ? 'query' : 'body';
    for (const cursor of [
      'nonsense',
      '',
      Buffer.from('createdAt=2026-01-01T00:00:00.000Z&id=1').toString('base64url'),
    ]) {
      const asked = { limit: 1, cursor };
      const sent = location === 'query' ? asked : { ...(parts.body as object), ...asked };
      const answer = await call(operation, { ...parts, [location]: sent });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ details: [expect.objectContaining({ param: 'cursor', location })] });
    }
  });

  it('of another tenant are refused', async () => {
    const { tenant, other } = world;
    for (const api of [tenant.api, other.api])
      for (let n = 0; n < 2; n++) expect((await api.users.create()).status).toBe(201);
    const { nextCursor } = (await other.api.users.list({ limit: 1 })).body;
    expect(nextCursor).toEqual(expect.any(String));
    expect((await other.api.users.list({ limit: 1, cursor: nextCursor })).status).toBe(200);
    expect((await tenant.api.users.list({ limit: 1, cursor: nextCursor })).status).toBe(400);
    // Cursors of another list are refused too.
    expect((await other.api.dids.list({ limit: 1, cursor: nextCursor })).status).toBe(400);
  });

  it('return each entry of a list once, without gaps', async () => {
    const { tenant } = world;
    const all = (await tenant.api.users.list({ limit: 1000 })).body.data.map(({ id }) => id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (await tenant.api.users.list({ limit: 3, cursor })).body;
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(all);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
