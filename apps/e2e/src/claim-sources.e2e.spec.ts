/** @engines embedded */
import type { ServerResponse } from 'node:http';
import {
  ApiClient,
  claimsResponse,
  ClaimsServer,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  searchFolders,
  settledRecords,
  startPlatform,
  verifyJwtVc,
  waitUntil,
  Wallet,
  type Answer,
  type ManagementApi,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';

const API_KEY = 'canary-key-of-the-claims-source';
const CLIENT_SECRET = 'canary-secret-of-the-oauth-client';
const TOKEN = 'canary-access-token-of-the-source';
const PRIVATE_CLAIM = 'canary-claim-of-the-source';

let platform: PlatformProcess;
let management: ManagementApi;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let server: ClaimsServer;
let did: string;

beforeAll(async () => {
  server = await ClaimsServer.start();
  platform = (await startPlatform()) as PlatformProcess;
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'sources');
  other = await createTenantUnderTest(platform, management, 'other-sources');
  ({ did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201));
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await server?.stop();
});
beforeEach(() => {
  server.calls.length = 0;
  server.tokenCalls.length = 0;
  server.respond = claimsResponse({});
  server.respondWithToken = claimsResponse({ access_token: TOKEN, token_type: 'Bearer', expires_in: 300 });
});

type SourceRequest = Parameters<TenantUnderTest['api']['claimSources']['create']>[0];
const createSource = async (more: Partial<SourceRequest> = {}) =>
  expectStatus(await tenant.api.claimSources.create({ name: 'Register', url: server.url, ...more }), 201);
let serial = 0;
const mapping = (name: string, more: object = {}) => ({ [name]: { mapFrom: `claims.${name}`, ...more } });
const createConfiguration = async (
  claimSourceId: string | undefined,
  claimMappings: object = { ...mapping('given_name'), ...mapping('degree') },
) => {
  const body = {
    ...{ type: `Pass${++serial}`, name: 'Pass', issuer: { name: 'City' }, issuerDid: did, claimMappings },
    ...(claimSourceId !== undefined && { claimSourceId }),
  };
  return expectStatus(await tenant.api.jwtVc.create(body as never), 201);
};
type Offer = Parameters<TenantUnderTest['api']['offers']['create']>[0];
type Issued = Answer<{
  credentials?: { credential: string }[];
  transaction_id?: string;
  error?: string;
  error_description?: string;
}>;
/** Redeems a fresh offer: each call of `send` is a credential request with a nonce of its own. */
const redeem = async (offered: Offer, { count = 1 } = {}) => {
  const { uri } = expectStatus(await tenant.api.offers.create(offered), 200);
  const wallet = new Wallet();
  const offer = await wallet.resolveOffer(uri);
  const metadata = await wallet.metadata(offer.credential_issuer);
  const token = await wallet.accessToken(offer, metadata);
  const [id] = offer.credential_configuration_ids as [string];
  const send = async (): Promise<Issued> => {
    const nonce = await wallet.nonce(metadata);
    const jwt = [];
    for (let n = 0; n < count; n++) jwt.push(await wallet.proof(metadata, id, await makeHolderKey(), nonce));
    return new ApiClient(tenant.url, token).request('POST', '/v1/openid/credential', {
      body: { credential_configuration_id: id, proofs: { jwt } },
    });
  };
  return { token, send };
};
/** A credential request for a fresh offer. */
const request = async (offered: Offer, { count = 1 } = {}) => {
  const { token, send } = await redeem(offered, { count });
  const answer = await send();
  const { credentials, transaction_id: transactionId, error, error_description: description } = answer.body;
  return {
    status: answer.status,
    credentials: credentials ?? [],
    token,
    transactionId,
    error,
    description,
    requestId: answer.headers.get('x-request-id'),
  };
};
const subjectOf = async (credential: string): Promise<Record<string, unknown>> => {
  const { id: _, ...subject } = (await verifyJwtVc(credential)).payload.vc!['credentialSubject'] as Record<
    string,
    unknown
  >;
  return subject;
};
const collect = async (offered: Offer) => {
  const { status, credentials, description } = await request(offered);
  expect([status, description]).toEqual([200, undefined]);
  return subjectOf(credentials[0]!.credential);
};
const DENIED = { status: 400, error: 'credential_request_denied' };
const detailsOf = ({ status, body }: Answer<unknown>) => [
  status,
  ...((body as { details?: { param: string; msg: string }[] }).details ?? []).map(({ param, msg }) => [param, msg]),
];

