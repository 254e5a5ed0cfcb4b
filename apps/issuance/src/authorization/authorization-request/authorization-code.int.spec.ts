/** @engines embedded postgres */
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import {
  AppError,
  authorize,
  beginSignIn,
  completeAuthorization,
  completeInteraction,
  completeSignIn,
  createWallet,
  deleteUser,
  deleteWallet,
  exchangeToken,
  issueCredential,
  issueNonce,
  jwtVcConfigurations,
  listUsers,
  oauthError,
  pushAuthorization,
  recordSubject,
  retrieveBrand,
  retrieveAuthorizationServerMetadata,
  retrieveUser,
  submitConsent,
  updateOpenIdConfiguration,
  updateWallet,
  type AccessTokenResponse,
  type CompletedSignIn,
  type HttpAnswer,
  type NonceResponse,
  type OperationRecordMessage,
  type OperationStartMessage,
  type PageOf,
  type User,
} from '@attestry/contracts';
import { jest } from '@jest/globals';
import { isErased } from '@attestry/keys';
import { continuationOf, CustomerIaca, parseConsentPage, waitUntil } from '@attestry/testing';
import { IssuanceUnderTest } from '@attestry/testing/services';
import { decodeJwt, SignJWT, type JWK } from 'jose';
import { issuanceService } from '../../index.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { SessionKeys } from '../../offers/session-keys/session-keys.js';
import { parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';

const { TENANT, OTHER, BACK, WALLET } = IssuanceUnderTest;
const ISSUER = 'http://acme.localhost:8080';
const PROVIDER = randomUUID();
const VERIFIER = 'a-verifier-of-the-wallet-with-43-characters';

const service = new IssuanceUnderTest(issuanceService, {
  baseOf: () => ISSUER,
  subjects: [recordSubject('started', 'issuance'), recordSubject('record', 'issuance')],
});
let configurationId: string;
let walletId: string;
const operations = () => service.messages.map(({ data }) => data as OperationStartMessage | OperationRecordMessage);

/** A simulated tenant-config service: the query determines the user who signs in. */
const people = new Map<string, Omit<CompletedSignIn, 'url'>>();
let refusal: AppError | undefined;
let begun = 0;
service.answer(retrieveBrand, () => ({ name: 'Acme & Sons', logoUrl: 'https://cdn.example/logo.png' }));
service.answer(beginSignIn, ({ body: { state, nonce, codeChallenge } }) => {
  begun += 1;
  if (refusal) throw refusal;
  const query = new URLSearchParams({ state, nonce, codeChallenge });
  return { providerId: PROVIDER, url: `https://login.example/authorize?${query}` };
});
service.answer(completeSignIn, ({ body: { query, providerId } }) => {
  if (refusal) throw refusal;
  const person = people.get(new URLSearchParams(query).get('code')!)!;
  expect(providerId).toBe(PROVIDER);
  return { url: 'https://login.example', ...person };
});
beforeAll(async () => {
  await service.open();
  const body = {
    type: 'Course',
    name: 'Course',
    issuer: { name: 'Acme' },
    claimMappings: {
      givenName: { mapFrom: 'claims.given_name' },
      subject: { mapFrom: 'authenticationProvider.subjectId' },
    },
  };
  ({ id: configurationId } = await admin(jwtVcConfigurations.create, { body }));
  walletId = (await admin(createWallet, { body: WALLET })).id;
});
afterAll(() => service.remove());

const { admin, call: raw } = service;
/** Records of authorization requests, except those of the wallet that most tests use. */
const requestsAfter = (count: number) =>
  (operations().slice(count) as OperationRecordMessage[]).filter(
    ({ prefix, object }) => ['OPENID_PAR', 'OPENID_AUTHORIZE'].includes(prefix) && object?.id !== walletId,
  );
const errorOf = async (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'nothing',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

// --- the browser and the wallet

const authorizationParameters = {
  response_type: 'code',
  ...{ client_id: 'wallet', redirect_uri: BACK, state: 'of the wallet', scope: 'jwt_vc_json:Course' },
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
};
/** A client that is not registered. */
const UNKNOWN = { client_id: 'unknown' };
const urlOf = (parameters: Record<string, string>) => `/v1/oauth/authorize?${new URLSearchParams(parameters)}`;
const authorizationUrl = (more: Record<string, string> = {}) => urlOf({ ...authorizationParameters, ...more });
const consentOf = async (more: Record<string, string> = {}, headers: Record<string, string> = {}) => {
  const url = authorizationUrl({ ...UNKNOWN, ...more });
  const answer = (await raw(authorize, { url, headers })) as unknown as HttpAnswer;
  const { status, headers: received, body } = answer.$http;
  const page = body as string;
  const [cookie = ''] = received!['set-cookie']?.split(';') ?? [];
  return { status, page, cookie, form: parseConsentPage(page)!, policy: received!['content-security-policy'] };
};
type Consent = Awaited<ReturnType<typeof consentOf>>;
const submit = async (
  { form, cookie }: Pick<Consent, 'form' | 'cookie'>,
  fields: Record<string, string> = {},
  { tenantId = TENANT, headers = {} }: { tenantId?: string; headers?: Record<string, string> } = {},
) => {
  const text = new URLSearchParams({ ...form.fields, decision: 'approve', ...fields }).toString();
  const answer = await raw(submitConsent, { text, headers: { ...(cookie && { cookie }), ...headers } }, tenantId);
  const { status, headers: received, body } = (answer as unknown as HttpAnswer).$http;
  const page = body as string;
  return { status, page, location: continuationOf(page), headers: received! };
};
const approve = async (consent: Consent) => {
  const { location, headers } = await submit(consent);
  return { location: new URL(location!), cookie: headers['set-cookie']!.split(';')[0]! };
};
const openAuthorization = async (url: string, tenantId = TENANT) => {
  const answer = (await raw(authorize, { url }, tenantId)) as unknown as HttpAnswer;
  const { status, headers, body } = answer.$http;
  if (status !== 302) throw pageFault(body as string);
  const { location, 'set-cookie': cookie } = headers!;
  return { location: new URL(location!), cookie: cookie?.split(';')[0] ?? '' };
};
const beginAuthorization = (more: Record<string, string> = {}, tenantId = TENANT) =>
  openAuthorization(authorizationUrl(more), tenantId);
const comeBack = async (
  { location, cookie }: Awaited<ReturnType<typeof beginAuthorization>>,
  code: string,
  tenantId = TENANT,
): Promise<URL> => {
  const query = new URLSearchParams({ state: location.searchParams.get('state')!, code });
  const url = `/v1/oauth/authentication/callback?${query}`;
  const answer = (await raw(completeAuthorization, { url, headers: { cookie } }, tenantId)) as unknown as HttpAnswer;
  const { status, headers, body } = answer.$http;
  if (status !== 302) throw pageFault(body as string);
  return new URL(headers!['location']!);
};
/** The error that a page shows. */
const pageFault = (page: string): AppError => {
  const [code, description] = [...page.matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, text]) => text!);
  return oauthError(code as Parameters<typeof oauthError>[0], description!);
};
const signIn = async (person: string): Promise<string> => {
  const back = await comeBack(await beginAuthorization(), person);
  expect(Object.fromEntries(back.searchParams)).toEqual({
    code: expect.any(String),
    state: 'of the wallet',
    iss: ISSUER,
  });
  return back.searchParams.get('code')!;
};
const exchange = (code: string, client: { client_id?: string } = {}) =>
  raw(exchangeToken, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    text: new URLSearchParams({
      grant_type: 'authorization_code',
      ...{ client_id: 'wallet', redirect_uri: BACK, code_verifier: VERIFIER, code, ...client },
    }).toString(),
  }) as Promise<AccessTokenResponse>;
