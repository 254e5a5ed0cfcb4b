/** @engines embedded postgres */
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  authorize,
  beginSignIn,
  completeAuthorization,
  completeSignIn,
  createOffer,
  updateOpenIdConfiguration,
  mobileConfigurations,
  createClaimSource,
  createWallet,
  createPreAuthorizedOffer,
  createUser,
  deleteOffer,
  deleteUser,
  exchangeToken,
  issueCredential,
  issueNonce,
  jwtVcConfigurations,
  listUsers,
  recordSubject,
  type AccessTokenResponse,
  type HttpAnswer,
  type NonceResponse,
  type Offer,
  type PageOf,
  type PreAuthorizedOffer,
  type User,
} from '@attestry/contracts';
import { readEvent } from '@attestry/event-store';
import { isErased } from '@attestry/keys';
import { waitUntil } from '@attestry/testing';
import { IssuanceUnderTest, refusal } from '@attestry/testing/services';
import { SignJWT, type JWK } from 'jose';
import {
  authorizationOffer,
  authorizationOfferStream,
} from '../../sessions/authorization-offer/authorization-offer.state.js';
import { issuanceService } from '../../index.js';
import { SessionKeys } from '../../offers/session-keys/session-keys.js';

const { TENANT, OTHER, BACK } = IssuanceUnderTest;
const ISSUER = 'http://acme.localhost:8080';
const PROVIDER = randomUUID();
const VERIFIER = 'a-verifier-of-the-wallet-with-43-characters';
const DAY_MS = 86_400_000;

const service = new IssuanceUnderTest(issuanceService, {
  baseOf: () => ISSUER,
  subjects: [recordSubject('started', 'issuance'), recordSubject('record', 'issuance')],
});
let degree: string;
let pass: string;
/** Names of mapped claims that sign-ins sent. */
const mappedClaims: unknown[] = [];
// A simulated tenant-config service: the provider's code is the subject who signs in.
service.answer(beginSignIn, ({ body: { state } }) => ({
  providerId: PROVIDER,
  url: `https://login.example/authorize?state=${state}`,
}));
service.answer(completeSignIn, ({ body: { query, mappedClaims: mapped } }) => {
  mappedClaims.push(mapped);
  const subjectId = new URLSearchParams(query).get('code')!;
  const claims = { name: 'Zoe', degree: 'of the provider' };
  return { url: 'https://login.example', subjectId, claims, claimsToPersist: [] };
});
beforeAll(async () => {
  await service.open();
  const create = async (type: string, tenantId = TENANT) => {
    const claimMappings = { name: { mapFrom: 'claims.name' }, degree: { mapFrom: 'claims.degree' } };
    const body = { type, name: type, issuer: { name: 'Acme' }, claimMappings };
    return (await admin(jwtVcConfigurations.create, { body }, tenantId)).id;
  };
  degree = await create('Degree');
  pass = await create('Pass');
  await create('Degree', OTHER);
  for (const tenantId of [TENANT, OTHER])
    await admin(createWallet, { body: { name: 'Wallet', clientId: 'wallet', redirectUris: [BACK] } }, tenantId);
});
afterEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

const { admin, call: raw } = service;
const codeOf = async (attempt: Promise<unknown>) => (await refusal(attempt)).code;

// --- the tenant

const entry = (id: string, ...claimSets: object[]) => ({ credentialConfigurationId: id, claimSets });
const DEGREES = [
  { identifier: 'bachelor', claims: { degree: 'Canary-Bachelor' } },
  { identifier: 'master', claims: { degree: 'Canary-Master' } },
];
const offer = (body: object, tenantId = TENANT) =>
  admin(createOffer, { body: { credentials: [entry(degree, ...DEGREES), pass], ...body } }, tenantId) as Promise<
    Required<Offer>
  >;
const ADDRESSES = { uri: expect.any(String), uriByReference: expect.any(String), qrUrl: expect.any(String) };
const documentOf = (uri: string) =>
  JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: { authorization_code: { issuer_state?: string } } & Record<string, { 'pre-authorized_code': string }>;
  };