describe('claims sources', () => {
  it('are created, listed, changed and deleted, with their secrets masked [T410, T412]', async () => {
    const { claimSources } = tenant.api;
    const body: SourceRequest = {
      ...{ name: ' Register ', url: server.url, requestMethod: 'POST' },
      requestParameters: { email: { mapFrom: 'claims.email', defaultValue: '' } },
      authorization: { type: 'api-key', value: API_KEY },
    };
    const created = expectStatus(await claimSources.create(body), 201);
    const shown = { type: 'api-key', value: `**********${API_KEY.slice(-5)}` };
    expect(created).toEqual({ ...body, id: expect.any(String), name: 'Register', authorization: shown });
    expect(expectStatus(await claimSources.retrieve(created.id), 200)).toEqual(created);
    expect(expectStatus(await claimSources.list(), 200).data).toContainEqual(created);
    // The masked form keeps the key, and a plain one replaces it.
    const { id: _, ...again } = created;
    expect(expectStatus(await claimSources.update(created.id, { ...again, name: 'Other' }), 200)).toEqual({
      ...created,
      name: 'Other',
    });
    const moved = { ...again, url: 'http://127.0.0.1:9/claims' };
    expect(detailsOf(await claimSources.update(created.id, moved))).toEqual([
      400,
      [
        'authorization.value',
        'must be the secret itself, not masked, because the origin of url changed; the stored secret is only sent to the origin it was saved for',
      ],
    ]);
    const value = 'another-key';
    const replaced = await claimSources.update(created.id, { ...moved, authorization: { type: 'api-key', value } });
    expect(expectStatus(replaced, 200).authorization).toEqual({ type: 'api-key', value: '**********ey' });
    expect(expectStatus(await claimSources.update(created.id, { name: 'Open', url: server.url }), 200)).toEqual({
      ...{ id: created.id, name: 'Open', url: server.url, requestMethod: 'GET', requestParameters: {} },
    });
    expectStatus(await claimSources.delete(created.id), 204);
    for (const answer of [await claimSources.retrieve(created.id), await claimSources.delete(created.id)])
      expect(answer.status).toBe(404);
  });

  it('are for admin and issuer [T410]', async () => {
    const { id } = await createSource();
    for (const [role, allowed] of [
      ['issuer', true],
      ['managed-issuer', false],
      ['verifier', false],
    ] as const) {
      const { claimSources } = await connectWithRoles(platform, management, tenant, [role]);
      const body = { name: 'Register', url: server.url };
      const statuses = [
        (await claimSources.list()).status,
        (await claimSources.retrieve(id)).status,
        (await claimSources.update(id, body)).status,
        (await claimSources.create(body)).status,
      ];
      expect([role, ...statuses]).toEqual([role, ...(allowed ? [200, 200, 200, 201] : [403, 403, 403, 403])]);
    }
  });

  it('of another tenant do not exist [T410]', async () => {
    const { id } = await createSource();
    const theirs = other.api.claimSources;
    for (const answer of [
      await theirs.retrieve(id),
      await theirs.update(id, { name: 'x', url: server.url }),
      await theirs.delete(id),
    ])
      expect(answer.status).toBe(404);
    expect(expectStatus(await theirs.list(), 200).data).toEqual([]);
    expectStatus(await other.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
    const body = { type: 'Theirs', name: 'x', issuer: { name: 'x' }, claimMappings: {}, claimSourceId: id };
    expect(detailsOf(await other.api.jwtVc.create(body))).toEqual([
      400,
      ['claimSourceId', 'must be the id of a claims source of the tenant'],
    ]);
  });

  it('are named by configurations of every format, and then not deleted [T411]', async () => {
    const { api } = tenant;
    const { id: claimSourceId } = await createSource();
    const base = { type: 'Every', claimMappings: mapping('given_name'), claimSourceId };
    const named = { ...base, name: 'Every', issuer: { name: 'City' } };
    const formats = [
      [api.jwtVc, { ...named, issuerDid: did }],
      [api.webSemantic, { ...named, issuerDid: did }],
      [api.sdJwt, named],
      [api.compact, base],
      [api.compactSemantic, { ...base, type: 'EverySemantic' }],
      [
        api.mobile,
        {
          ...base,
          claimMappings: { 'org.example': mapping('given_name') },
          expiresIn: { days: 1 },
          type: 'org.example',
        },
      ],
    ] as unknown as [typeof api.jwtVc, Parameters<typeof api.jwtVc.create>[0]][];
    const message = 'The claims source is used by the credential configurations ';
    for (const [operations, body] of formats) {
      const unknown = { ...body, claimSourceId: '11111111-1111-4111-8111-111111111111' };
      const refused = [400, ['claimSourceId', 'must be the id of a claims source of the tenant']];
      expect(detailsOf(await operations.create(unknown))).toEqual(refused);
      const created = expectStatus(await operations.create(body), 201);
      expect(created.claimSourceId).toBe(claimSourceId);
      expect(detailsOf(await operations.update(created.id, unknown))).toEqual(refused);
      const kept = await api.claimSources.delete(claimSourceId);
      expect([kept.status, (kept.body as unknown as { message: string }).message]).toEqual([409, message + created.id]);
      const without = expectStatus(await operations.update(created.id, { ...body, claimSourceId: null }), 200);
      expect(without).not.toHaveProperty('claimSourceId');
      expectStatus(await operations.delete(created.id), 204);
    }
    expectStatus(await api.claimSources.delete(claimSourceId), 204);
  });
});

describe('a credential with a claims source', () => {
  it('is issued with its claims, which are requested with the claims that are known [T413, T414]', async () => {
    const requestParameters = {
      email: { mapFrom: 'claims.email' },
      name: { mapFrom: 'claims.given_name', defaultValue: 'nobody' },
      type: { mapFrom: 'credentialConfiguration.type' },
      missing: { mapFrom: 'claims.missing' },
      lists: { defaultValue: [1, 'a'] },
    };
    server.respond = claimsResponse({ degree: 'Master' });
    for (const requestMethod of ['GET', 'POST'] as const) {
      const authorization = { type: 'api-key' as const, value: API_KEY };
      const { id } = await createSource({ requestMethod, requestParameters, authorization });
      const configuration = await createConfiguration(id);
      const offered = { credentials: [configuration.id], claims: { email: 'ada@x.example', given_name: 'Ada' } };
      expect(await collect(offered)).toEqual({ given_name: 'Ada', degree: 'Master' });
      const [call, ...more] = server.calls.splice(0);
      expect([more, call!.method, call!.path, call!.headers['x-api-key']]).toEqual([
        [],
        requestMethod,
        '/claims',
        API_KEY,
      ]);
      expect(call!.headers.accept).toBe('application/json');
      const sent = { email: 'ada@x.example', name: 'Ada', type: configuration.type };
      if (requestMethod === 'GET') expect(call!.query).toEqual({ ...sent, lists: '[1,"a"]' });
      else {
        expect([call!.headers['content-type'], call!.query]).toEqual(['application/json', {}]);
        expect(JSON.parse(call!.text)).toEqual({ ...sent, lists: [1, 'a'] });
      }
    }
  });

  it('has the claims of the later source: user, offer, claims source, claim set [T416]', async () => {
    const names = ['user', 'offer', 'source', 'set'];
    const { id } = await createSource({
      requestMethod: 'POST',
      requestParameters: Object.fromEntries(names.map((name) => [name, { mapFrom: `claims.${name}` }])),
    });
    const configuration = await createConfiguration(id, {
      ...Object.fromEntries(names.map((name) => [name, { mapFrom: `claims.${name}` }])),
      url: { mapFrom: 'authenticationProvider.url' },
      subject: { mapFrom: 'authenticationProvider.subjectId', defaultValue: 'none' },
    });
    const from = (value: string, count: number) => Object.fromEntries(names.slice(count).map((name) => [name, value]));
    const user = expectStatus(await tenant.api.users.create({ claims: from('user', 0) }), 201);
    server.respond = claimsResponse({
      ...from('source', 2),
      authenticationProvider: { url: 'https://evil.example', subjectId: 'evil' },
    });
    const offer = {
      userId: user.id,
      claims: from('offer', 1),
      credentials: [
        { credentialConfigurationId: configuration.id, claimSets: [{ identifier: 'one', claims: from('set', 3) }] },
      ],
    };
    const { uri } = expectStatus(await tenant.api.offers.create(offer), 200);
    const wallet = new Wallet();
    const resolved = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(resolved.credential_issuer);
    const token = await wallet.accessToken(resolved, metadata);
    const credential = await wallet.credentialByIdentifier(
      metadata,
      token,
      configuration.id,
      'one',
      await makeHolderKey(),
    );
    expect(await subjectOf(credential as string)).toEqual({
      ...{ user: 'user', offer: 'offer', source: 'source', set: 'set' },
      subject: 'none',
    });
    expect(JSON.parse(server.calls[0]!.text)).toEqual({ user: 'user', offer: 'offer', source: 'offer', set: 'offer' });
  });

  it('is denied where its format cannot express what the source returns [T568]', async () => {
    const { id: claimSourceId } = await createSource();
    const body = { type: 'Linked', name: 'Linked', issuer: { name: 'City' }, issuerDid: did, claimSourceId };
    const claimMappings = { ...mapping('given_name'), ...mapping('grades') };
    const linked = expectStatus(await tenant.api.webSemantic.create({ ...body, claimMappings }), 201);
    const offered = { credentials: [linked.id], claims: { given_name: 'Ada' } };
    const grades = ['math', 'physics'];
    server.respond = claimsResponse({ grades: [grades, ['art']] });
    expect(await request(offered)).toMatchObject({
      ...DENIED,
      description: expect.stringMatching(/^grades must not have arrays in arrays/) as string,
    });
    server.respond = claimsResponse({ grades });
    const { credentials } = await request(offered);
    expect(credentials).toMatchObject([{ credential: { credentialSubject: { given_name: 'Ada', grades } } }]);
  });

  it('is requested once for a batch, and not at all without a source [T413]', async () => {
    server.respond = claimsResponse({ degree: 'Master' });
    const { id } = await createSource();
    const sourced = await createConfiguration(id);
    const { credentials } = await request({ credentials: [sourced.id] }, { count: 3 });
    expect(await Promise.all(credentials.map(({ credential }) => subjectOf(credential)))).toEqual(
      Array(3).fill({ degree: 'Master' }),
    );
    expect(server.calls).toHaveLength(1);
    const plain = await createConfiguration(undefined);
    expect(await collect({ credentials: [plain.id], claims: { degree: 'Bachelor' } })).toEqual({ degree: 'Bachelor' });
    expect(server.calls).toHaveLength(1);
  });

  it('is authorized by an access token, which is fetched once until it expires [T415]', async () => {
    const oauth = (more: object) => ({
      type: 'oauth-client-credentials' as const,
      ...{ tokenEndpoint: server.tokenEndpoint, clientId: 'the client:1', clientSecret: CLIENT_SECRET },
      ...more,
    });
    server.respond = claimsResponse({ degree: 'Master' });
    const { id, authorization } = await createSource({ authorization: oauth({ scope: 'read', audience: 'register' }) });
    expect(authorization).toMatchObject({
      ...{ clientSecret: `**********${CLIENT_SECRET.slice(-5)}`, tokenEndpointAuthMethod: 'client_secret_basic' },
    });
    const configuration = await createConfiguration(id);
    await Promise.all([1, 2, 3].map(() => collect({ credentials: [configuration.id] })));
    await collect({ credentials: [configuration.id] });
    expect(server.calls.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(`Bearer ${TOKEN}`));
    const [token, ...more] = server.tokenCalls;
    expect(more).toEqual([]);
    expect(Object.fromEntries(new URLSearchParams(token!.text))).toEqual({
      ...{ grant_type: 'client_credentials', scope: 'read', audience: 'register' },
    });
    expect(token!.headers.authorization).toBe(
      `Basic ${Buffer.from(`the+client%3A1:${CLIENT_SECRET}`).toString('base64')}`,
    );
    // A source that refuses the token ends its use.
    server.respond = claimsResponse({}, { status: 401 });
    await collect({ credentials: [configuration.id] });
    server.respond = claimsResponse({ degree: 'Doctor' });
    expect(await collect({ credentials: [configuration.id] })).toEqual({ degree: 'Doctor' });
    expect(server.tokenCalls).toHaveLength(2);

    const post = await createSource({ authorization: oauth({ tokenEndpointAuthMethod: 'client_secret_post' }) });
    server.tokenCalls.length = 0;
    server.respondWithToken = claimsResponse({ access_token: TOKEN, token_type: 'Bearer' });
    const posted = await createConfiguration(post.id);
    for (const _ of [1, 2]) await collect({ credentials: [posted.id] });
    expect(server.tokenCalls.map(({ headers, text }) => [headers.authorization, text])).toEqual(
      Array(2).fill([
        undefined,
        `grant_type=client_credentials&client_id=the+client%3A1&client_secret=${CLIENT_SECRET}`,
      ]),
    );
  });
});

describe('a claims source that fails', () => {
  const failing: [reason: string, respond: ClaimsServer['respond']][] = [
    ['the status is 500', claimsResponse({ degree: 'Master' }, { status: 500 })],
    [
      'the content type is not application/json',
      claimsResponse('degree', { headers: { 'content-type': 'text/plain' } }),
    ],
    ['the answer is not a JSON object', claimsResponse([{ degree: 'Master' }])],
    [
      'the answer is not JSON in UTF-8 of at most 64 levels and 100,000 values',
      claimsResponse(`{"degree": "${PRIVATE_CLAIM}`),
    ],
    ['the answer has more than 512000 bytes', claimsResponse({ degree: 'x'.repeat(512_000) })],
    [
      'the answer must have at most 1000 entries',
      claimsResponse(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`c${n}`, n]))),
    ],
    ['there was no answer within 3 seconds', () => undefined],
    [
      'there was no answer within 3 seconds',
      (_call, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
      },
    ],
    ['the connection failed: UND_ERR_SOCKET', (_call, response) => response.destroy()],
  ];

  it.each(failing)(
    'returns no claims: %s [T414]',
    async (reason, respond) => {
      server.respond = respond;
      const { id } = await createSource();
      const optional = await createConfiguration(id);
      expect(await collect({ credentials: [optional.id], claims: { given_name: 'Ada' } })).toEqual({
        given_name: 'Ada',
      });
      const required = await createConfiguration(id, mapping('degree', { required: true }));
      expect(await request({ credentials: [required.id] })).toMatchObject({
        ...DENIED,
        description: 'the required claim degree has no value',
      });
      const { data } = expectStatus(await tenant.api.analytics.list({ limit: 20 }), 200);
      const trail = data.filter(({ type }) => /^OPENID_CREDENTIAL_(SUCCESS|FAIL)$/.test(type)).slice(0, 2);
      expect(trail.map(({ type, metadata }) => [type, metadata])).toEqual([
        ['OPENID_CREDENTIAL_FAIL', expect.objectContaining({ claimSourceId: id, claimSourceFailure: reason })],
        ['OPENID_CREDENTIAL_SUCCESS', expect.objectContaining({ claimSourceId: id, claimSourceFailure: reason })],
      ]);
      const logged = platform
        .log()
        .split('\n')
        .filter((line) => line.includes('claims source failed') && line.includes(id));
      expect(logged.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([reason, reason]);
      expect(logged.join()).not.toContain(PRIVATE_CLAIM);
    },
    30_000,
  );

  it('is not followed to another address [T414]', async () => {
    const target = await ClaimsServer.start();
    try {
      target.respond = claimsResponse({ degree: 'Master' });
      server.respond = claimsResponse({}, { status: 307, headers: { location: target.url } });
      const { id } = await createSource({ authorization: { type: 'api-key', value: API_KEY } });
      expect(await collect({ credentials: [(await createConfiguration(id)).id] })).toEqual({});
      expect([server.calls.length, target.calls]).toEqual([1, []]);
    } finally {
      await target.stop();
    }
  });

  it('and its token endpoint likewise [T415]', async () => {
    server.respond = claimsResponse({ degree: 'Master' });
    const authorization = {
      type: 'oauth-client-credentials' as const,
      ...{ tokenEndpoint: server.tokenEndpoint, clientId: 'c', clientSecret: CLIENT_SECRET },
    };
    const { id } = await createSource({ authorization });
    const configuration = await createConfiguration(id);
    for (const respond of [
      claimsResponse({ error: 'invalid_client' }, { status: 401 }),
      claimsResponse({}, { status: 307, headers: { location: server.url } }),
      claimsResponse({ access_token: 'a\r\nx-evil: 1', token_type: 'Bearer' }),
      claimsResponse({ access_token: 'a' }),
      claimsResponse('x'.repeat(70_000)),
    ]) {
      server.respondWithToken = respond;
      expect(await collect({ credentials: [configuration.id] })).toEqual({});
    }
    expect([server.tokenCalls.length, server.calls]).toEqual([5, []]);
  });

  it('denies the credential in strict mode [T414]', async () => {
    const { update } = tenant.api.openIdConfiguration;
    expect(expectStatus(await update({ strictClaimsSources: true }), 200).strictClaimsSources).toBe(true);
    try {
      const { id } = await createSource();
      const configuration = await createConfiguration(id);
      server.respond = claimsResponse({}, { status: 404 });
      expect(await request({ credentials: [configuration.id], claims: { given_name: 'Ada' } })).toMatchObject({
        ...DENIED,
        description: 'a claims source did not return the claims of the credential',
      });
      server.respond = claimsResponse({});
      expect(await collect({ credentials: [configuration.id], claims: { given_name: 'Ada' } })).toEqual({
        given_name: 'Ada',
      });
    } finally {
      expectStatus(await update({ strictClaimsSources: null }), 200);
    }
  });

  it('has no claims yet with 202 [T417]', async () => {
    server.respond = claimsResponse({ degree: 'Master' }, { status: 202 });
    const { id } = await createSource();
    const { status, token, transactionId } = await request({ credentials: [(await createConfiguration(id)).id] });
    expect([status, transactionId]).toEqual([202, expect.any(String)]);
    const poll = () =>
      new ApiClient(tenant.url, token).request<{ credentials?: { credential: string }[] }>(
        'POST',
        '/v1/openid/deferred-credential',
        { body: { transaction_id: transactionId } },
      );
    expect((await poll()).status).toBe(202);
    server.respond = claimsResponse({ degree: 'Master' });
    const { credentials } = expectStatus(await poll(), 200);
    expect(await subjectOf(credentials![0]!.credential)).toEqual({ degree: 'Master' });
    expect((await poll()).body).toMatchObject({ error: 'invalid_transaction_id' });
  });

  it('is named by the events of the polls when it fails afterwards [T414] [T417]', async () => {
    server.respond = claimsResponse({}, { status: 202 });
    const { id } = await createSource();
    const configuration = await createConfiguration(id, mapping('degree', { required: true }));
    const { status, token, transactionId } = await request({ credentials: [configuration.id] });
    expect(status).toBe(202);
    const poll = () =>
      new ApiClient(tenant.url, token).request('POST', '/v1/openid/deferred-credential', {
        body: { transaction_id: transactionId },
      });
    expect((await poll()).status).toBe(202);
    server.respond = claimsResponse({}, { status: 500 });
    expect(await poll()).toMatchObject({ status: 400, body: { error: 'credential_request_denied' } });
    await settledRecords(tenant.api);
    const { data } = expectStatus(await tenant.api.analytics.list({ limit: 100 }), 200);
    const trail = data.filter(
      ({ metadata }) => (metadata as Record<string, unknown>)['credentialConfigurationId'] === configuration.id,
    );
    const ofSource = { claimSourceId: id, claimSourceFailure: 'the status is 500' };
    expect(trail.map(({ type, metadata }) => [type, metadata])).toEqual([
      ['OPENID_DEFERRED_FAIL', expect.objectContaining(ofSource)],
      ['OPENID_DEFERRED_SUCCESS', expect.not.objectContaining(ofSource)],
      ['OPENID_CREDENTIAL_SUCCESS', expect.not.objectContaining(ofSource)],
    ]);
  });
});