const holder = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const collect = async (token: string, claims: object = {}): Promise<Record<string, unknown>> => {
  const { $http } = (await raw(issueNonce, {})) as unknown as HttpAnswer;
  const { c_nonce: nonce } = $http.body as NonceResponse;
  const proof = await new SignJWT({
    aud: ISSUER,
    iat: Math.floor((Date.now() + service.ahead) / 1000),
    nonce,
    ...claims,
  })
    .setProtectedHeader({
      alg: 'ES256',
      typ: 'openid4vci-proof+jwt',
      jwk: holder.publicKey.export({ format: 'jwk' }) as JWK,
    })
    .sign(holder.privateKey);
  const { credentials } = await raw(issueCredential, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    text: JSON.stringify({ credential_configuration_id: configurationId, proofs: { jwt: [proof] } }),
  });
  const payload = (credentials[0]!.credential as string).split('.')[1]!;
  return (
    JSON.parse(Buffer.from(payload, 'base64url').toString()) as { vc: { credentialSubject: Record<string, unknown> } }
  ).vc.credentialSubject;
};
const newPerson = (subjectId: string = randomUUID(), more: Partial<CompletedSignIn> = {}) => {
  people.set(subjectId, { subjectId, claims: { given_name: 'Canary-Name' }, claimsToPersist: [], ...more });
  return subjectId;
};
const usersOf = async (subjectId: string): Promise<User[]> => {
  const { data } = (await admin(listUsers, { query: { limit: 1000 } })) as PageOf<User>;
  return data.filter(({ authenticationProvider }) => authenticationProvider?.subjectId === subjectId);
};
const userOf = async (subjectId: string): Promise<User> => {
  const found = await waitUntil(async () => (await usersOf(subjectId))[0], { what: 'the user' });
  return found;
};