const stateOf = (uri: string) => documentOf(uri).grants.authorization_code.issuer_state!;

const preAuthorizedOffer = (body: object, tenantId = TENANT) =>
  admin(
    createPreAuthorizedOffer,
    { body: { credentials: [degree], ...body } },
    tenantId,
  ) as Promise<PreAuthorizedOffer>;

describe('a claim that nothing uses [T625]', () => {
  const UNUSED = 'is not used: no mapping of the credential configurations and no entry of claimsToPersist names it';
  const strictly = (strictClaims: boolean | null) => admin(updateOpenIdConfiguration, { body: { strictClaims } });
  const claimSet = (claims: object) => ({ credentials: [pass, entry(degree, { claims })] });
  afterEach(() => strictly(null));

  it('is named in the answer, with the claim that was probably meant and without its value', async () => {
    const made = await preAuthorizedOffer({ claims: { nam: 'Canary', other: 'Canary', degree: 'x' } });
    expect(made.warnings).toEqual([
      { param: 'claims.nam', msg: `${UNUSED}; did you mean "name"?` },
      { param: 'claims.other', msg: UNUSED },
    ]);
    expect(JSON.stringify(made.warnings)).not.toContain('Canary');
    const stored = await offer(claimSet({ degre: 'Canary' }));
    const msg = `is not used: no mapping of credential configuration ${degree} names it; did you mean "degree"?`;
    expect(stored.warnings).toEqual([{ param: 'credentials.1.claimSets.0.claims.degre', msg }]);
    const both = await preAuthorizedOffer({ ...claimSet({ degre: 1 }), claims: { nam: 1 } });
    expect(both.warnings?.map(({ param }) => param)).toEqual(['claims.nam', 'credentials.1.claimSets.0.claims.degre']);
  });

  it('is none that a mapping, claimsToPersist or a parameter of a claims source names', async () => {
    const authorization = { type: 'api-key', value: 'secret' };
    const url = 'https://claims.example.com/';
    const requestParameters = { q: { mapFrom: 'claims.student.number' } };
    const { id: claimSourceId } = await admin(createClaimSource, {
      body: { name: 's', url, authorization, requestParameters },
    });
    const { id: sourced } = await admin(jwtVcConfigurations.create, {
      body: { type: 'Sourced', name: 'Sourced', issuer: { name: 'Acme' }, claimMappings: {}, claimSourceId },
    });
    const { id: dated } = await admin(mobileConfigurations.create, {
      body: {
        ...{ type: 'org.example.dated', expiresIn: { days: 1 }, validUntil: { mapFrom: 'claims.until' } },
        claimMappings: { 'org.example.1': { city: { mapFrom: 'claims.address.city' } } },
      },
    });
    for (const body of [
      { claims: { name: 'x', degree: 'x' } },
      { claims: { kept: 'x' }, claimsToPersist: ['kept'] },
      { credentials: [sourced], claims: { student: { number: '1' } } },
      {
        credentials: [dated],
        claims: { until: new Date(Date.now() + 2 * 86_400_000).toISOString(), address: { city: 'x' } },
      },
      {},
    ])
      expect([body, await preAuthorizedOffer(body)]).toEqual([
        body,
        expect.not.objectContaining({ warnings: expect.anything() }),
      ]);
    expect(await offer({})).not.toHaveProperty('warnings');
  });

  it('is refused in every offer where the tenant has strictClaims, which stores nothing', async () => {
    expect(await strictly(true)).toMatchObject({ strictClaims: true });
    const before = (await allEvents()).length;
    const refused = (attempt: Promise<unknown>) => refusal(attempt).then(({ details }) => details);
    expect(await refused(preAuthorizedOffer({ claims: { nam: 'Canary' } }))).toEqual([
      { param: 'claims.nam', msg: `${UNUSED}; did you mean "name"?`, location: 'body' },
    ]);
    expect(await refused(offer(claimSet({ degre: 'Canary' })))).toMatchObject([
      { param: 'credentials.1.claimSets.0.claims.degre', location: 'body' },
    ]);
    expect(await allEvents()).toHaveLength(before);
    expect(await preAuthorizedOffer({ claims: { name: 'x' } })).toMatchObject({ id: expect.any(String) as string });
    expect(await strictly(false)).toMatchObject({ strictClaims: false });
    expect((await preAuthorizedOffer({ claims: { nam: 1 } })).warnings).toHaveLength(1);
  });
});