describe('a wallet with many credential requests at once', () => {
  const FLOOD = 'flood@x.example';
  const held: ServerResponse[] = [];
  let offered: (email: string) => Offer;
  beforeEach(async () => {
    held.length = 0;
    const { id } = await createSource({ requestParameters: { email: { mapFrom: 'claims.email' } } });
    const configuration = await createConfiguration(id);
    offered = (email) => ({ credentials: [configuration.id], claims: { email } });
    server.respond = (call, response) => {
      if (call.query['email'] === FLOOD) held.push(response);
      // After a second: a wallet that also had to wait for a connection of the others would exceed the three.
      else setTimeout(() => claimsResponse({ degree: 'Master' })(call, response), 1000);
    };
  });
  /** Requests in progress, of each of these sessions, when the source has received the first two. */
  const flood = async (count: number, ...sessions: Awaited<ReturnType<typeof redeem>>[]) => {
    const answers = sessions.flatMap(({ send }) => Array.from({ length: count }, send));
    await waitUntil(() => held.length >= 2, { what: 'calls of the claims source' });
    return answers;
  };
  const answerAll = (degree: string) => {
    server.respond = claimsResponse({ degree });
    for (const response of held) server.respond(server.calls[0]!, response);
  };

  it('has two of them in progress at a claims source, which returns the claims of other wallets meanwhile [T510]', async () => {
    const answers = await flood(40, await redeem(offered(FLOOD)));
    expect(await collect(offered('ada@x.example'))).toEqual({ degree: 'Master' });
    expect(held).toHaveLength(2);
    answerAll('Doctor');
    await Promise.all(answers);
  });

  it('has the claims of the source in each, if the source answers the first ones soon [T510]', async () => {
    const answers = await flood(10, await redeem(offered(FLOOD)));
    answerAll('Doctor');
    for (const answer of await Promise.all(answers))
      expect(await subjectOf(expectStatus(answer, 200).credentials![0]!.credential)).toEqual({ degree: 'Doctor' });
  });

  it('is refused, in all sessions of its user, if the source does not answer the first two [T510]', async () => {
    const { id: userId } = expectStatus(await tenant.api.users.create({ claims: {} }), 201);
    const offer = { ...offered(FLOOD), userId };
    const answers = await Promise.all(await flood(2, await redeem(offer), await redeem(offer)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.map(({ headers, body }) => [headers.get('retry-after'), body])).toEqual(
      Array(2).fill(['1', expect.objectContaining({ error: 'temporarily_unavailable' })]),
    );
    for (const answer of answers.filter((one) => !refused.includes(one)))
      expect(await subjectOf(expectStatus(answer, 200).credentials![0]!.credential)).toEqual({});
    expect(server.calls).toHaveLength(2);
  });
});

describe('what is stored of a claims source', () => {
  it('has neither its secrets nor its claims in plain text [T412]', async () => {
    server.respond = claimsResponse({ degree: PRIVATE_CLAIM });
    const { id } = await createSource({ authorization: { type: 'api-key', value: API_KEY } });
    expect(await collect({ credentials: [(await createConfiguration(id)).id] })).toEqual({ degree: PRIVATE_CLAIM });
    const { sightings, files } = await searchFolders(
      [platform.folder],
      [
        { name: 'api key', value: API_KEY },
        { name: 'client secret', value: CLIENT_SECRET },
        { name: 'access token', value: TOKEN },
        { name: 'claim', value: PRIVATE_CLAIM },
      ],
    );
    expect(files).toContain('platform.log');
    expect(sightings).toEqual([]);
  });
});