describe('a person who signs in', () => {
  it('gets a credential with the claims of the provider, which are stored nowhere else', async () => {
    const person = newPerson();
    const { access_token, scope } = await exchange(await signIn(person));
    expect(scope).toBe('jwt_vc_json:Course');
    expect(await collect(access_token)).toMatchObject({ givenName: 'Canary-Name', subject: person });
    expect(await userOf(person)).toEqual({
      id: expect.any(String),
      claims: {},
      authenticationProvider: { providerId: PROVIDER, url: 'https://login.example', subjectId: person },
    });
  });

  it('is the same user every time, with the newest values of the persisted claims', async () => {
    const person = newPerson();
    await signIn(person);
    const { id } = await userOf(person);
    newPerson(person, { claims: { email: 'a@x.example', level: 1 }, claimsToPersist: ['email', 'missing'] });
    await signIn(person);
    expect(await admin(retrieveUser, { params: { id } })).toMatchObject({ id, claims: { email: 'a@x.example' } });
    newPerson(person, { claims: { email: 'b@x.example' }, claimsToPersist: ['email'] });
    await signIn(person);
    const stream = `user-${TENANT}+${id}`;
    const before = await service.engines.events.readStream(stream);
    expect(await admin(retrieveUser, { params: { id } })).toMatchObject({ id, claims: { email: 'b@x.example' } });
    // Without new values no event is appended.
    await signIn(person);
    expect(await service.engines.events.readStream(stream)).toEqual(before);
    expect(await usersOf(person)).toHaveLength(1);
  });

  it('is one user after concurrent first sign-ins', async () => {
    const person = newPerson();
    const codes = await Promise.all(Array.from({ length: 5 }, () => signIn(person)));
    expect(new Set(codes).size).toBe(5);
    await userOf(person);
    expect(await usersOf(person)).toHaveLength(1);
  });

  it('whose user was deleted gets nothing more with code and token, and becomes a new user at the next sign-in', async () => {
    const person = newPerson();
    const [first, second] = [await signIn(person), await signIn(person)];
    const { id } = await userOf(person);
    const { access_token } = await exchange(first);
    await admin(deleteUser, { params: { id } });
    expect(await errorOf(collect(access_token))).toBe('credential_request_denied');
    const later = await exchange(second);
    expect(await errorOf(collect(later.access_token))).toBe('credential_request_denied');
    await signIn(person);
    const again = await waitUntil(async () => (await usersOf(person)).find((user) => user.id !== id));
    expect(again.id).not.toBe(id);
  });

  it('leaves no personal data and no secret in the log', async () => {
    const person = newPerson('Canary-Subject', {
      claims: { given_name: 'Canary-Name' },
      claimsToPersist: ['given_name'],
    });
    const code = await signIn(person);
    const { access_token } = await exchange(code);
    const text = JSON.stringify([...(await allEvents()), ...operations()]);
    for (const secret of ['Canary', code, access_token, VERIFIER, 'of the wallet']) expect(text).not.toContain(secret);
  });
});

const allEvents = async () => {
  const events: unknown[] = [];
  for (let after: string | undefined; ;) {
    const page = await service.engines.events.readAll({ ...(after !== undefined && { after }), limit: 1000 });
    events.push(...page.events);
    if (page.events.length === 0) return events;
    after = page.events.at(-1)!.position;
  }
};

describe('between the wallet and the provider', () => {
  it('a request is valid for twenty minutes', async () => {
    const person = newPerson();
    const [inTime, late] = [await beginAuthorization(), await beginAuthorization()];
    service.ahead = 1_199_000;
    expect((await comeBack(inTime, person)).searchParams.get('code')).toEqual(expect.any(String));
    service.ahead = 1_201_000;
    expect(await errorOf(comeBack(late, person))).toBe('invalid_request');
    service.ahead = 0;
  });

  it('it survives a restart and is valid once, for its tenant and browser', async () => {
    const person = newPerson();
    const pending = await beginAuthorization();
    await service.restart();
    expect(await errorOf(comeBack(pending, person, OTHER))).toBe('invalid_request');
    const other = await beginAuthorization();
    expect(await errorOf(comeBack({ ...pending, cookie: other.cookie }, person))).toBe('invalid_request');
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => comeBack(pending, person)));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await errorOf(comeBack(pending, person))).toBe('invalid_request');
  });

  it('the error names the reason, and START and FAIL are recorded', async () => {
    for (const [fault, error] of [
      [oauthError('access_denied', 'nobody'), 'access_denied'],
      [new AppError('notFound', 'gone'), 'access_denied'],
      [new AppError('unavailable', 'later'), 'temporarily_unavailable'],
      [oauthError('server_error', 'what?'), 'server_error'],
    ] as const) {
      const pending = await beginAuthorization();
      refusal = fault;
      const before = operations().length;
      const back = await comeBack(pending, 'x').finally(() => (refusal = undefined));
      expect(Object.fromEntries(back.searchParams)).toEqual({
        error,
        error_description: expect.any(String),
        ...{ state: 'of the wallet', iss: ISSUER },
      });
      const recorded = () =>
        operations()
          .slice(before)
          .filter(({ prefix }) => prefix === 'OPENID_AUTHENTICATION_CALLBACK');
      // One message for both, because the caller proved nothing.
      await waitUntil(() => recorded().length > 0, { what: 'FAIL' });
      expect(recorded().map((sent) => [sent.prefix, 'outcome' in sent && sent.outcome, sent.tenantId])).toEqual([
        ['OPENID_AUTHENTICATION_CALLBACK', 'FAIL', TENANT],
      ]);
    }
  });

  it('is refused without a provider, or while tenant-config is unreachable', async () => {
    for (const [fault, error] of [
      [new AppError('notFound', 'none'), 'server_error'],
      [new AppError('unavailable', 'later'), 'temporarily_unavailable'],
    ] as const) {
      refusal = fault;
      const { location, cookie } = await beginAuthorization().finally(() => (refusal = undefined));
      expect([location.origin, location.searchParams.get('error'), cookie]).toEqual([
        'https://wallet.example',
        error,
        '',
      ]);
    }
  });
});