// --- the browser and the wallet

const beginAuthorization = async (more: Record<string, string>, tenantId = TENANT) => {
  const query = new URLSearchParams({
    response_type: 'code',
    ...{ client_id: 'wallet', redirect_uri: BACK, scope: 'jwt_vc_json:Degree jwt_vc_json:Pass' },
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  });
  const answer = (await raw(authorize, { url: `/v1/oauth/authorize?${query}` }, tenantId)) as unknown as HttpAnswer;
  const { location, 'set-cookie': cookie } = answer.$http.headers!;
  return { location: new URL(location!), cookie: cookie?.split(';')[0] ?? '' };
};
type Begun = Awaited<ReturnType<typeof beginAuthorization>>;
const comeBack = async ({ location, cookie }: Begun, person: string): Promise<URLSearchParams> => {
  const query = new URLSearchParams({ state: location.searchParams.get('state')!, code: person });
  const url = `/v1/oauth/authentication/callback?${query}`;
  const answer = (await raw(completeAuthorization, { url, headers: { cookie } })) as unknown as HttpAnswer;
  return new URL(answer.$http.headers!['location']!).searchParams;
};
const signIn = async (person: string, more: Record<string, string>): Promise<string> => {
  const back = await comeBack(await beginAuthorization(more), person);
  expect(back.get('error_description')).toBeNull();
  return back.get('code')!;
};
const token = (form: Record<string, string>) =>
  raw(exchangeToken, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    text: new URLSearchParams(form).toString(),
  }) as Promise<AccessTokenResponse>;
const exchange = (code: string, more: Record<string, string> = {}) =>
  token({
    grant_type: 'authorization_code',
    ...{ client_id: 'wallet', redirect_uri: BACK, code_verifier: VERIFIER, code, ...more },
  });
const redeem = ({ uri }: PreAuthorizedOffer, more: Record<string, string> = {}) => {
  const grant = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
  const code = documentOf(uri).grants[grant]!['pre-authorized_code'];
  return token({ grant_type: grant, 'pre-authorized_code': code, ...more });
};
const holder = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const collect = async (
  { access_token: accessToken }: AccessTokenResponse,
  selector: { credential_identifier: string } | { credential_configuration_id: string },
): Promise<Record<string, unknown>> => {
  const { $http } = (await raw(issueNonce, {})) as unknown as HttpAnswer;
  const { c_nonce: nonce } = $http.body as NonceResponse;
  const proof = await new SignJWT({ aud: ISSUER, iat: Math.floor((Date.now() + service.ahead) / 1000), nonce })
    .setProtectedHeader({
      alg: 'ES256',
      typ: 'openid4vci-proof+jwt',
      jwk: holder.publicKey.export({ format: 'jwk' }) as JWK,
    })
    .sign(holder.privateKey);
  const { credentials } = await raw(issueCredential, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
    text: JSON.stringify({ ...selector, proofs: { jwt: [proof] } }),
  });
  const payload = (credentials[0]!.credential as string).split('.')[1]!;
  const { vc } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    vc: { credentialSubject: Record<string, unknown> };
  };
  const { id: _, ...subject } = vc.credentialSubject;
  return subject;
};
const byIdentifier = (answer: AccessTokenResponse, credential_identifier: string) =>
  collect(answer, { credential_identifier });

