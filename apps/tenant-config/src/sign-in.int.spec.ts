/** @engines embedded postgres */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AppError,
  beginSignIn,
  checkAuthenticationProvider,
  completeSignIn,
  createAuthenticationProvider,
  deleteAuthenticationProvider,
  retrieveClientKeys,
  updateAuthenticationProvider,
  type AuthenticationProviderRequest,
  type ClientContext,
  type CompleteSignInRequest,
  type PublicContext,
} from '@attestry/contracts';
import { ServiceClient } from '@attestry/service-kit';
import { OpenIdProvider, RedirectBrowser, TENANT_CLIENT } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';
import type { AuthenticationProviderEvent } from './authentication-provider/authentication-provider.events.js';
import {
  authenticationProvider,
  authenticationProviderStream,
} from './authentication-provider/authentication-provider.state.js';
import { clientKeysStream } from './client-keys/client-keys.state.js';
import { tenantConfigService } from './index.js';

const servers: Server[] = [];
const REDIRECT = 'https://acme.localhost/v1/oauth/authentication/callback';

let provider: OpenIdProvider;
const service = new ServiceUnderTest(tenantConfigService, {
  settings: { ALLOW_PRIVATE_TARGETS: 'true' },
  baseOf: () => 'https://acme.localhost',
});
/** Calls by administrators, and by issuance. */
let gateway: ServiceClient;
let issuance: ServiceClient;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  await service.open();
  gateway = service.client;
  issuance = service.clientOf('issuance');
}, 60_000);
afterAll(async () => {
  await service.remove();
  await provider.stop();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** Ids of all requests. */
const requestIds: string[] = [];
const contextOf = (tenantId: string): ClientContext => {
  const context = service.asClient(tenantId, { requestId: randomUUID() });
  requestIds.push(context.requestId);
  return context;
};
const tenantWith = async (more: Partial<AuthenticationProviderRequest> = {}) => {
  const tenantId = randomUUID();
  const body = {
    url: provider.issuer,
    ...TENANT_CLIENT,
    forwardedRequestParameters: ['login_hint'],
    claimsToPersist: ['email'],
    ...more,
  };
  const { id } = await gateway.call(createAuthenticationProvider, { body }, contextOf(tenantId));
  return { tenantId, id, body };
};
const began = async (tenantId: string, parameters: Record<string, string> = { login_hint: 'zoe' }) => {
  const codeVerifier = randomBytes(32).toString('base64url');
  const flow = { state: randomUUID(), nonce: randomBytes(16).toString('base64url'), redirectUrl: REDIRECT };
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const { url, providerId } = await issuance.call(
    beginSignIn,
    { body: { ...flow, codeChallenge, query: new URLSearchParams(parameters).toString() } },
    contextOf(tenantId),
  );
  return { ...flow, codeVerifier, url, providerId };
};
const backFrom = async (url: string) =>
  (await new RedirectBrowser().follow(url, (at) => at.startsWith(REDIRECT))).search.slice(1);
const complete = (tenantId: string, flow: CompleteSignInRequest) =>
  issuance.call(completeSignIn, { body: flow }, contextOf(tenantId));
const requestOf = (
  { url: _, ...flow }: Awaited<ReturnType<typeof began>>,
  query: string,
  mappedClaims?: string[],
): CompleteSignInRequest => ({
  ...flow,
  begunAt: service.now().getTime(),
  query,
  ...(mappedClaims && { mappedClaims }),
});
const failureOf = async (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'nothing',
    (error: unknown) =>
      error instanceof AppError ? { code: error.code, message: error.message, ...error.recorded } : String(error),
  );
const NOT_MET = { code: 'access_denied', message: 'the sign-in does not meet the requirements of the issuer' };
const codeOf = async (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'nothing',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

describe('signing in at a real OpenID provider', () => {
  it.each(['client_secret_basic', 'client_secret_post'] as const)(
    'returns the claims of the user without protocol claims: %s',
    async (tokenEndpointAuthMethod) => {
      provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë', email: 'zoe@people.example' });
      const { tenantId } = await tenantWith({ tokenEndpointAuthMethod });
      const flow = await began(tenantId);
      expect(await complete(tenantId, requestOf(flow, await backFrom(flow.url)))).toEqual({
        url: provider.issuer,
        subjectId: 'zoe',
        claims: { given_name: 'Zoë', email: 'zoe@people.example' },
        claimsToPersist: ['email'],
      });
    },
  );

  it('refuses another state, nonce, verifier or code, and a second use of a response', async () => {
    const { tenantId } = await tenantWith();
    for (const change of [
      { state: 'other' },
      { nonce: 'other' },
      { codeVerifier: 'a'.repeat(43) },
      { query: (query: string) => query.replace(/code=[^&]+/, 'code=other') },
      { query: (query: string) => query.replace(/&iss=[^&]+/, '&iss=https%3A%2F%2Fother.example') },
      { query: () => '' },
    ]) {
      const flow = await began(tenantId);
      const query = await backFrom(flow.url);
      const { query: changed, ...others } = change as { query?: (query: string) => string };
      const request = { ...requestOf(flow, changed?.(query) ?? query), ...others };
      expect([change, await codeOf(complete(tenantId, request))]).toEqual([change, 'server_error']);
    }
    const flow = await began(tenantId);
    const request = requestOf(flow, await backFrom(flow.url));
    expect((await complete(tenantId, request)).subjectId).toBe('zoe');
    expect(await codeOf(complete(tenantId, request))).toBe('server_error');
  });

  it('reports that the user did not sign in', async () => {
    const { tenantId } = await tenantWith();
    const flow = await began(tenantId, {});
    expect(await codeOf(complete(tenantId, requestOf(flow, await backFrom(flow.url))))).toBe('access_denied');
  });

  it.each([
    ['login_required', 'access_denied'],
    ['consent_required', 'access_denied'],
    ['an_error_of_its_own', 'access_denied'],
    ['temporarily_unavailable', 'temporarily_unavailable'],
    ['server_error', 'server_error'],
    ['invalid_request', 'server_error'],
    ['unauthorized_client', 'server_error'],
    ['unsupported_response_type', 'server_error'],
    ['invalid_scope', 'server_error'],
  ])('reports the error %s of the provider as %s [T475]', async (error, reported) => {
    const { tenantId } = await tenantWith();
    const flow = await began(tenantId, {});
    const query = new URLSearchParams(await backFrom(flow.url));
    expect(query.get('error')).toBe('access_denied');
    query.set('error', error);
    expect(await codeOf(complete(tenantId, requestOf(flow, query.toString())))).toBe(reported);
  });

  it('follows a change of the provider at once, and its deletion', async () => {
    const { tenantId, id, body } = await tenantWith({ staticRequestParameters: { ui_locales: 'fr' } });
    expect((await began(tenantId)).url).toContain('ui_locales=fr');
    const changed = { ...body, staticRequestParameters: { ui_locales: 'de' } };
    await gateway.call(updateAuthenticationProvider, { params: { id }, body: changed }, contextOf(tenantId));
    const flow = await began(tenantId);
    expect(flow.url).toContain('ui_locales=de');
    const request = requestOf(flow, await backFrom(flow.url));
    await gateway.call(deleteAuthenticationProvider, { params: { id } }, contextOf(tenantId));
    expect(await codeOf(complete(tenantId, request))).toBe('NotFound');
    expect(await codeOf(began(tenantId))).toBe('NotFound');
  });

  it.each<[string, Record<string, unknown>]>([
    ['acr_values', { acr_values: '2' }],
    ['claims', { claims: { id_token: { acr: { essential: true, values: ['2'] } } } }],
    ['max_age', { max_age: 0 }],
  ])('does not sign the user in when %s was removed in the browser [T749, T750]', async (removed, parameters) => {
    const { tenantId } = await tenantWith({ staticRequestParameters: parameters });
    const signIn = async (change: (url: URL) => void, browser = new RedirectBrowser()) => {
      const flow = await began(tenantId);
      const url = new URL(flow.url);
      change(url);
      const back = await browser.follow(url.href, (at) => at.startsWith(REDIRECT));
      return complete(tenantId, requestOf(flow, back.search.slice(1)));
    };
    expect(await signIn(() => undefined)).toMatchObject({ subjectId: 'zoe' });
    const requirement = `staticRequestParameters.${removed === 'claims' ? 'claims.id_token.acr' : removed}`;
    expect(await failureOf(signIn((url) => url.searchParams.delete(removed)))).toEqual({ ...NOT_MET, requirement });
    // Nor when they ask for less.
    const less = { acr_values: '1', claims: '{"id_token":{"acr":{"values":["1"]}}}', max_age: '9999' }[removed]!;
    if (removed !== 'max_age')
      expect(await failureOf(signIn((url) => url.searchParams.set(removed, less)))).toEqual({
        ...NOT_MET,
        requirement,
      });
  });

  it('requires nothing that only the wallet asked for [T749]', async () => {
    const { tenantId } = await tenantWith({ forwardedRequestParameters: ['login_hint', 'acr_values', 'max_age'] });
    const flow = await began(tenantId, { login_hint: 'zoe', acr_values: '7', max_age: '60' });
    expect(flow.url).toContain('acr_values=7');
    expect(await complete(tenantId, requestOf(flow, await backFrom(flow.url)))).toMatchObject({ subjectId: 'zoe' });
  });

  it('is checked with the credentials of the client [T758]', async () => {
    const right = await tenantWith();
    const succeeded = { discovery: { result: 'succeeded' }, keys: { result: 'succeeded' } };
    const check = ({ tenantId, id }: { tenantId: string; id: string }) =>
      gateway.call(checkAuthenticationProvider, { params: { id } }, contextOf(tenantId));
    expect(await check(right)).toEqual({
      ...succeeded,
      credentials: {
        result: 'notRefused',
        status: 400,
        error: 'invalid_grant',
        errorDescription: 'grant request is invalid',
      },
    });
    const wrong = await tenantWith({ clientSecret: 'another secret' });
    const { credentials, ...documents } = await check(wrong);
    expect(documents).toEqual(succeeded);
    expect(credentials).toMatchObject({ result: 'refused', status: 401, error: 'invalid_client' });
    expect((await check(await tenantWith({ clientId: 'unknown' }))).credentials.result).toBe('refused');
    expect(await codeOf(check({ tenantId: right.tenantId, id: wrong.id }))).toBe('NotFound');
  });

  it('can be used only for its own tenant, and called only by issuance', async () => {
    const [one, other] = [await tenantWith(), await tenantWith()];
    const flow = await began(one.tenantId);
    const request = requestOf(flow, await backFrom(flow.url));
    expect(await codeOf(complete(other.tenantId, request))).toBe('NotFound');
    expect(await codeOf(gateway.call(completeSignIn, { body: request }, contextOf(one.tenantId)))).not.toBe('nothing');
  });
});

describe('a provider at which the client authenticates by a key', () => {
  const tenantId = randomUUID();
  const keySet = () =>
    gateway.call(retrieveClientKeys, {}, { ...contextOf(tenantId), caller: { kind: 'public' } } as PublicContext);
  /** Forms that its token endpoint and that of pushed requests received; both refuse. */
  const forms: URLSearchParams[] = [];
  let issuer: string;
  beforeAll(async () => {
    const server = createServer((request, response) => {
      const document = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        pushed_authorization_request_endpoint: `${issuer}/par`,
        jwks_uri: `${issuer}/keys`,
        scopes_supported: ['openid'],
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        token_endpoint_auth_signing_alg_values_supported: ['PS256', 'ES256'],
      };
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const isForm = request.method === 'POST';
        if (isForm) forms.push(new URLSearchParams(Buffer.concat(chunks).toString()));
        response.writeHead(isForm ? 400 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isForm ? { error: 'invalid_grant' } : document));
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const body = { url: issuer, clientId: 'attestry', tokenEndpointAuthMethod: 'private_key_jwt' as const };
    await gateway.call(createAuthenticationProvider, { body }, contextOf(tenantId));
  });
  const assertions = async () => {
    forms.length = 0;
    const flow = await began(tenantId);
    expect(await codeOf(complete(tenantId, requestOf(flow, `code=c&state=${flow.state}`)))).toBe('server_error');
    return forms.map((form) => form.get('client_assertion')!);
  };

  it('gets an assertion by a published key, for its issuer alone, at both endpoints [T759]', async () => {
    const { keys } = await keySet();
    expect(keys).toEqual([
      {
        ...{ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256' },
        ...{ kid: expect.any(String), x: expect.any(String), y: expect.any(String) },
      },
    ]);
    const made = await assertions();
    expect(made).toHaveLength(2);
    const ids = new Set<unknown>();
    for (const assertion of made) {
      const { payload, protectedHeader } = await jwtVerify(assertion, createLocalJWKSet({ keys } as never));
      expect(protectedHeader).toEqual({ alg: 'ES256', kid: keys[0]!['kid'] });
      const { iat, exp, jti, ...others } = payload;
      expect(others).toEqual({ iss: 'attestry', sub: 'attestry', aud: issuer });
      expect(exp! - iat!).toBe(60);
      ids.add(jti);
    }
    expect(ids.size).toBe(2);
    for (const form of forms) {
      expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      expect([form.get('client_id'), form.has('client_secret')]).toEqual(['attestry', false]);
    }
    expect(await keySet()).toEqual({ keys });
    // The client of a provider is that of many requests: its key names none.
    const [chosen] = await service.engines.events.readStream(clientKeysStream(tenantId));
    expect(requestIds).not.toContain(chosen!.metadata.requestId);
  });
});

describe.each([{ pushed: true }, { isPushRequired: true }])('a real OpenID provider with %j', (how) => {
  let strict: OpenIdProvider;
  beforeAll(async () => {
    strict = await OpenIdProvider.start('https://management.example', undefined, how);
    strict.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
  });
  afterAll(() => strict.stop());

  it('gets the parameters by a pushed request, and the browser none [T760]', async () => {
    const { tenantId } = await tenantWith({ url: strict.issuer, staticRequestParameters: { acr_values: '2' } });
    const flow = await began(tenantId);
    expect([...new URL(flow.url).searchParams.keys()]).toEqual(['client_id', 'request_uri']);
    // Parameters that are added in the browser change nothing.
    const back = await backFrom(`${flow.url}&acr_values=1`);
    expect(await complete(tenantId, requestOf(flow, back))).toMatchObject({ subjectId: 'zoe' });
  });

  it('refuses a client with other credentials, or gets them by the browser [T760]', async () => {
    const { tenantId } = await tenantWith({ url: strict.issuer, clientSecret: 'another secret' });
    if (how.isPushRequired)
      expect(await failureOf(began(tenantId))).toEqual({
        code: 'server_error',
        message: "the authentication provider refused the client's credentials",
        providerError: { code: 'invalid_client', status: 401 },
      });
    else expect(new URL((await began(tenantId)).url).searchParams.get('redirect_uri')).toBe(REDIRECT);
  });
});

describe.each(['json', 'jwt'] as const)('a real OpenID provider that returns claims by UserInfo only: %s', (how) => {
  let reserved: OpenIdProvider;
  let tenantId: string;
  beforeAll(async () => {
    reserved = await OpenIdProvider.start('https://management.example', how);
    reserved.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë', email: 'zoe@people.example' });
    ({ tenantId } = await tenantWith({ url: reserved.issuer }));
  });
  afterAll(() => reserved.stop());
  const signIn = async (mappedClaims?: string[]) => {
    const flow = await began(tenantId);
    return complete(tenantId, requestOf(flow, await backFrom(flow.url), mappedClaims));
  };

  it('is requested once, for a mapped claim that the ID token lacks [T637]', async () => {
    const signedIn = await signIn(['given_name', 'email']);
    expect(signedIn).toMatchObject({
      subjectId: 'zoe',
      claims: { given_name: 'Zoë', email: 'zoe@people.example' },
      claimsToPersist: ['email'],
      userInfo: { requested: true },
    });
    for (const name of ['sub', 'iss', 'aud']) expect(signedIn.claims).not.toHaveProperty(name);
    expect(reserved.userInfo.requests).toBe(1);
  });

  it('is not requested when no mapped claim is missing, or for a caller that names none [T637]', async () => {
    const before = reserved.userInfo.requests;
    expect(await signIn([])).toMatchObject({ claims: {}, userInfo: { requested: false } });
    expect(await signIn(['sub', 'nonce'])).toMatchObject({ userInfo: { requested: false } });
    expect(await signIn()).not.toHaveProperty('userInfo');
    expect(reserved.userInfo.requests).toBe(before);
  });
});

// --- providers that are not trustworthy

interface Hostile {
  claims?: JWTPayload;
  /** Signs with a key that is not published. */
  forged?: boolean;
  alg?: 'none';
  /** Signs instead of the key `k`. */
  signer?: { jwk: JWK; privateKey: CryptoKey };
  token?: unknown;
  status?: number;
  slow?: boolean;
  /** Status of the endpoint of pushed requests. */
  pushStatus?: number;
  /** Members of the token response. */
  more?: object;
  /** Body of the response with `status`. */
  refusal?: string;
  /** Status of the discovery document. */
  documentStatus?: number;
  userInfo?: {
    body?: unknown;
    /** Instead of `body`, as it is. */
    text?: string;
    /** Claims of a signed response. */
    jwt?: JWTPayload;
    type?: string;
    status?: number;
    headers?: Record<string, string>;
    slow?: boolean;
  };
}
let hostile: Hostile = {};

describe('signing in at a provider that misbehaves', () => {
  let url: string;
  let tenantId: string;
  let requested = 0;
  let discovered = 0;
  let published: JWK[];
  let rotateTo: (kid: string) => Promise<NonNullable<Hostile['signer']>>;
  let keysRequested = 0;
  let pushed = 0;
  /** Form that the endpoint of pushed requests received last. */
  let pushedForm = new URLSearchParams();
  let keysStatus = 200;
  /** Authorization headers that the UserInfo endpoint received. */
  const userInfoTokens: (string | undefined)[] = [];
  /** Members of the discovery document that replace the right ones. */
  let announced: Record<string, string> = {};

  beforeAll(async () => {
    const [key, foreign] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
    const jwkOf = async (kid: string, publicKey: CryptoKey) => ({
      ...{ ...(await exportJWK(publicKey)), kid },
      ...{ alg: 'ES256', use: 'sig' },
    });
    published = [await jwkOf('k', key.publicKey)];
    rotateTo = async (kid) => {
      const { privateKey, publicKey } = await generateKeyPair('ES256');
      return { jwk: await jwkOf(kid, publicKey), privateKey };
    };
    const idToken = async (nonce: string) => {
      const claims = {
        iss: url,
        sub: 'zoe',
        aud: 'attestry',
        nonce,
        exp: Date.now() / 1000 + 60,
        iat: Date.now() / 1000,
      };
      const payload = { ...claims, ...hostile.claims };
      if (hostile.alg === 'none')
        return (
          [{ alg: 'none' }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') +
          '.'
        );
      return signed(payload);
    };
    const signed = (payload: JWTPayload) =>
      new SignJWT(payload)
        .setProtectedHeader({ alg: 'ES256', kid: hostile.signer?.jwk.kid ?? 'k' })
        .sign(hostile.signer?.privateKey ?? (hostile.forged ? foreign.privateKey : key.privateKey));
    const userInfo = async (request: IncomingMessage, response: ServerResponse) => {
      userInfoTokens.push(request.headers.authorization);
      const { body, text, jwt, type, status, headers, slow } = hostile.userInfo ?? {};
      if (slow) return;
      const forge = hostile.userInfo?.headers?.['x-forged'] ? foreign.privateKey : key.privateKey;
      const token = jwt && (await new SignJWT(jwt).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(forge));
      response
        .writeHead(status ?? 200, {
          'content-type': type ?? (jwt ? 'application/jwt' : 'application/json'),
          ...headers,
        })
        .end(token ?? text ?? JSON.stringify(body));
    };
    const server = createServer((request, response) => {
      const json = (body: unknown, status = 200) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.url === '/.well-known/openid-configuration') {
        discovered += 1;
        if (hostile.documentStatus !== undefined) return json({}, hostile.documentStatus);
        return json({
          issuer: url,
          authorization_endpoint: `${url}/authorize?tenant=1`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/keys`,
          userinfo_endpoint: `${url}/me?all=1`,
          scopes_supported: ['openid'],
          id_token_signing_alg_values_supported: ['ES256'],
          ...announced,
        });
      }
      if (request.url === '/keys') {
        keysRequested += 1;
        return keysStatus === 200 ? json({ keys: published }) : json({}, keysStatus);
      }
      if (request.url?.startsWith('/me')) return void userInfo(request, response);
      if (request.url === '/par') {
        pushed += 1;
        const answer = { request_uri: 'urn:ietf:params:oauth:request_uri:x', expires_in: 60 };
        return void text(request).then((form) => {
          pushedForm = new URLSearchParams(form);
          json(hostile.pushStatus ? { error: 'invalid_request' } : answer, hostile.pushStatus ?? 201);
        });
      }
      requested += 1;
      if (hostile.slow) return undefined;
      if (hostile.status !== undefined)
        return response
          .writeHead(hostile.status, {
            'content-type': 'application/json',
            ...(hostile.status === 401 && { 'www-authenticate': 'Basic realm="x"' }),
          })
          .end(hostile.refusal ?? '{"error":"invalid_grant"}');
      if (hostile.token !== undefined) return json(hostile.token);
      return void idToken(nonce).then((token) =>
        json({ access_token: 'a', token_type: 'Bearer', id_token: token, ...hostile.more }),
      );
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    ({ tenantId } = await tenantWith({ url }));
  });
  let nonce = '';
  const signIn = async (how: Hostile, mappedClaims?: string[], tenant = tenantId) => {
    hostile = how;
    const flow = await began(tenant);
    ({ nonce } = flow);
    return complete(tenant, requestOf(flow, `code=c&state=${flow.state}`, mappedClaims));
  };
  const ZOE = { sub: 'zoe', email: 'zoe@people.example' };

  it('succeeds while the provider is correct, and keeps the query of its endpoint', async () => {
    expect(await signIn({})).toMatchObject({ subjectId: 'zoe', claims: {} });
    const { url: there } = await began(tenantId);
    expect(new URL(there).searchParams.get('tenant')).toBe('1');
  });

  it.each<[string, Hostile, string]>([
    ['an ID token signed with another key', { forged: true }, 'server_error'],
    ['an ID token without a signature', { alg: 'none' }, 'server_error'],
    ['an ID token of another issuer', { claims: { iss: 'https://other.example' } }, 'server_error'],
    ['an ID token for another audience', { claims: { aud: 'other' } }, 'server_error'],
    ['an ID token with another nonce', { claims: { nonce: 'other' } }, 'server_error'],
    ['an expired ID token', { claims: { exp: 1 } }, 'server_error'],
    ['an ID token without a subject', { claims: { sub: undefined } as never }, 'server_error'],
    ['a subject that is too long', { claims: { sub: 'x'.repeat(256) } }, 'server_error'],
    ['a response without an ID token', { token: { access_token: 'a', token_type: 'Bearer' } }, 'server_error'],
    ['a response that is not an object', { token: 'x' }, 'server_error'],
    ['status 400', { status: 400 }, 'server_error'],
    ['status 500', { status: 500 }, 'temporarily_unavailable'],
  ])('does not sign the user in with %s', async (_what, how, code) => {
    const before = requested;
    expect(await codeOf(signIn(how))).toBe(code);
    expect(requested).toBe(before + 1);
  });

  it('accepts an ID token and UserInfo by a new key at once, and requests keys at most every 5 s [T756]', async () => {
    const { tenantId: tenant } = await tenantWith({ url });
    const userInfo = { body: ZOE };
    const before = keysRequested;
    expect(await signIn({}, undefined, tenant)).toMatchObject({ subjectId: 'zoe' });
    const second = await rotateTo('k2');
    published.push(second.jwk);
    service.ahead += 5000;
    for (let n = 0; n < 2; n++)
      expect(await signIn({ signer: second, userInfo }, ['email'], tenant)).toMatchObject({ subjectId: 'zoe' });
    expect(keysRequested).toBe(before + 2);
    // Unknown ones are looked for once in 5 s, and the known ones stay in use.
    const unknown = await rotateTo('k3');
    for (let n = 0; n < 3; n++)
      expect(await codeOf(signIn({ signer: unknown }, undefined, tenant))).toBe('server_error');
    expect(keysRequested).toBe(before + 2);
    service.ahead += 5000;
    keysStatus = 503;
    expect(await codeOf(signIn({ signer: unknown }, undefined, tenant))).toBe('temporarily_unavailable');
    expect(await signIn({}, undefined, tenant)).toMatchObject({ subjectId: 'zoe' });
    expect(await codeOf(signIn({ signer: unknown }, undefined, tenant))).toBe('server_error');
    expect(keysRequested).toBe(before + 3);
    keysStatus = 200;
    service.ahead += 5000;
    published = [...published, unknown.jwk];
    const jwt = await signIn({ signer: unknown }, undefined, tenant);
    expect(jwt).toMatchObject({ subjectId: 'zoe' });
    service.ahead = 0;
  });

  it('is cached with others by the size of its documents [T838]', async () => {
    const before = published;
    published = [{ ...before[0]!, more: 'x'.repeat(1_000_000) } as JWK];
    const tenants: string[] = [];
    for (let n = 0; n < 17; n++) {
      const { tenantId: tenant } = await tenantWith({ url });
      expect(await signIn({}, undefined, tenant)).toMatchObject({ subjectId: 'zoe' });
      tenants.push(tenant);
    }
    published = before;
    const requestsOf = async (tenant: string) => {
      const until = discovered;
      await began(tenant);
      return discovered - until;
    };
    expect([await requestsOf(tenants.at(-1)!), await requestsOf(tenants[0]!)]).toEqual([0, 1]);
  }, 60_000);

  describe('with an endpoint of pushed requests', () => {
    const endpoint = () => ({ pushed_authorization_request_endpoint: `${url}/par` });
    const elsewhere = () => ({ pushed_authorization_request_endpoint: url.replace('127.0.0.1', 'localhost') + '/par' });
    afterEach(() => {
      announced = {};
    });
    const sentBy = async (members: object, how: Hostile = {}) => {
      announced = members as never;
      const { tenantId: tenant } = await tenantWith({ url });
      hostile = how;
      const before = pushed;
      const attempt = await began(tenant).then(
        (flow) => [...new URL(flow.url).searchParams.keys()].filter((name) => name !== 'client_id'),
        (error: unknown) => (error instanceof AppError ? error.code : String(error)),
      );
      return [attempt, pushed - before] as const;
    };

    it('pushes to the origin of the token endpoint only [T760]', async () => {
      expect(await sentBy(endpoint())).toEqual([['tenant', 'request_uri'], 1]);
      expect(await sentBy(elsewhere())).toEqual([expect.arrayContaining(['redirect_uri', 'state']), 0]);
      const required = { require_pushed_authorization_requests: true };
      expect(await sentBy({ ...endpoint(), ...required })).toEqual([['tenant', 'request_uri'], 1]);
      for (const members of [{ ...elsewhere(), ...required }, required])
        expect(await codeOf(sentBy(members))).toBe('BadRequest');
      // The same is true when the document changes later.
      announced = { ...endpoint(), ...required } as never;
      const { tenantId: tenant } = await tenantWith({ url });
      announced = { ...elsewhere(), ...required } as never;
      expect(await failureOf(began(tenant))).toEqual({
        code: 'server_error',
        message:
          'the authentication provider requires pushed requests at another origin than that of its token endpoint',
      });
    });

    it.each([400, 401, 404, 500, 200, 302])(
      'sends the parameters by the browser after status %i, if pushed requests are not required [T760]',
      async (pushStatus) => {
        expect(await sentBy(endpoint(), { pushStatus })).toEqual([expect.arrayContaining(['redirect_uri']), 1]);
        const required = { ...endpoint(), require_pushed_authorization_requests: true };
        const code = pushStatus === 500 ? 'temporarily_unavailable' : 'server_error';
        expect(await sentBy(required, { pushStatus })).toEqual([code, 1]);
      },
    );

    it('is not used for 30 s after it failed, unless the provider requires it [T836]', async () => {
      const isPushed = async (tenant: string, how: Hostile = { pushStatus: 404 }) => {
        hostile = how;
        const before = pushed;
        await codeOf(began(tenant));
        return pushed > before;
      };
      announced = endpoint() as never;
      const [{ tenantId: one }, { tenantId: other }] = [await tenantWith({ url }), await tenantWith({ url })];
      expect([await isPushed(one), await isPushed(one), await isPushed(other)]).toEqual([true, false, true]);
      service.ahead += 29_000;
      expect(await isPushed(one)).toBe(false);
      service.ahead += 1000;
      expect([await isPushed(one, {}), await isPushed(one)]).toEqual([true, true]);
      announced = { ...endpoint(), require_pushed_authorization_requests: true } as never;
      const { tenantId: strict } = await tenantWith({ url });
      expect([await isPushed(strict), await isPushed(strict)]).toEqual([true, true]);
      service.ahead = 0;
    });

    it('gets no query of the authorization endpoint, which stays in the address [T837]', async () => {
      announced = { ...endpoint(), authorization_endpoint: `${url}/authorize?tenant=1&prompt=login&x` } as never;
      hostile = {};
      const { tenantId: tenant } = await tenantWith({ url, staticRequestParameters: { prompt: 'consent' } });
      const flow = await began(tenant);
      expect(flow.url).toMatch(/^[^?]*\?tenant=1&x&client_id=attestry&request_uri=/);
      const names = [...pushedForm.keys()];
      expect(pushedForm.get('prompt')).toBe('consent');
      expect(names).toEqual([...new Set(names)]);
      expect(names).not.toContain('tenant');
      expect(names).not.toContain('x');
    });
  });

  describe('when it is checked', () => {
    const check = async (how: Hostile = {}, at?: { tenantId: string; id: string }) => {
      const { tenantId: tenant, id } = at ?? (await tenantWith({ url }));
      hostile = how;
      return gateway.call(checkAuthenticationProvider, { params: { id } }, contextOf(tenant));
    };

    it.each<[Hostile, object]>([
      [{ status: 401 }, { result: 'refused', status: 401, error: 'invalid_grant' }],
      [
        { status: 401, refusal: 'x' },
        { result: 'refused', status: 401 },
      ],
      [
        { status: 400, refusal: '{"error":"unauthorized_client","error_description":"Inv\u00e4lid"}' },
        { result: 'refused', status: 400, error: 'unauthorized_client', errorDescription: 'Inv?lid' },
      ],
      [
        { status: 400, refusal: '{"error":"own"}' },
        { result: 'notRefused', status: 400, error: 'own' },
      ],
      ...(
        [
          [400, 'secret text'],
          [400, '{"error_description":"x"}'],
          [404, '<html>'],
          [302, ''],
        ] as const
      ).map(([status, refusal]): [Hostile, object] => [
        { status, refusal },
        { result: 'unknown', status, reason: `the token endpoint answered with status ${status}` },
      ]),
      ...[429, 503].map((status): [Hostile, object] => [
        { status, refusal: '{"error":"invalid_client"}' },
        {
          ...{ result: 'unknown', status, error: 'invalid_client' },
          reason: `the token endpoint answered with status ${status}`,
        },
      ]),
      [{}, { result: 'unknown', reason: 'the token endpoint accepted a code that cannot exist' }],
      [{ token: 'x' }, { result: 'unknown', reason: 'the answer of the token endpoint was not one of OAuth' }],
      [
        { status: 400, refusal: 'x'.repeat(1_048_577) },
        { result: 'unknown', reason: 'the answer has more than 1048576 bytes' },
      ],
    ])('reports answer %# of the token endpoint [T758]', async (how, credentials) =>
      expect(await check(how)).toEqual({
        discovery: { result: 'succeeded' },
        keys: { result: 'succeeded' },
        credentials,
      }),
    );

    it('reports the documents, and sends nothing to another origin [T758]', async () => {
      const at = await tenantWith({ url });
      const before = requested;
      const reason = 'the discovery document is not usable';
      expect(await check({ documentStatus: 503 }, at)).toEqual({
        discovery: {
          result: 'failed',
          reason: `the request for ${url}/.well-known/openid-configuration returned status 503`,
        },
        keys: { result: 'failed', reason },
        credentials: { result: 'unknown', reason },
      });
      announced = { token_endpoint: url.replace('127.0.0.1', 'localhost') + '/token' };
      expect(await check({}, at)).toMatchObject({
        keys: { result: 'succeeded' },
        credentials: {
          result: 'unknown',
          reason:
            'the token endpoint of the authentication provider has another origin than when the provider was saved',
        },
      });
      expect(requested).toBe(before);
      for (const [jwksUri, why] of [
        ['http://127.0.0.1:1/keys', 'the address is not allowed or cannot be reached'],
        [`${url}/keys`, 'the answer had status 404'],
      ] as const) {
        announced = { jwks_uri: jwksUri as string };
        keysStatus = 404;
        const keys = await check({ status: 400 }, at);
        expect(keys).toMatchObject({ keys: { result: 'failed', reason: why }, credentials: { result: 'notRefused' } });
      }
      announced = { jwks_uri: undefined as never };
      expect(await check({ status: 400 }, at)).toMatchObject({
        discovery: { result: 'failed', reason: 'the discovery document has no jwks_uri' },
      });
      announced = {};
      keysStatus = 200;
    });

    it('is so at most ten times a minute [T758]', async () => {
      const at = await tenantWith({ url });
      for (let n = 0; n < 10; n++) expect((await check({ status: 400 }, at)).credentials.result).toBe('notRefused');
      const before = [requested, discovered];
      expect(await codeOf(check({ status: 400 }, at))).toBe('TooManyRequests');
      expect([requested, discovered]).toEqual(before);
    });
  });

  describe('with requirements', () => {
    const signInWith = async (settings: Partial<AuthenticationProviderRequest>, how: Hostile, mapped?: string[]) =>
      signIn(how, mapped, (await tenantWith({ url, ...settings })).tenantId);
    const requirement = (name: string, more = {}) => ({ ...NOT_MET, requirement: name, ...more });

    it('takes acr, amr and auth_time from the ID token only [T751]', async () => {
      const required = { acr: ['2'], amr: ['mfa'], auth_time: [5] };
      const body = { ...ZOE, acr: '2', amr: ['mfa'], auth_time: 5 };
      for (const [name, values] of Object.entries(required)) {
        const settings = { requiredClaims: { [name]: values } };
        expect(await failureOf(signInWith(settings, { userInfo: { body } }, ['email']))).toEqual(
          requirement(`requiredClaims.${name}`),
        );
        const claims = { [name]: body[name as 'acr'] };
        expect(await signInWith(settings, { claims })).toMatchObject({ subjectId: 'zoe' });
      }
      for (const staticRequestParameters of [{ acr_values: '2' }, { max_age: 1 }])
        expect(await codeOf(signInWith({ staticRequestParameters }, { userInfo: { body } }, ['email']))).toBe(
          'access_denied',
        );
    });

    it('takes other claims from the ID token, then from UserInfo, also when nothing is mapped [T751]', async () => {
      const settings = { requiredClaims: { email_verified: [true], groups: ['staff', 'board'] } };
      const claims = { email_verified: true };
      const groups = { ...ZOE, groups: ['x', 'staff'] };
      const before = userInfoTokens.length;
      expect(await signInWith(settings, { claims: { ...claims, ...groups } })).toMatchObject({ subjectId: 'zoe' });
      expect(userInfoTokens).toHaveLength(before);
      expect(await signInWith(settings, { claims, userInfo: { body: groups } })).toMatchObject({
        claims: { groups: ['x', 'staff'], email_verified: true },
      });
      // One that the ID token has is not replaced, and not asked for.
      const failing = { claims: { email_verified: false }, userInfo: { body: { ...groups, email_verified: true } } };
      expect(await failureOf(signInWith(settings, failing))).toEqual(requirement('requiredClaims.email_verified'));
      for (const body of [ZOE, { ...ZOE, groups: null }, { ...ZOE, groups: ['x'] }])
        expect(await failureOf(signInWith(settings, { claims, userInfo: { body } }))).toEqual(
          requirement('requiredClaims.groups'),
        );
      const text = '{"sub":"zoe","groups":["staff",12345678901234567891]}';
      expect(await failureOf(signInWith(settings, { claims, userInfo: { text } }))).toEqual(
        requirement('requiredClaims.groups'),
      );
      const absent = { claims, userInfo: { status: 404, body: {} } };
      expect(await failureOf(signInWith(settings, absent))).toEqual(
        requirement('requiredClaims.groups', { userInfoFailure: 'the answer had status 404' }),
      );
      const down = { claims, userInfo: { status: 503, body: {} } };
      expect(await codeOf(signInWith(settings, down))).toBe('temporarily_unavailable');
    });

    it('counts max_age from the begin of the sign-in, not from the exchange [T750]', async () => {
      const { tenantId: tenant } = await tenantWith({ url, staticRequestParameters: { max_age: 60 } });
      const begun = Math.floor(Date.now() / 1000) - 600;
      const at = async (authTime: unknown, begunAt: number) => {
        hostile = { claims: { auth_time: authTime } };
        const flow = await began(tenant);
        ({ nonce } = flow);
        return codeOf(complete(tenant, { ...requestOf(flow, `code=c&state=${flow.state}`), begunAt }));
      };
      expect(await at(begun - 62, begun * 1000)).toBe('nothing');
      for (const authTime of [begun - 63, undefined]) expect(await at(authTime, begun * 1000)).toBe('access_denied');
      // No time at all (OpenID Connect Core 1.0 §2).
      for (const authTime of [String(begun), null]) expect(await at(authTime, begun * 1000)).toBe('server_error');
    });
  });

  const CLIENT_REFUSED = "the authentication provider refused the client's credentials";
  it.each<[number, string, string, string | undefined]>([
    [401, '{"error":"invalid_client"}', CLIENT_REFUSED, 'invalid_client'],
    [400, '{"error":"unauthorized_client","error_description":"of zoe@x"}', CLIENT_REFUSED, 'unauthorized_client'],
    [401, 'no JSON', CLIENT_REFUSED, undefined],
    [401, '{"error":["invalid_client"]}', CLIENT_REFUSED, undefined],
    [400, '{"error":"invalid_grant"}', 'the authentication provider refused the authorization code', 'invalid_grant'],
    [
      400,
      '{"error":"invalid_dpop_proof"}',
      'the authentication provider refused the token request with invalid_dpop_proof',
      'invalid_dpop_proof',
    ],
    [400, '{"error":"of zoe"}', 'the authentication provider refused the token request with status 400', undefined],
    [403, '[]', 'the authentication provider refused the token request with status 403', undefined],
    [400, 'null', 'the authentication provider refused the token request with status 400', undefined],
    [302, '', 'the authentication provider refused the token request with status 302', undefined],
  ])('reports status %i with %s [T754]', async (status, refusal, message, code) => {
    expect(await failureOf(signIn({ status, refusal }))).toEqual({
      code: 'server_error',
      message,
      providerError: { ...(code !== undefined && { code }), status },
    });
  });

  it.each([429, 500, 502, 503, 504])('is unavailable with status %i, of a proxy too [T757]', async (status) => {
    for (const refusal of ['<html>', '{"error":"server_error"}', '{"error":"invalid_client"}'])
      expect(await failureOf(signIn({ status, refusal }))).toMatchObject({
        code: 'temporarily_unavailable',
        message: `the authentication provider answered with status ${status}`,
        providerError: { status },
      });
    const { tenantId: tenant } = await tenantWith({ url });
    keysStatus = status;
    expect(await failureOf(signIn({}, undefined, tenant))).toMatchObject({
      code: 'temporarily_unavailable',
      providerError: { status },
    });
    keysStatus = 404;
    expect(await failureOf(signIn({}, undefined, tenant))).toEqual({
      code: 'server_error',
      message: 'the authentication provider answered the request for its keys with status 404',
      providerError: { status: 404 },
    });
    keysStatus = 200;
    expect(await signIn({}, undefined, tenant)).toMatchObject({ subjectId: 'zoe' });
  });

  it('may return 1 MiB, and is a server_error with more [T757]', async () => {
    const scope = (length: number) => ({ scope: 'x'.repeat(length) });
    expect(await signIn({ more: scope(1_000_000) })).toMatchObject({ subjectId: 'zoe' });
    const message = 'the authentication provider returned a response of more than 1048576 bytes';
    expect(await failureOf(signIn({ more: scope(1_048_576) }))).toEqual({ code: 'server_error', message });
    expect(await failureOf(signIn({ status: 400, refusal: 'x'.repeat(1_048_577) }))).toEqual({
      code: 'server_error',
      message,
    });
    const { tenantId: tenant } = await tenantWith({ url });
    const { length } = published;
    published.push({ kty: 'EC', x5c: ['x'.repeat(1_000_000)] });
    expect(await signIn({}, undefined, tenant)).toMatchObject({ subjectId: 'zoe' });
    published.push({ kty: 'EC', x5c: ['x'.repeat(100_000)] });
    service.ahead += 300_000;
    expect(await failureOf(signIn({}, undefined, tenant))).toEqual({ code: 'server_error', message });
    published.length = length;
    service.ahead = 0;
  });

  it('may have claims of 256 KiB in its ID token [T757]', async () => {
    expect(await signIn({ claims: { groups: ['x'.repeat(261_000)] } })).toMatchObject({ subjectId: 'zoe' });
    expect(await failureOf(signIn({ claims: { groups: ['x'.repeat(262_144)] } }))).toEqual({
      code: 'server_error',
      message: 'the authentication provider returned an ID token with claims of more than 262144 bytes',
    });
  });

  it('logs the description of a refusal only for credentials of the client, and no stack of the library [T755]', async () => {
    const lines: Record<string, unknown>[] = [];
    const { info, error } = service.engines.logger;
    for (const level of ['info', 'error'] as const)
      service.engines.logger[level] = ((fields: Record<string, unknown>) => void lines.push(fields)) as never;
    try {
      await codeOf(signIn({ status: 401, refusal: '{"error":"invalid_client","error_description":"Bad\\nclient"}' }));
      await codeOf(signIn({ status: 400, refusal: '{"error":"invalid_grant","error_description":"of zoe"}' }));
      await codeOf(signIn({ forged: true }));
    } finally {
      Object.assign(service.engines.logger, { info, error });
    }
    const failed = lines.filter(({ providerId }) => providerId !== undefined);
    expect(failed.map(({ error: reason, description }) => [reason, description])).toEqual([
      ['something went wrong: status 401 invalid_client', 'Bad?client'],
      ['something went wrong: status 400 invalid_grant', undefined],
      [expect.stringContaining('signature'), undefined],
    ]);
    const text = JSON.stringify(lines);
    expect(text).not.toContain('of zoe');
    expect(text).not.toMatch(/oauth4webapi|openid-client/);
  });

  it.each([
    ['login_required', { providerError: { code: 'login_required' } }],
    ['of zoe', {}],
  ])('records the error %s of an authorization response only if it is registered [T754]', async (error, recorded) => {
    const flow = await began(tenantId);
    const query = new URLSearchParams({ error, error_description: 'of zoe', state: flow.state }).toString();
    expect(await failureOf(complete(tenantId, requestOf(flow, query)))).toEqual({
      code: 'access_denied',
      message: 'the authentication provider did not sign the user in',
      ...recorded,
    });
  });

  it('adds claims of UserInfo to those of the ID token, which win [T638]', async () => {
    const before = userInfoTokens.length;
    const body = { ...ZOE, given_name: 'Other', nickname: 'Z', iss: 'x', nonce: 'x' };
    const claims = { given_name: 'Zoë', nickname: null };
    expect(await signIn({ claims, userInfo: { body } }, ['given_name', 'email'])).toEqual({
      url,
      subjectId: 'zoe',
      claims: { given_name: 'Zoë', email: ZOE.email, nickname: 'Z' },
      claimsToPersist: ['email'],
      userInfo: { requested: true },
    });
    expect(userInfoTokens.slice(before)).toEqual(['Bearer a']);
    // A claim whose value is null is missing.
    expect((await signIn({ claims, userInfo: { body } }, ['nickname'])).claims['nickname']).toBe('Z');
    expect(await signIn({ claims, userInfo: { body } }, ['given_name'])).toMatchObject({
      claims,
      userInfo: { requested: false },
    });
  });

  it('names claims with inexact numbers, which have no value, of both [T639]', async () => {
    const text = '{"sub":"zoe","credit":12345678901234567891,"email":"e","points":0.10}';
    expect(await signIn({ userInfo: { text } }, ['credit'])).toMatchObject({
      claims: { credit: null, email: 'e', points: 0.1 },
      unusableClaims: ['credit'],
    });
    const persisted = '{"sub":"zoe","email":[1e400]}';
    expect(await signIn({ userInfo: { text: persisted } }, ['email'])).toMatchObject({
      claims: { email: null },
      claimsToPersist: [],
      unusableClaims: ['email'],
    });
  });

  it.each<[string, NonNullable<Hostile['userInfo']>]>([
    ['of another subject', { body: { ...ZOE, sub: 'tom' } }],
    ['without a subject', { body: { email: 'e' } }],
    ['with a subject that is no text', { body: { ...ZOE, sub: 1 } }],
    ['of another subject, signed', { jwt: { ...ZOE, sub: 'tom' } }],
    ['without a subject, signed', { jwt: { email: 'e' } }],
  ])('does not sign the user in with a UserInfo response %s [T640]', async (_what, userInfo) => {
    expect(await codeOf(signIn({ userInfo }, ['email']))).toBe('server_error');
  });

  const NOT_JSON = 'the answer was not a JSON object';
  const NOT_VERIFIED = 'the answer was a JWT that could not be verified';
  it.each<[string, NonNullable<Hostile['userInfo']>, string]>([
    ['status 401', { status: 401, body: {} }, 'the answer had status 401'],
    ['status 500', { status: 500, body: ZOE }, 'the answer had status 500'],
    ['a redirect', { status: 302, headers: { location: '/keys' }, body: {} }, 'the answer was a redirect, status 302'],
    ['more than 64 KiB', { body: { ...ZOE, more: 'x'.repeat(65_536) } }, 'the answer has more than 64 KiB'],
    ['HTML', { type: 'text/html', body: ZOE }, 'the answer was neither application/json nor application/jwt'],
    ['bad JSON', { text: '{"sub":"zoe"' }, NOT_JSON],
    ['an array', { body: [ZOE] }, NOT_JSON],
    ['too many levels', { text: `{"sub":"zoe","x":${'['.repeat(65)}${']'.repeat(65)}}` }, NOT_JSON],
    ['a forged JWT', { jwt: ZOE, headers: { 'x-forged': '1' } }, NOT_VERIFIED],
    ['a JWT of another issuer', { jwt: { ...ZOE, iss: 'https://other.example' } }, NOT_VERIFIED],
    ['a JWT for another audience', { jwt: { ...ZOE, aud: 'other' } }, NOT_VERIFIED],
    ['an expired JWT', { jwt: { ...ZOE, exp: 1 } }, NOT_VERIFIED],
    ['text that is no JWT', { type: 'application/jwt', text: 'x' }, NOT_VERIFIED],
    ['an encrypted JWT', { type: 'application/jwt', text: 'e30.e30.e30.e30.e30' }, NOT_VERIFIED],
    [
      'a JWT without signature',
      { type: 'application/jwt', text: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ6b2UifQ.' },
      NOT_VERIFIED,
    ],
  ])(
    'signs the user in with the claims of the ID token when UserInfo returns %s [T641]',
    async (_what, userInfo, failure) => {
      expect(await signIn({ claims: { given_name: 'Zoë' }, userInfo }, ['email'])).toEqual({
        url,
        subjectId: 'zoe',
        claims: { given_name: 'Zoë' },
        claimsToPersist: ['email'],
        userInfo: { requested: true, failure },
      });
    },
  );

  it('reads a UserInfo response of 64 KiB, and a signed one that names its issuer [T641]', async () => {
    const body = { ...ZOE, more: '' };
    body.more = 'x'.repeat(65_536 - JSON.stringify(body).length);
    expect(await signIn({ userInfo: { body } }, ['email'])).toMatchObject({ claims: { email: ZOE.email } });
    const jwt = { ...ZOE, iss: url, aud: 'attestry', exp: Date.now() / 1000 + 60 };
    expect((await signIn({ userInfo: { jwt } }, ['email'])).claims).toEqual({ email: ZOE.email });
  });

  it('waits at most five seconds for UserInfo [T641]', async () => {
    const startedAt = performance.now();
    expect(await signIn({ userInfo: { slow: true } }, ['email'])).toMatchObject({
      claims: {},
      userInfo: { failure: 'there was no answer within 5 seconds' },
    });
    expect(performance.now() - startedAt).toBeLessThan(9000);
  });

  it.each([
    ['no endpoint', undefined, 'the provider has no UserInfo endpoint'],
    ['an endpoint that is no address', 'me', 'the address is not allowed or cannot be reached'],
    ['one with credentials', 'http://user:pass@127.0.0.1/me', 'the address is not allowed or cannot be reached'],
    ['one without a listener', 'http://127.0.0.1:1/me', 'the address is not allowed or cannot be reached'],
  ])('uses the claims of the ID token when the discovery document has %s [T641]', async (_what, endpoint, failure) => {
    announced = { userinfo_endpoint: endpoint as never };
    try {
      const { tenantId: another } = await tenantWith({ url });
      expect((await signIn({}, ['email'], another)).userInfo).toEqual({ requested: true, failure });
    } finally {
      announced = {};
    }
  });

  it('sends a code only to the origin that was saved, and succeeds again once that origin is announced', async () => {
    const flow = await began(tenantId);
    announced = { token_endpoint: url.replace('127.0.0.1', 'localhost') + '/token' };
    // Documents are cached for ten minutes, and until then the endpoint that was pinned is used.
    expect((await began(tenantId)).url).toContain('/authorize');
    service.ahead = 11 * 60_000;
    const before = requested;
    expect(await codeOf(began(tenantId))).toBe('server_error');
    expect(await codeOf(complete(tenantId, requestOf(flow, `code=c&state=${flow.state}`)))).toBe('server_error');
    expect(requested).toBe(before);
    announced = { token_endpoint: `${url}/other-path` };
    expect(await signIn({})).toMatchObject({ subjectId: 'zoe' });
    announced = {};
    service.ahead = 0;
  });

  it('pins the origin at the first sign-in when the provider was saved without one', async () => {
    const old = await tenantWith({ url });
    const stream = authenticationProviderStream(old.tenantId, old.id);
    await service.engines.streams.runDecision(
      authenticationProvider,
      stream,
      (state): AuthenticationProviderEvent[] => {
        if (state.status !== 'active') return [];
        const { status: _, sealedSecret: __, tokenEndpointOrigin: ___, ...settings } = state;
        // Earlier versions stored it in this way: the member is absent.
        return [
          { type: 'AuthenticationProviderDeleted', data: { providerId: old.id } },
          {
            type: 'AuthenticationProviderCreated',
            data: { ...settings, createdAt: new Date().toISOString() },
          },
        ];
      },
      { tenantId: old.tenantId, requestId: 'r', actor: 'test', operation: 'test' },
    );
    const pinned = async () => {
      const { state } = await service.engines.streams.load(authenticationProvider, stream);
      return state.status === 'active' ? state.tokenEndpointOrigin : undefined;
    };
    expect(await pinned()).toBeUndefined();
    expect((await began(old.tenantId)).url).toContain('/authorize');
    expect(await pinned()).toBe(url);
    announced = { token_endpoint: url.replace('127.0.0.1', 'localhost') + '/token' };
    service.ahead = 11 * 60_000;
    expect(await codeOf(began(old.tenantId))).toBe('server_error');
    announced = {};
    service.ahead = 0;
    expect(await pinned()).toBe(url);
  });

  it('does not request the documents again for five seconds after a failure', async () => {
    service.ahead = 30 * 60_000;
    hostile = { documentStatus: 503 };
    const before = discovered;
    for (let n = 0; n < 5; n++) expect(await codeOf(began(tenantId))).toBe('ServiceUnavailable');
    expect(discovered).toBe(before + 1);
    hostile = {};
    service.ahead += 5001;
    expect((await began(tenantId)).url).toContain('/authorize');
    service.ahead = 0;
  });

  it('waits at most five seconds', async () => {
    const startedAt = performance.now();
    expect(await codeOf(signIn({ slow: true }))).toBe('temporarily_unavailable');
    expect(performance.now() - startedAt).toBeLessThan(9000);
  });

  it('is unavailable: temporarily_unavailable, until it is back', async () => {
    const flow = await began(tenantId);
    const own = servers.at(-1)!;
    own.closeAllConnections();
    await new Promise((resolve) => own.close(resolve));
    expect(await codeOf(complete(tenantId, requestOf(flow, `code=c&state=${flow.state}`)))).toBe(
      'temporarily_unavailable',
    );
    // Its documents are known for a while; after that it cannot be used.
    expect((await began(tenantId)).url).toContain('/authorize');
    service.ahead = 24 * 60 * 60_000;
    expect(await codeOf(began(tenantId))).toBe('ServiceUnavailable');
    service.ahead = 0;
  });
});