describe('the consent for a wallet that the issuer does not know', () => {
  it('is requested before anything is sent to the provider [T230, T231]', async () => {
    const before = begun;
    const { status, page, policy } = await consentOf();
    expect([status, begun]).toEqual([200, before]);
    expect(page).toContain('<strong><bdi>wallet.example</bdi></strong>');
    expect(page).toContain('<bdi>Course</bdi>');
    expect(page).toContain('<bdi>Acme &amp; Sons</bdi><small>acme.localhost:8080</small>');
    expect(policy).toContain('img-src https://cdn.example;');
    for (const value of ['of the wallet', '/back', VERIFIER]) expect(page).not.toContain(value);
  });

  it('is requested in the language of ui_locales, else of Accept-Language [T233]', async () => {
    const accept = { 'accept-language': 'es-MX, en;q=0.5' };
    expect((await consentOf({ ui_locales: 'de-AT fr' }, accept)).page).toContain('<html lang="de">');
    expect((await consentOf({}, accept)).page).toContain('<html lang="es">');
    expect((await consentOf({ ui_locales: 'it' })).page).toContain('<html lang="en">');
    const { page } = await consentOf({ ui_locales: 'x'.repeat(1025) });
    expect(page).toContain('<dd>ui_locales must have at most 1024 characters</dd>');
  });

  it('once approved leads to a credential [T230]', async () => {
    const before = begun;
    const { searchParams } = await comeBack(await approve(await consentOf()), newPerson());
    const { access_token } = await exchange(searchParams.get('code')!, UNKNOWN);
    expect(begun).toBe(before + 1);
    expect(await collect(access_token)).toMatchObject({ givenName: 'Canary-Name' });
  });

  it('once refused redirects nowhere, issues nothing and is recorded nowhere [T234]', async () => {
    const [beforeBegun, beforeRecorded] = [begun, operations().length];
    const consent = await consentOf({ ui_locales: 'fr' });
    const { status, page, headers } = await submit(consent, { decision: 'refuse' });
    expect([status, Object.keys(headers).includes('location')]).toEqual([200, false]);
    expect(page).toContain('<h1>Vous avez refusé</h1>');
    expect(page).not.toMatch(/<form|<a |http-equiv|wallet\.example/);
    expect(headers['set-cookie']).toMatch(/^attestry-consent-[0-9a-f-]{36}=; .*Max-Age=0;/);
    expect((await submit(consent)).status).toBe(400);
    expect([begun, requestsAfter(beforeRecorded)]).toEqual([beforeBegun, []]);
  });

  it('is accepted once, also of concurrent submissions [T232]', async () => {
    const consent = await consentOf();
    const before = begun;
    const answers = await Promise.all(Array.from({ length: 5 }, () => submit(consent)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    const { status, page, location } = await submit(consent);
    expect([status, location, begun]).toEqual([400, undefined, before + 1]);
    expect(page).toContain('<h1>This request has ended</h1>');
    expect(page).toContain('Start again in your wallet.');
  });

  it('is accepted only from the browser that got the page, with its token, and for its tenant [T232]', async () => {
    const [consent, other] = [await consentOf(), await consentOf()];
    const before = begun;
    const nameOf = (cookie: string): string => cookie.slice(0, cookie.indexOf('=') + 1);
    for (const [what, answer] of Object.entries({
      'without a cookie': await submit({ ...consent, cookie: '' }),
      'with the cookie of another request': await submit({ ...consent, cookie: other.cookie }),
      'with the secret of another request': await submit({
        ...consent,
        cookie: nameOf(consent.cookie) + other.cookie.slice(nameOf(other.cookie).length),
      }),
      'with the token of another request': await submit(consent, { token: other.form.fields['token']! }),
      'with the id of another request': await submit(consent, { request: other.form.fields['request']! }),
      'with an id that is none': await submit(consent, { request: '../x' }),
      'at another tenant': await submit(consent, {}, { tenantId: OTHER }),
      'from another site': await submit(consent, {}, { headers: { 'sec-fetch-site': 'cross-site' } }),
      'from another origin': await submit(consent, {}, { headers: { origin: 'https://evil.example' } }),
      'without a decision': await submit(consent, { decision: '' }),
      'with another decision': await submit(consent, { decision: 'yes' }),
      'with its box empty': await submit(consent, { confirmed: '' }),
    }))
      expect([what, answer.status, answer.location]).toEqual([what, 400, undefined]);
    expect(begun).toBe(before);
    // None of them has ended the request.
    expect((await submit(consent)).location).toMatch(/^https:\/\/login\.example\//);
  });

  it('is valid for ten minutes, also after a restart [T232]', async () => {
    const [inTime, late] = [await consentOf(), await consentOf()];
    await service.restart();
    // The restart takes its time, too.
    service.ahead = 580_000;
    expect((await submit(inTime)).status).toBe(200);
    service.ahead = 601_000;
    expect((await submit(late)).status).toBe(400);
    service.ahead = 0;
  });

  it('is needed before an error is sent to the address of the wallet [T234]', async () => {
    for (const [parameters, text] of [
      [{ scope: 'none' }, 'scope must name a credential configuration of this issuer'],
      [{ response_type: 'token' }, 'response_type must be code'],
    ] as const) {
      const answer = (await raw(authorize, {
        url: authorizationUrl({ ...UNKNOWN, ...parameters }),
      })) as unknown as HttpAnswer;
      const { status, headers, body } = answer.$http;
      expect([status, Object.keys(headers!).includes('location')]).toEqual([400, false]);
      expect(body).toContain(`<dd>${text}</dd>`);
      expect(body).not.toContain('wallet.example');
    }
  });

  it('is not requested of a registered wallet, also at a private-use scheme', async () => {
    const own = 'org.example.wallet:/back';
    await admin(updateWallet, { params: { id: walletId }, body: { ...WALLET, redirectUris: [own, BACK] } });
    for (const redirect_uri of [own, BACK])
      expect((await beginAuthorization({ redirect_uri })).location.host).toBe('login.example');
    await admin(updateWallet, { params: { id: walletId }, body: WALLET });
  });
});

describe('an authorization code', () => {
  it('is valid for a minute', async () => {
    const [inTime, late] = [await signIn(newPerson()), await signIn(newPerson())];
    service.ahead = 59_000;
    expect((await exchange(inTime)).access_token).toEqual(expect.any(String));
    service.ahead = 60_001;
    expect(await errorOf(exchange(late))).toBe('invalid_grant');
    service.ahead = 0;
  });

  it('ends the session, including its claims, when it is used again', async () => {
    const code = await signIn(newPerson());
    const { access_token } = await exchange(code);
    expect(await sealedClaims(code)).toBe('{"given_name":"Canary-Name"}');
    expect(await errorOf(exchange(code))).toBe('invalid_grant');
    expect(await errorOf(collect(access_token))).toBe('invalid_token');
    expect(await sealedClaims(code)).toBe('erased');
  });

  it('that is not exchanged leaves no claims behind', async () => {
    const code = await signIn(newPerson());
    const keys = service.get(SessionKeys);
    service.ahead = 60_000 + 61_000;
    await keys.sweep();
    expect(await sealedClaims(code)).toBe('erased');
    service.ahead = 0;
  });

  it('binds the proof to the requesting client', async () => {
    const { access_token } = await exchange(await signIn(newPerson()));
    expect(await errorOf(collect(access_token, { iss: 'another' }))).toBe('invalid_proof');
    expect(await collect(access_token, { iss: 'wallet' })).toHaveProperty('givenName');
  });
});

/** Claims of the session that a code names, in the form of its first event. */
const sealedClaims = async (code: string): Promise<string> => {
  const stream = issuanceSessionStream(TENANT, parseBearerValue(code)!.sessionId);
  const [granted] = await service.engines.events.readStream(stream);
  const event = issuanceSession.evolve(issuanceSession.initial, granted as never);
  if (event.status !== 'authorized') throw new Error(event.status);
  const text = await service.engines.vault.sealing.openStored(TENANT, 'session', event.storedClaims!);
  return isErased(text) ? 'erased' : text;
};

describe('a pushed authorization request', () => {
  const push = async (more: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<string> => {
    const text = new URLSearchParams({ ...authorizationParameters, ...more }).toString();
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
    const answer = await raw(pushAuthorization, { url: '/v1/oauth/par', headers: form, text });
    expect(answer).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/),
      expires_in: 60,
    });
    return answer.request_uri;
  };
  const open = (request_uri: string, more: Record<string, string> = {}) =>
    openAuthorization(urlOf({ client_id: 'wallet', request_uri, ...more }));
  const errorAt = ({ searchParams }: URL) => searchParams.get('error');
  afterEach(() => (service.ahead = 0));

  it('can be opened for sixty seconds, and its sign-in may take longer [T291]', async () => {
    const requestUri = await push();
    service.ahead = 59_000;
    const inTime = await open(requestUri);
    service.ahead = 60_000;
    expect(await errorOf(open(requestUri))).toBe('invalid_request_uri');
    service.ahead = 600_000;
    const code = (await comeBack(inTime, newPerson())).searchParams.get('code')!;
    expect((await exchange(code)).scope).toBe('jwt_vc_json:Course');
  });

  it('can be opened again, also after a restart, until its sign-in has finished [T291, T292]', async () => {
    const requestUri = await push();
    await open(requestUri);
    await service.restart();
    const reloaded = await open(requestUri);
    expect((await comeBack(reloaded, newPerson())).searchParams.get('code')).toEqual(expect.any(String));
    expect(await errorOf(open(requestUri))).toBe('invalid_request_uri');
  });

  it('gets one code, however many sign-ins were begun with it [T292]', async () => {
    const requestUri = await push();
    const begun = await Promise.all(Array.from({ length: 6 }, () => open(requestUri)));
    const late = begun.pop()!;
    const answers = await Promise.all(begun.map((one) => comeBack(one, newPerson())));
    expect(answers.filter(({ searchParams }) => searchParams.has('code'))).toHaveLength(1);
    service.ahead = 1_199_000;
    const losers = [
      ...answers.filter(({ searchParams }) => !searchParams.has('code')),
      await comeBack(late, newPerson()),
    ];
    expect(losers.map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual(
      Array.from({ length: 5 }, () => ({
        error: 'invalid_request',
        error_description: 'another sign-in with the same request_uri has finished',
        ...{ state: 'of the wallet', iss: ISSUER },
      })),
    );
  });

  it('has ended also when the person was not signed in [T292]', async () => {
    const requestUri = await push();
    const pending = await open(requestUri);
    refusal = oauthError('access_denied', 'no');
    expect(errorAt(await comeBack(pending, 'x').finally(() => (refusal = undefined)))).toBe('access_denied');
    expect(await errorOf(open(requestUri))).toBe('invalid_request_uri');
  });

  it('belongs to its tenant and client, and an attempt of others does not end it [T293]', async () => {
    const requestUri = await push();
    expect(await errorOf(open(requestUri, { client_id: 'another' }))).toBe('invalid_request');
    expect(await errorOf(open(requestUri, { client_id: '' }))).toBe('invalid_request');
    const url = urlOf({ client_id: 'wallet', request_uri: requestUri });
    expect(await errorOf(openAuthorization(url, OTHER))).toBe('invalid_request_uri');
    expect((await open(requestUri)).location.origin).toBe('https://login.example');
  });

  it('is what counts: everything else beside its reference is ignored [T293]', async () => {
    const pending = await open(await push({ state: 'pushed' }), {
      ...{ redirect_uri: 'https://evil.example/', state: 'evil', response_type: 'token', scope: 'none' },
    });
    const back = await comeBack(pending, newPerson());
    expect([back.origin, back.searchParams.get('state')]).toEqual(['https://wallet.example', 'pushed']);
  });

  it('is stored under a digest of its reference alone, and not when it is refused [T290]', async () => {
    const stored = jest.spyOn(service.engines.vault.expiringState, 'write');
    try {
      const reference = (await push()).split(':').at(-1)!;
      const digest = createHash('sha256').update(reference).digest('base64url');
      expect(stored.mock.calls.map(([tenantId, name]) => [tenantId, name])).toEqual([[TENANT, `pushed:${digest}`]]);
      expect(JSON.stringify(stored.mock.calls)).not.toContain(reference);
      for (const [more, headers, error] of [
        [{ request_uri: 'urn:x' }, {}, 'invalid_request'],
        [{ request: 'a.b.c' }, {}, 'request_not_supported'],
        [{ login_hint: 'x'.repeat(16_384) }, {}, 'invalid_request'],
        [{ scope: 'none' }, {}, 'invalid_scope'],
        [{}, { dpop: 'a.b.c' }, 'invalid_dpop_proof'],
        [{}, { 'content-type': 'application/json' }, 'invalid_request'],
      ] as const)
        expect([more, await errorOf(push(more, headers))]).toEqual([more, error]);
      expect(stored).toHaveBeenCalledTimes(1);
    } finally {
      stored.mockRestore();
    }
  });

  it('leaves nothing behind when it has expired', async () => {
    const requestUri = await push();
    const name = `pushed:${createHash('sha256').update(requestUri.split(':').at(-1)!).digest('base64url')}`;
    const state = service.engines.vault.expiringState;
    expect(await state.read(TENANT, name)).toBeDefined();
    await state.deleteExpired(new Date(Date.now() + 61_000));
    expect(await state.read(TENANT, name)).toBeUndefined();
  });

  it('of a wallet that is not registered gets one code, however long consent and sign-in take [T292]', async () => {
    const request = { ...UNKNOWN, request_uri: await push(UNKNOWN) };
    const first = await consentOf(request);
    const signedIn = await comeBack(await approve(first), newPerson());
    expect((await exchange(signedIn.searchParams.get('code')!, UNKNOWN)).scope).toBe('jwt_vc_json:Course');
    expect(await errorOf(openAuthorization(urlOf(request)))).toBe('invalid_request_uri');
    const other = { ...UNKNOWN, request_uri: await push(UNKNOWN) };
    const early = await consentOf(other);
    service.ahead = 59_000;
    const late = await consentOf(other);
    service.ahead = 0;
    expect((await comeBack(await approve(early), newPerson())).searchParams.get('code')).toEqual(expect.any(String));
    service.ahead = 658_000;
    const lateSignIn = await approve(late);
    service.ahead = 1_857_000;
    expect((await comeBack(lateSignIn, newPerson())).searchParams.get('error_description')).toBe(
      'another sign-in with the same request_uri has finished',
    );
  });

  describe('of a registered wallet', () => {
    const wallet = { id: '', name: 'W', clientId: 'registered', redirectUris: [BACK] };
    const client = { client_id: wallet.clientId };
    const requirePushed = (requirePushedAuthorizationRequests: boolean | null) =>
      admin(updateOpenIdConfiguration, { body: { requirePushedAuthorizationRequests } });
    beforeAll(async () => {
      const { name, clientId, redirectUris } = wallet;
      wallet.id = (await admin(createWallet, { body: { name, clientId, redirectUris } })).id;
    });
    afterAll(() => admin(deleteWallet, { params: { id: wallet.id } }));
    /** Records of what `run` does; each is listed as a START and its outcome (ADR 0073). */
    const recordsOf = async (count: number, run: () => Promise<unknown>) => {
      const before = operations().length;
      await run();
      await waitUntil(() => requestsAfter(before).length >= count, { what: `${count} records` });
      return requestsAfter(before).map(({ prefix, object, metadata, ...more }) => {
        return [prefix, 'outcome' in more ? more.outcome : 'START', object, metadata];
      });
    };
    const named = () => [{ type: 'wallet', id: wallet.id }, { walletId: wallet.id }];
    const failed = (code: string) => [
      named()[0],
      { walletId: wallet.id, error: { status: 400, code, message: expect.any(String) } },
    ];

    it('is recorded where it is pushed and opened, with the outcome [T298]', async () => {
      const records = await recordsOf(4, async () => {
        const requestUri = await push(client);
        await open(requestUri, client);
        expect(await errorOf(push({ ...client, scope: 'none' }))).toBe('invalid_scope');
        const { location } = await beginAuthorization({ ...client, scope: 'none' });
        expect(errorAt(location)).toBe('invalid_scope');
      });
      expect(records).toEqual([
        ['OPENID_PAR', 'SUCCESS', ...named()],
        ['OPENID_AUTHORIZE', 'SUCCESS', ...named()],
        ['OPENID_PAR', 'FAIL', ...failed('invalid_scope')],
        ['OPENID_AUTHORIZE', 'FAIL', ...failed('invalid_scope')],
      ]);
    });

    it('is recorded once when the provider is refused, and requests of unregistered wallets once a minute [T298, T299]', async () => {
      refusal = oauthError('server_error', 'other origin');
      const records = await recordsOf(2, async () => {
        await beginAuthorization(client);
        for (let n = 0; n < 3; n++) await submit(await consentOf());
      }).finally(() => (refusal = undefined));
      expect(records.map(([prefix, outcome, object]) => [prefix, outcome, object])).toEqual([
        ['OPENID_AUTHORIZE', 'FAIL', named()[0]],
        ['OPENID_AUTHORIZE', 'FAIL', undefined],
      ]);
    });

    it('leaves no record for a client id that is not registered [T299]', async () => {
      const records = await recordsOf(1, async () => {
        expect((await consentOf({ request_uri: await push(UNKNOWN) })).status).toBe(200);
        expect(await errorOf(push({ ...UNKNOWN, scope: 'none' }))).toBe('invalid_scope');
        await push(client);
      });
      expect(records).toEqual([['OPENID_PAR', 'SUCCESS', ...named()]]);
    });

    it('is required of all wallets where the tenant says so, from the next request on [T294]', async () => {
      await requirePushed(true);
      try {
        for (const clientId of ['wallet', wallet.clientId]) {
          const { location, cookie } = await beginAuthorization({ client_id: clientId });
          expect([location.origin, Object.fromEntries(location.searchParams), cookie]).toEqual([
            'https://wallet.example',
            {
              error: 'invalid_request',
              error_description: 'the authorization request must be pushed to /v1/oauth/par first (RFC 9126)',
              ...{ state: 'of the wallet', iss: ISSUER },
            },
            '',
          ]);
        }
        expect(await errorOf(beginAuthorization(UNKNOWN))).toBe('invalid_request');
        expect((await open(await push())).location.origin).toBe('https://login.example');
        expect((await consentOf({ request_uri: await push(UNKNOWN) })).status).toBe(200);
        expect(await service.visit(retrieveAuthorizationServerMetadata)).toMatchObject({
          pushed_authorization_request_endpoint: `${ISSUER}/v1/oauth/par`,
          require_pushed_authorization_requests: true,
        });
      } finally {
        await requirePushed(null);
      }
      expect((await beginAuthorization()).location.origin).toBe('https://login.example');
    });
  });
});

describe('a wallet', () => {
  const refusalOf = async (attempt: Promise<unknown>) =>
    attempt.then(
      () => 'nothing',
      (error: unknown) => [(error as AppError).code, (error as AppError).message],
    );
  const change = (more: object) => admin(updateWallet, { params: { id: walletId }, body: { ...WALLET, ...more } });
  const DISABLED = ['unauthorized_client', 'this issuer has disabled the wallet'];
  const UNATTESTED = ['invalid_client', 'the header OAuth-Client-Attestation is required of this client'];
  const CHANGED = ['invalid_request', 'the registration of the wallet has changed; start again in the wallet'];
  let root: string;

  beforeAll(async () => {
    root = (await CustomerIaca.create()).certificatePem;
  });
  afterEach(() => change({}));

  it('that is disabled is refused at each endpoint, and not redirected [T213]', async () => {
    const pending = await beginAuthorization();
    const code = await signIn(newPerson());
    await change({ disabled: true });
    expect(await refusalOf(beginAuthorization())).toEqual(DISABLED);
    expect(await refusalOf(comeBack(pending, newPerson()))).toEqual(DISABLED);
    expect(await refusalOf(exchange(code))).toEqual(DISABLED);
    await change({});
    expect((await exchange(code)).access_token).toEqual(expect.any(String));
  });

  it('that must attest itself is refused without an attestation where clients authenticate [T343]', async () => {
    const code = await signIn(newPerson());
    expect(await change({ rootCertificates: [root] })).toMatchObject({ attestationRequired: true });
    expect((await beginAuthorization()).location.origin).toBe('https://login.example');
    const pushed = raw(pushAuthorization, {
      url: '/v1/oauth/par',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      text: new URLSearchParams(authorizationParameters).toString(),
    });
    expect(await refusalOf(pushed)).toEqual(UNATTESTED);
    expect(await refusalOf(exchange(code))).toEqual(UNATTESTED);
  });

  it('that loses its registration during a sign-in is not redirected [T213]', async () => {
    const [moved, deleted] = [await beginAuthorization(), await beginAuthorization()];
    const before = operations().length;
    await change({ redirectUris: ['https://wallet.example/other'] });
    const unregistered = [
      'invalid_request',
      'redirect_uri must be one of the redirect URIs that are registered for the wallet',
    ];
    expect(await refusalOf(comeBack(moved, newPerson()))).toEqual(unregistered);
    await admin(deleteWallet, { params: { id: walletId } });
    // Without its registration it would have to ask for consent.
    expect(await refusalOf(comeBack(deleted, newPerson()))).toEqual(CHANGED);
    const recorded = () =>
      operations()
        .slice(before)
        .filter(({ prefix }) => prefix === 'OPENID_AUTHENTICATION_CALLBACK')
        .map((sent) => 'outcome' in sent && sent.outcome === 'FAIL' && sent.metadata)
        .map((metadata) => metadata && (metadata['error'] as { message: string }).message);
    await waitUntil(() => recorded().includes(CHANGED[1]), { what: 'FAIL of both' });
    expect(recorded().slice(-2)).toEqual([unregistered[1], CHANGED[1]]);
    walletId = (await admin(createWallet, { body: WALLET })).id;
  });

  it('of another tenant is unknown [T218]', async () => {
    const settings = (allowUnregisteredWallets: boolean | null) =>
      admin(updateOpenIdConfiguration, { body: { allowUnregisteredWallets } }, OTHER);
    expect(await settings(false)).toMatchObject({ allowUnregisteredWallets: false });
    expect(await refusalOf(beginAuthorization({}, OTHER))).toEqual([
      'unauthorized_client',
      'client_id must be the one of a wallet that is registered with this issuer',
    ]);
    expect(await settings(null)).toMatchObject({ allowUnregisteredWallets: true });
    // It has an https address, and no configuration.
    expect(await errorOf(beginAuthorization({}, OTHER))).toBe('invalid_scope');
    const own = 'wallet-of-one:/back';
    await change({ redirectUris: [own, BACK] });
    expect((await beginAuthorization({ redirect_uri: own })).location.host).toBe('login.example');
    expect(await refusalOf(beginAuthorization({ redirect_uri: own }, OTHER))).toEqual([
      'invalid_request',
      'redirect_uri must be an https URL, because the wallet is not registered with this issuer',
    ]);
  });

  it('keeps a root that has expired, and gets no other one [T211]', async () => {
    const [kept, other] = [await CustomerIaca.create(3), await CustomerIaca.create(3)];
    const { rootCertificates } = await change({ rootCertificates: [kept.certificatePem] });
    expect(rootCertificates).toEqual([kept.certificatePem]);
    service.ahead = 2 * 86_400_000;
    try {
      expect(await change({ rootCertificates, disabled: true })).toMatchObject({ disabled: true });
      const refused = await change({ rootCertificates: [...rootCertificates!, other.certificatePem] }).catch(
        (error: unknown) => error as AppError,
      );
      expect((refused as AppError).details).toEqual([
        {
          msg: expect.stringMatching(/^must not be expired: it ended at \d{4}-/),
          param: 'rootCertificates.1',
          location: 'body',
        },
      ]);
    } finally {
      service.ahead = 0;
    }
  });
});

describe('the interaction hook', () => {
  const HOOK = 'https://hook.example.com/visit';
  let secret: string;
  beforeAll(async () => {
    const body = { interactionHook: { url: HOOK, claims: ['given_name'], sessionTimeoutInSec: 60 } };
    const { interactionHook } = await admin(updateOpenIdConfiguration, { body });
    secret = interactionHook!.secret;
  });
  afterAll(() => admin(updateOpenIdConfiguration, { body: { interactionHook: null } }));

  const visit = async (person: string) => {
    const { location, cookie } = await beginAuthorization();
    const query = new URLSearchParams({ state: location.searchParams.get('state')!, code: person });
    const url = `/v1/oauth/authentication/callback?${query}`;
    const { $http } = (await raw(completeAuthorization, { url, headers: { cookie } })) as unknown as HttpAnswer;
    const address = new URL($http.headers!['location']!);
    expect(`${address.origin}${address.pathname}`).toBe(HOOK);
    const { state } = decodeJwt(address.searchParams.get('session_token')!);
    return { state: state as string, cookie: $http.headers!['set-cookie']!.split(';')[0]! };
  };
  const goOn = async ({ state, cookie }: Awaited<ReturnType<typeof visit>>, members: object = {}) => {
    const exp = Math.floor((Date.now() + service.ahead) / 1000) + 30;
    const token = await new SignJWT({ iss: HOOK, aud: ISSUER, state, exp, ...members })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(secret, 'base64'));
    const url = `/v1/oauth/interaction/callback?session_token=${token}`;
    return ((await raw(completeInteraction, { url, headers: { cookie } })) as unknown as HttpAnswer).$http;
  };

  it('is visited for as long as the settings say [T421]', async () => {
    const [early, late] = [await visit(newPerson()), await visit(newPerson())];
    service.ahead = 59_000;
    const { status, headers } = await goOn(early);
    expect([status, new URL(headers!['location']!).searchParams.has('code')]).toEqual([302, true]);
    service.ahead = 61_000;
    expect((await goOn(late)).status).toBe(400);
    service.ahead = 0;
  });

  it('of concurrent returns one gets a code [T421]', async () => {
    const visiting = await visit(newPerson());
    const answers = await Promise.all([1, 2, 3].map(() => goOn(visiting)));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 400, 400]);
  });

  it('adds claims that are stored nowhere in plain text, and only to this user [T422]', async () => {
    const [person, bystander] = [newPerson(), newPerson()];
    const claims = { given_name: 'Canary-Hook', level: 'Canary-Level' };
    const { headers } = await goOn(await visit(person), { claims, claimsToPersist: ['level'] });
    const code = new URL(headers!['location']!).searchParams.get('code')!;
    expect(await collect((await exchange(code)).access_token)).toMatchObject({ givenName: 'Canary-Hook' });
    const { id } = await userOf(person);
    expect(await admin(retrieveUser, { params: { id } })).toMatchObject({ claims: { level: 'Canary-Level' } });
    await goOn(await visit(bystander));
    expect((await userOf(bystander)).claims).toEqual({});
    const stored = JSON.stringify(await service.engines.events.readStream(`user-${TENANT}+${id}`));
    expect(stored).not.toContain('Canary');
  });
});