const filesText = (): string =>
  readdirSync(service.folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
    .join('');
const allEvents = async () => {
  const events: unknown[] = [];
  for (let after: string | undefined; ;) {
    const page = await service.engines.events.readAll({ ...(after !== undefined && { after }), limit: 1000 });
    events.push(...page.events);
    if (page.events.length === 0) return events;
    after = page.events.at(-1)!.position;
  }
};

describe('a pre-authorized offer with claim sets', () => {
  const preAuthorized = (body: object = {}) =>
    admin(createPreAuthorizedOffer, {
      body: { credentials: [entry(degree, ...DEGREES, { claims: { degree: 'Doctor' } }), pass], ...body },
    });

  it('gives each claim set a credential of its own, after the claims of user and offer [T271, T272]', async () => {
    const { id: userId } = await admin(createUser, {
      body: { claims: { name: 'of the user', degree: 'of the user' } },
    });
    const answer = await redeem(await preAuthorized({ userId, claims: { degree: 'of the offer' } }));
    const [ofDegree, ofPass] = answer.authorization_details!;
    expect(answer.authorization_details).toEqual([
      {
        type: 'openid_credential',
        credential_configuration_id: degree,
        credential_identifiers: ['bachelor', 'master', expect.stringMatching(/^[0-9a-f-]{36}$/)],
      },
      {
        type: 'openid_credential',
        credential_configuration_id: pass,
        credential_identifiers: [expect.stringMatching(/^[0-9a-f-]{36}$/)],
      },
    ]);
    const name = 'of the user';
    expect(await byIdentifier(answer, 'bachelor')).toEqual({ name, degree: 'Canary-Bachelor' });
    expect(await byIdentifier(answer, 'master')).toEqual({ name, degree: 'Canary-Master' });
    expect(await byIdentifier(answer, ofDegree!.credential_identifiers[2]!)).toEqual({ name, degree: 'Doctor' });
    expect(await byIdentifier(answer, ofPass!.credential_identifiers[0]!)).toEqual({ name, degree: 'of the offer' });
  });

  it('is collected by the identifiers of the token response only [T272]', async () => {
    const answer = await redeem(await preAuthorized());
    const unknown = await refusal(byIdentifier(answer, 'doctor'));
    expect([unknown.code, unknown.message]).toEqual([
      'unknown_credential_identifier',
      'credential_identifier is not one that the token response returned',
    ]);
    expect(await codeOf(collect(answer, { credential_configuration_id: degree }))).toBe('invalid_credential_request');
  });

  it('refuses authorization_details, and its code stays valid [T80]', async () => {
    const offered = await preAuthorized();
    const details = [{ type: 'openid_credential', credential_configuration_id: degree }];
    const error = await refusal(redeem(offered, { authorization_details: JSON.stringify(details) }));
    expect([error.code, error.message]).toEqual([
      'invalid_authorization_details',
      'authorization_details must not be sent: the issuer chose the credentials of the offer',
    ]);
    expect((await redeem(offered)).authorization_details).toHaveLength(2);
  });

  it('leaves its claims with the user when they are deleted [T279]', async () => {
    const offered = await preAuthorized();
    const answer = await redeem(offered);
    await admin(deleteUser, { params: { id: offered.userId } });
    expect(await codeOf(byIdentifier(answer, 'master'))).toBe('credential_request_denied');
  });
});

describe('a sign-in', () => {
  it('names the claims that the requested configurations and their claims sources map [T637]', async () => {
    const authorization = { type: 'api-key', value: 'secret' };
    const requestParameters = { q: { mapFrom: 'claims.student.number', defaultValue: 'x' }, f: { defaultValue: 'x' } };
    const { id: claimSourceId } = await admin(createClaimSource, {
      body: { name: 'of the sign-in', url: 'https://claims.example.com/', authorization, requestParameters },
    });
    const claimMappings = {
      street: { mapFrom: 'claims.address.street' },
      town: { mapFrom: 'claims.address.town' },
      subject: { mapFrom: 'authenticationProvider.subjectId' },
      fixed: { defaultValue: 'x' },
    };
    await admin(jwtVcConfigurations.create, {
      body: { type: 'Enrolled', name: 'Enrolled', issuer: { name: 'Acme' }, claimMappings, claimSourceId },
    });
    await signIn(randomUUID(), { scope: 'jwt_vc_json:Enrolled' });
    expect(mappedClaims.at(-1)).toEqual(['address', 'student']);
    await signIn(randomUUID(), { scope: 'jwt_vc_json:Enrolled jwt_vc_json:Degree' });
    expect(new Set(mappedClaims.at(-1) as string[])).toEqual(new Set(['address', 'student', 'name', 'degree']));
  });
});

describe('an offer of the authorization code flow with claim sets', () => {
  it('is named by issuer_state, and binds its claim sets for each person who signs in [T274, T275]', async () => {
    const before = Date.now();
    const made = await offer({});
    expect(made).toEqual({ ...ADDRESSES, id: expect.any(String), expiresAt: expect.any(String) });
    expect(Date.parse(made.expiresAt) - before).toBeGreaterThanOrEqual(30 * DAY_MS);
    expect(Date.parse(made.expiresAt) - before).toBeLessThan(30 * DAY_MS + 60_000);
    expect(documentOf(made.uri).grants).toEqual({
      authorization_code: { issuer_state: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/) },
    });
    for (const person of [randomUUID(), randomUUID()]) {
      const answer = await exchange(await signIn(person, { issuer_state: stateOf(made.uri) }));
      expect(answer.authorization_details!.map((one) => one.credential_configuration_id)).toEqual([degree, pass]);
      expect(answer.authorization_details![0]!.credential_identifiers).toEqual(['bachelor', 'master']);
      expect(await byIdentifier(answer, 'bachelor')).toEqual({ name: 'Zoe', degree: 'Canary-Bachelor' });
      const [ofPass] = answer.authorization_details![1]!.credential_identifiers;
      expect(await byIdentifier(answer, ofPass!)).toEqual({ name: 'Zoe', degree: 'of the provider' });
    }
  });

  it('binds nothing without the echo, and stores nothing without claim sets, user or expiry [T274, T275]', async () => {
    await offer({});
    const answer = await exchange(await signIn(randomUUID(), {}));
    expect(answer.authorization_details).toBeUndefined();
    expect(await collect(answer, { credential_configuration_id: degree })).toEqual({
      name: 'Zoe',
      degree: 'of the provider',
    });
    const events = (await allEvents()).length;
    expect(await offer({ credentials: [degree] })).toEqual(ADDRESSES);
    expect(await allEvents()).toHaveLength(events);
  });

  it('leaves out what is not requested [T275]', async () => {
    const { uri } = await offer({ credentials: [entry(degree, ...DEGREES), entry(pass, { claims: {} })] });
    const issuer_state = stateOf(uri);
    const answer = await exchange(await signIn(randomUUID(), { issuer_state, scope: 'jwt_vc_json:Degree' }));
    expect(answer.authorization_details).toEqual([
      {
        type: 'openid_credential',
        credential_configuration_id: degree,
        credential_identifiers: ['bachelor', 'master'],
      },
    ]);
    const other = await offer({ credentials: [degree], expiresAt: new Date(Date.now() + DAY_MS).toISOString() });
    const narrowed = await exchange(await signIn(randomUUID(), { issuer_state: stateOf(other.uri) }));
    expect([narrowed.scope, narrowed.authorization_details]).toEqual(['jwt_vc_json:Degree', undefined]);
  });

  it('has an identifier also for an entry without claim sets that is requested alone [T80, T271]', async () => {
    const { uri } = await offer({});
    const code = await signIn(randomUUID(), { issuer_state: stateOf(uri), scope: 'jwt_vc_json:Pass' });
    const authorization_details = JSON.stringify([{ type: 'openid_credential', credential_configuration_id: pass }]);
    expect(await codeOf(exchange(code, { authorization_details }))).toBe('invalid_authorization_details');
    const answer = await exchange(code);
    expect(answer.authorization_details).toEqual([
      {
        type: 'openid_credential',
        credential_configuration_id: pass,
        credential_identifiers: [expect.stringMatching(/^[0-9a-f-]{36}$/)],
      },
    ]);
    const [ofPass] = answer.authorization_details![0]!.credential_identifiers;
    expect(await byIdentifier(answer, ofPass!)).toEqual({ name: 'Zoe', degree: 'of the provider' });
  });

  it('refuses authorization_details of the token request, not of the authorization request [T80]', async () => {
    const { uri } = await offer({});
    const authorization_details = JSON.stringify([{ type: 'openid_credential', credential_configuration_id: degree }]);
    const request = { issuer_state: stateOf(uri), scope: '', authorization_details };
    const code = await signIn(randomUUID(), request);
    expect(await codeOf(exchange(code, { authorization_details }))).toBe('invalid_authorization_details');
    expect((await exchange(code)).authorization_details![0]!.credential_identifiers).toEqual(['bachelor', 'master']);
  });

  it('ends an authorization request that names no current offer of the tenant [T276]', async () => {
    const { uri, id } = await offer({});
    const issuer_state = stateOf(uri);
    const expected = ['invalid_request', 'issuer_state names no current offer of this issuer'];
    const answerTo = async (more: Record<string, string>) => {
      const { location, cookie } = await beginAuthorization(more);
      return [location.searchParams.get('error'), location.searchParams.get('error_description'), cookie].filter(
        Boolean,
      );
    };
    expect(await answerTo({ issuer_state: 'x' })).toEqual(expected);
    expect(await answerTo({ issuer_state: `${issuer_state.slice(0, -2)}AA` })).toEqual(expected);
    const theirs = await beginAuthorization({ issuer_state, scope: 'jwt_vc_json:Degree' }, OTHER);
    expect(theirs.location.searchParams.get('error_description')).toBe(expected[1]);
    service.ahead = 30 * DAY_MS + 1000;
    expect(await answerTo({ issuer_state })).toEqual(expected);
    service.ahead = 0;
    const pending = await beginAuthorization({ issuer_state });
    await admin(deleteOffer, { params: { id } });
    expect(await answerTo({ issuer_state })).toEqual(expected);
    const late = await comeBack(pending, randomUUID());
    expect([late.get('error'), late.get('error_description')]).toEqual([
      'access_denied',
      'the offer was deleted or has expired',
    ]);
  });

  it('is for one person, where it names one [T277]', async () => {
    const person = randomUUID();
    await exchange(await signIn(person, {}));
    const userOf = async (subjectId: string) => {
      const { data } = (await admin(listUsers, { query: { limit: 1000 } })) as PageOf<User>;
      return data.find(({ authenticationProvider }) => authenticationProvider?.subjectId === subjectId);
    };
    const { id: userId } = await waitUntil(() => userOf(person));
    const { uri, id } = await offer({ userId });
    const issuer_state = stateOf(uri);
    const refused = await comeBack(await beginAuthorization({ issuer_state }), randomUUID());
    expect([refused.get('code'), refused.get('error'), refused.get('error_description')]).toEqual([
      null,
      'access_denied',
      'the offer is for another person',
    ]);
    const answer = await exchange(await signIn(person, { issuer_state }));
    expect(await byIdentifier(answer, 'master')).toEqual({ name: 'Zoe', degree: 'Canary-Master' });
    // The claims of the offer are theirs, too [T279].
    await admin(deleteUser, { params: { id: userId } });
    expect(await codeOf(byIdentifier(answer, 'master'))).toBe('credential_request_denied');
    expect(await storedClaimSets(id)).toBe('erased');
    const again = await comeBack(await beginAuthorization({ issuer_state }), person);
    expect(again.get('error')).toBe('access_denied');
  });

  it('gives a person at most 20 sessions an hour, and others theirs [T483]', async () => {
    const { uri } = await offer({ credentials: [entry(degree, ...DEGREES)] });
    const [person, request] = [randomUUID(), { issuer_state: stateOf(uri), scope: 'jwt_vc_json:Degree' }];
    for (let n = 0; n < 20; n++) await signIn(person, request);
    const events = (await allEvents()).length;
    const refused = await comeBack(await beginAuthorization(request), person);
    expect([refused.get('code'), refused.get('error'), refused.get('error_description')]).toEqual([
      null,
      'temporarily_unavailable',
      'a person can sign in with an offer at most 20 times an hour',
    ]);
    expect(await allEvents()).toHaveLength(events);
    await signIn(person, { scope: 'jwt_vc_json:Degree' });
    await signIn(randomUUID(), request);
  });

  it('is refused with a user who never signed in with the provider [T622]', async () => {
    const { id: created } = await admin(createUser, { body: { claims: { name: 'Zoe' } } });
    // A user who began with an offer is refused too.
    const { userId: begun } = await admin(createPreAuthorizedOffer, { body: { credentials: [pass] } });
    for (const userId of [created, begun])
      for (const body of [{ userId }, { userId, credentials: [pass] }])
        expect((await refusal(offer(body))).details).toEqual([
          {
            value: userId,
            msg: 'must be a user who has signed in with the authentication provider, as the user of this offer does; use a pre-authorized offer for this user',
            param: 'userId',
            location: 'body',
          },
        ]);
  });

  it('is refused with a user that the tenant does not have', async () => {
    const error = await refusal(offer({ userId: TENANT }));
    expect(error.details).toEqual([
      { value: TENANT, msg: 'must be a user of this tenant', param: 'userId', location: 'body' },
    ]);
    expect(await codeOf(offer({}, OTHER))).toBe('BadRequest');
  });

  it('is deleted once, by its tenant; sessions that were authorized before keep their claims [T278]', async () => {
    const { uri, id } = await offer({});
    const answer = await exchange(await signIn(randomUUID(), { issuer_state: stateOf(uri) }));
    expect(await storedClaimSets(id)).toContain('Canary-Master');
    expect(await codeOf(admin(deleteOffer, { params: { id } }, OTHER))).toBe('NotFound');
    await admin(deleteOffer, { params: { id } });
    expect(await storedClaimSets(id)).toBe('erased');
    expect(await codeOf(admin(deleteOffer, { params: { id } }))).toBe('NotFound');
    expect(await byIdentifier(answer, 'master')).toEqual({ name: 'Zoe', degree: 'Canary-Master' });
  });

  it('loses its claims after its end [T278]', async () => {
    const expiresAt = new Date(Date.now() + 2 * DAY_MS).toISOString();
    const short = await offer({ expiresAt });
    const long = await offer({});
    expect(short.expiresAt).toBe(expiresAt);
    const keys = service.get(SessionKeys);
    service.ahead = 2 * DAY_MS + 120_000;
    await keys.sweep();
    expect(await storedClaimSets(short.id)).toBe('erased');
    expect(await storedClaimSets(long.id)).toContain('Canary-Master');
    expect(await codeOf(admin(deleteOffer, { params: { id: short.id } }))).toBe('NotFound');
  });

  it('stores claims and secrets encrypted only [T273]', async () => {
    const made = await offer({});
    await exchange(await signIn(randomUUID(), { issuer_state: stateOf(made.uri) }));
    const text = `${JSON.stringify([...(await allEvents()), ...service.messages.map(({ data }) => data)])}${filesText()}`;
    expect(text).toContain(made.id);
    for (const secret of ['Canary', stateOf(made.uri)]) expect(text).not.toContain(secret);
    expect(decodeURIComponent(made.uri)).not.toContain('Canary');
  });
});

/** Claim sets of an offer, from its first event. */
const storedClaimSets = async (offerId: string): Promise<string> => {
  const [stored] = await service.engines.events.readStream(authorizationOfferStream(TENANT, offerId));
  const event = readEvent(authorizationOffer, stored!);
  if (event.type !== 'AuthorizationOfferCreated') throw new Error(event.type);
  const text = await service.engines.vault.sealing.openStored(TENANT, 'session', event.data.storedClaimSets!);
  return isErased(text) ? 'erased' : text;
};
