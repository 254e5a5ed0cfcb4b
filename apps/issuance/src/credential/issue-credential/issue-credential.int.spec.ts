/** @engines embedded postgres */
import { createPublicKey, randomUUID, verify } from 'node:crypto';
import {
  AppError,
  compactConfigurations,
  compactSemanticConfigurations,
  createUser,
  customDomainVerified,
  customDomainWithdrawn,
  OPERATION_SUBJECTS,
  jwtVcConfigurations,
  listUserCredentials,
  updateUser,
  webhookDeleted,
  webhookSaved,
  webSemanticConfigurations,
  type PageOf,
  type UserCredential,
} from '@attestry/contracts';
import { encodeDidJwk, encodeDidKey, isErased } from '@attestry/keys';
import { type Reactions } from '@attestry/service-kit';
import { decodeCwt, waitUntil } from '@attestry/testing';
import {
  CredentialFlow,
  IssuanceUnderTest,
  makeWalletKey,
  refusal,
  refusalCode,
  type Binding,
} from '@attestry/testing/services';
import { DeliveryInterest } from '../../registry/delivery-interest/delivery-interest.directory.js';
import { issuanceService } from '../../index.js';
import type { CredentialIssuedData } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import type { CredentialRecordedData } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';

const { TENANT, OTHER } = IssuanceUnderTest;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const service = new CredentialFlow(issuanceService);
const { admin, makeOffer: offer, codeOf, exchange: redeem, nonceFor, prove, collect } = service;
const {
  configureFormat: configure,
  begin: start,
  retrieveDocument,
  verified,
  outcomes,
  records,
  messages: issued,
  issuerKeys,
} = service;
const eventually = (condition: () => boolean | Promise<boolean>) => waitUntil(condition, { intervalMs: 1 });
let jwtVc: string;
let ldpVc: string;

beforeAll(async () => {
  await service.open();
  jwtVc = await configure('jwt_vc_json', 'Course');
  ldpVc = await configure('ldp_vc', 'Course');
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('the credential endpoint', () => {
  it.each<['ES256' | 'EdDSA', Binding]>([
    ['ES256', 'did:key'],
    ['ES256', 'did:jwk'],
    ['ES256', 'jwk'],
    ['EdDSA', 'did:key'],
    ['EdDSA', 'did:jwk'],
    ['EdDSA', 'jwk'],
  ])('binds the credential to %s by %s', async (alg, binding) => {
    const holder = makeWalletKey(alg === 'ES256' ? 'P-256' : 'Ed25519');
    const { made, token } = await start(jwtVc, { claims: { given_name: 'Ada', address: { city: 'London' } } });
    const proofs = { jwt: [await prove(holder, await nonceFor(), binding)] };
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
    const request = `request-${service.requests}`;
    const payload = await verified(credentials[0]!.credential);
    const did = binding === 'did:key' ? encodeDidKey(holder.jwk) : encodeDidJwk(holder.jwk);
    expect(payload).toMatchObject({
      iss: issuerKeys.get('P-256')!.did,
      sub: did,
      jti: expect.stringMatching(/^urn:uuid:/) as string,
      vc: {
        '@context': ['https://www.w3.org/2018/credentials/v1'],
        type: ['VerifiableCredential', 'Course'],
        credentialSubject: { id: did, givenName: 'Ada', city: 'London', level: 3, nick: 'none' },
      },
    });
    expect(payload.exp - payload.nbf).toBeGreaterThan(364 * 86400);
    await eventually(() => issued.some(({ data }) => (data as { sessionId: string }).sessionId === made.id));
    await eventually(() => outcomes(request).length > 0);
    expect(outcomes(request)).toEqual(['OPENID_CREDENTIAL_SUCCESS']);
  });

  it('issues a batch of three, one for each key', async () => {
    const holders = [makeWalletKey(), makeWalletKey('Ed25519'), makeWalletKey()];
    const { made, token } = await start(jwtVc);
    const nonce = await nonceFor();
    const jwt = await Promise.all(holders.map((holder) => prove(holder, nonce)));
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs: { jwt } });
    const subjects = await Promise.all(credentials.map(async ({ credential }) => (await verified(credential)).sub));
    expect(subjects).toEqual(holders.map(({ jwk }) => encodeDidJwk(jwk)));
    const events = (await service.engines.events.readStream(issuanceSessionStream(TENANT, made.id))).filter(
      ({ type }) => type === 'CredentialIssued',
    );
    expect(events).toHaveLength(3);
    expect(new Set(events.map(({ data }) => (data as { answerId: string }).answerId)).size).toBe(1);
    expect(JSON.stringify(events)).not.toContain('Ada');
  });

  it('refuses the same key twice and more than ten proofs', async () => {
    const { token } = await start(jwtVc);
    const nonce = await nonceFor();
    const holder = makeWalletKey();
    const twice = [await prove(holder, nonce, 'jwk'), await prove(holder, nonce, 'did:key')];
    const ask = (jwt: unknown[]) => collect(token, { credential_configuration_id: jwtVc, proofs: { jwt } });
    expect(await refusalCode(ask(twice))).toBe('invalid_proof');
    expect(await refusalCode(ask(Array.from({ length: 11 }, () => twice[0])))).toBe('invalid_credential_request');
    expect((await ask([twice[0]])).credentials).toHaveLength(1);
  });

  it('accepts a nonce once, and a token repeatedly', async () => {
    const { token } = await start(jwtVc);
    const nonce = await nonceFor();
    const ask = async (value: string) =>
      collect(token, { credential_configuration_id: jwtVc, proofs: { jwt: [await prove(makeWalletKey(), value)] } });
    const tries = await Promise.allSettled([ask(nonce), ask(nonce), ask(nonce)]);
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await refusalCode(ask(nonce))).toBe('invalid_nonce');
    // The last character of a MAC has spellings that decode alike.
    const respelt = (text: string) => text.slice(0, -1) + ALPHABET[ALPHABET.indexOf(text.at(-1)!) ^ 1]!;
    expect(await refusalCode(ask(respelt(nonce)))).toBe('invalid_nonce');
    const fresh = await nonceFor();
    expect(await refusalCode(ask(respelt(fresh)))).toBe('invalid_nonce');
    expect((await ask(fresh)).credentials).toHaveLength(1);
    expect(await refusalCode(ask(await nonceFor(OTHER)))).toBe('invalid_nonce');
    const old = await nonceFor();
    service.ahead = 300_000;
    expect(await refusalCode(redeemLater(old, token))).toBe('invalid_token');
  });
  const redeemLater = async (nonce: string, token: string) =>
    collect(token, { credential_configuration_id: jwtVc, proofs: { jwt: [await prove(makeWalletKey(), nonce)] } });

  it('refuses an expired nonce', async () => {
    const made = await offer({ credentials: [jwtVc], expiresIn: { minutes: 10 } });
    const nonce = await nonceFor();
    service.ahead = 301_000;
    const { access_token: token } = await redeem(codeOf(made));
    expect(await refusalCode(redeemLater(nonce, token))).toBe('invalid_nonce');
  });

  it('refuses tokens of another tenant and modified ones', async () => {
    const { token } = await start(jwtVc);
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const body = { credential_configuration_id: jwtVc, proofs };
    const foreign = await refusal(collect(token, body, OTHER));
    expect([foreign.kind, foreign.code, foreign.headers]).toEqual([
      'unauthenticated',
      'invalid_token',
      {
        'www-authenticate': 'Bearer error="invalid_token", error_description="the access token is not valid"',
      },
    ]);
    const changed = `${token.slice(0, -4)}${token.endsWith('AAAA') ? 'BBBA' : 'AAAA'}`;
    expect(await refusalCode(collect(changed, body))).toBe('invalid_token');
    expect(await refusalCode(collect(codeOf(await offer({ credentials: [jwtVc] })), body))).toBe('invalid_token');
    expect((await collect(token, body)).credentials).toHaveLength(1);
  });

  it('distinguishes unknown configurations from those the token does not cover', async () => {
    const { token } = await start(jwtVc);
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const insufficient = await refusal(collect(token, { credential_configuration_id: ldpVc, proofs }));
    expect([insufficient.kind, insufficient.code]).toEqual(['forbidden', 'insufficient_scope']);
    for (const id of [TENANT, 'foo'])
      expect(await refusalCode(collect(token, { credential_configuration_id: id, proofs }))).toBe(
        'unknown_credential_configuration',
      );
  });

  it('returns unknown_credential_configuration for a configuration deleted meanwhile', async () => {
    const id = await configure('jwt_vc_json', 'Short');
    const { token } = await start(id);
    await admin(jwtVcConfigurations.delete, { params: { id } });
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    expect(await refusalCode(collect(token, { credential_configuration_id: id, proofs }))).toBe(
      'unknown_credential_configuration',
    );
  });

  it('issues no more credentials than the configuration allows per session', async () => {
    const id = await configure('jwt_vc_json', 'Capped', { maxIssuances: 2 });
    const { token } = await start(id);
    const ask = async (count: number) => {
      const nonce = await nonceFor();
      const jwt = await Promise.all(Array.from({ length: count }, () => prove(makeWalletKey(), nonce)));
      return collect(token, { credential_configuration_id: id, proofs: { jwt } });
    };
    expect(await refusalCode(ask(3))).toBe('credential_request_denied');
    const tries = await Promise.allSettled([ask(1), ask(1), ask(1), ask(1)]);
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await refusalCode(ask(1))).toBe('credential_request_denied');
  });

  it('signs linked data and refuses claims that are not valid linked data', async () => {
    const { token } = await start(ldpVc);
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: ldpVc, proofs });
    expect(credentials[0]!.credential).toMatchObject({
      '@context': ['https://www.w3.org/ns/credentials/v2', service.engines.config.contextUrl],
      type: ['VerifiableCredential', 'Course'],
      proof: {
        type: 'DataIntegrityProof',
        cryptosuite: 'eddsa-rdfc-2022',
        proofValue: expect.stringMatching(/^z/) as string,
      },
    });
    const claims = { given_name: { '@id': 'http://x' } };
    const fault = 'givenName must not have a member name that starts with @, which JSON-LD reserves';
    expect((await refusal(offer({ credentials: [ldpVc], claims }))).details).toMatchObject([
      { param: 'claims', msg: `must fit credential configuration ${ldpVc}: ${fault}` },
    ]);
    const { id: userId } = (await admin(createUser, { body: { claims: { given_name: 'Ada' } } })) as { id: string };
    const { token: bad } = await start(ldpVc, { claims: {}, userId });
    await admin(updateUser, { params: { id: userId }, body: { claims } });
    const again = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const denied = await refusal(collect(bad, { credential_configuration_id: ldpVc, proofs: again }));
    expect([denied.code, denied.message]).toEqual(['credential_request_denied', fault]);
  });

  it.each([
    ['cwt', 'compact', 'CSC:/1/', compactConfigurations],
    ['cwt_vc', 'compact-semantic', 'CSS:/1/', compactSemanticConfigurations],
  ] as const)(
    'issues a batch of %s (%s), bound to the key of each proof',
    async (format, profile, prefix, operations) => {
      const issuedTo = async (userId: string) =>
        ((await admin(listUserCredentials, { params: { userId } })) as PageOf<UserCredential>).data;
      const claimMappings = {
        given_name: { mapFrom: 'claims.given_name', required: true },
        level: { mapFrom: 'claims.level', defaultValue: 3 },
      };
      const request = { type: 'Compact', claimMappings, expiresIn: { days: 30 } };
      const { id } = (await admin(operations.create, { body: request })) as { id: string };
      const { made, token } = await start(id);
      const holders = [makeWalletKey(), makeWalletKey('Ed25519'), makeWalletKey()];
      const nonce = await nonceFor();
      const [first, second, third] = await Promise.all([
        prove(holders[0]!, nonce, 'did:key'),
        prove(holders[1]!, nonce, 'did:key'),
        prove(holders[2]!, nonce, 'jwk'),
      ]);
      const proofs = { jwt: [first, second, third] };
      const { credentials } = await collect(token, { credential_configuration_id: id, proofs });
      const decoded = await Promise.all(credentials.map(({ credential }) => decodeCwt(credential as string)));
      const key = createPublicKey({ key: issuerKeys.get('P-256')!.publicJwk as never, format: 'jwk' });
      for (const { prefix: got, kid, signed, signature, claims } of decoded) {
        expect([got, kid, claims.get(1)]).toEqual([prefix, 'k123456789', 'did:web:acme.example']);
        expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
        const own =
          format === 'cwt'
            ? Object.fromEntries(claims)
            : (claims.get('vc') as Record<string, object>)['credentialSubject'];
        expect(own).toMatchObject({ given_name: 'Ada', level: 3 });
      }
      expect(decoded.map(({ claims }) => claims.get(2))).toEqual([
        encodeDidKey(holders[0]!.jwk),
        encodeDidKey(holders[1]!.jwk),
        encodeDidJwk(holders[2]!.jwk),
      ]);
      // Times are rounded, so that they do not link the credentials.
      expect(decoded.map(({ claims }) => (claims.get(5) as number) % 3600)).toEqual([0, 0, 0]);
      await eventually(async () => (await issuedTo(made.userId)).length === 3);
      const issuedOnes = await issuedTo(made.userId);
      expect(issuedOnes.map((one) => one.id.replaceAll('-', '')).sort()).toEqual(
        decoded.map(({ claims }) => Buffer.from(claims.get(7) as Uint8Array).toString('hex')).sort(),
      );
      for (const one of issuedOnes) expect(one).toMatchObject({ format, profile, type: 'Compact' });
      await admin(operations.delete, { params: { id } });
    },
  );

  it('refuses a claim of a cwt that is an object, of the offer at once, later at the credential endpoint [T435, T436]', async () => {
    const claimMappings = { given_name: { mapFrom: 'claims.given_name' } };
    const body = { type: 'Scalars', claimMappings };
    const { id } = (await admin(compactConfigurations.create, { body })) as { id: string };
    const fault = 'given_name must be a boolean, a string or a number, not an object';
    const claims = { given_name: { canary: 1 } };
    expect((await refusal(offer({ credentials: [id], claims }))).details).toEqual([
      {
        msg: `must fit credential configuration ${id}: ${fault}`,
        param: 'claims',
        location: 'body',
      },
    ]);
    const { id: userId } = (await admin(createUser, {})) as { id: string };
    const { token } = await start(id, { userId, claims: {} });
    await admin(updateUser, { params: { id: userId }, body: { claims } });
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor(), 'did:key')] };
    const denied = await refusal(collect(token, { credential_configuration_id: id, proofs }));
    expect([denied.code, denied.message]).toEqual(['credential_request_denied', fault]);
    await admin(compactConfigurations.delete, { params: { id } });
  });

  it('stores the credential for delivery only while a webhook subscribes to it', async () => {
    const webhookId = '33333333-3333-4333-8333-333333333333';
    const publish = (id: string, type: typeof webhookSaved | typeof webhookDeleted, data: object) =>
      service.engines.bus.publish([{ id, subject: type.subject, data: { tenantId: TENANT, webhookId, ...data } }]);
    const issueOne = async () => {
      const { made, token } = await start(jwtVc);
      const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
      const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
      const stored = await service.engines.events.readStream(issuanceSessionStream(TENANT, made.id));
      const counted = stored.find(({ type }) => type === 'CredentialIssued')!;
      const { credentialId, documentKeyId } = counted.data as CredentialIssuedData;
      const [recorded] = await service.engines.events.readStream(issuedCredentialStream(TENANT, credentialId));
      const { document: kept, ...facts } = recorded!.data as CredentialRecordedData;
      expect(documentKeyId).toBe(kept?.keyId);
      expect(service.engines.events.comparePositions(recorded!.position, counted.position)).toBeLessThan(0);
      const { issuerDid, verificationMethod } = facts;
      expect(facts).toMatchObject({ credentialId, sessionId: made.id, offerId: made.id, userId: made.userId });
      const key = issuerKeys.get('P-256')!;
      expect([issuerDid, verificationMethod]).toEqual([key.did, key.verificationMethod]);
      const body = { tenantId: TENANT, sessionId: made.id, credentialId };
      return { credential: credentials[0]!.credential, kept, body };
    };
    /** A credential that is larger than a document may be; its offer is of before the subscription. */
    const refusedWithoutTrace = async (token: string) => {
      const before = await service.events('credential');
      const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
      const request = { credential_configuration_id: jwtVc, proofs };
      return [await refusalCode(collect(token, request)), (await service.events('credential')).length - before.length];
    };
    /** Two requests for the one credential that the session may issue: the refused one leaves nothing. */
    const lostRace = async (attempt: number) => {
      const before = await service.events('credential');
      const capped = await configure('jwt_vc_json', `CappedDelivery${attempt}`, { maxIssuances: 1 });
      const { made, token } = await start(capped);
      const nonces = [await nonceFor(), await nonceFor()];
      const requests = await Promise.all(
        nonces.map(async (nonce) => ({
          credential_configuration_id: capped,
          proofs: { jwt: [await prove(makeWalletKey(), nonce)] },
        })),
      );
      await Promise.allSettled(requests.map((request) => collect(token, request)));
      const recorded = (await service.events('credential')).slice(before.length);
      const opened = await Promise.all(
        recorded.map(({ data }) =>
          service.engines.vault.sealing.openSealed(
            TENANT,
            'delivery',
            (data as CredentialRecordedData).document!.sealed,
          ),
        ),
      );
      const session = await service.engines.events.readStream(issuanceSessionStream(TENANT, made.id));
      return {
        counted: session.filter(({ type }) => type === 'CredentialIssued').length,
        recorded: recorded.length,
        readable: opened.filter((text) => !isErased(text)).length,
      };
    };
    const keeps = async (wanted: boolean) => eventually(async () => ((await issueOne()).kept !== undefined) === wanted);
    expect((await issueOne()).kept).toBeUndefined();
    const large = { claims: { given_name: 'x'.repeat(300_000) } };
    const { token } = await start(jwtVc, large);
    await publish('m1', webhookSaved, { events: ['OpenIdCredentialIssued'], disabled: false });
    await keeps(true);
    expect((await refusal(start(jwtVc, large))).kind).toBe('invalid');
    // A process that has just started reads the same.
    const reactions = undefined as unknown as Reactions;
    const recent = new RecentStates(service.engines.streams, service.engines.clock);
    const elsewhere = new DeliveryInterest(service.engines.streams, reactions, recent);
    expect(await Promise.all([TENANT, OTHER].map((id) => elsewhere.hasSubscription(id)))).toEqual([true, false]);
    const { credential, kept, body } = await issueOne();
    expect(await service.engines.vault.sealing.openSealed(TENANT, 'delivery', kept!.sealed)).toBe(
      JSON.stringify(credential),
    );
    expect(await retrieveDocument(body)).toEqual({ sealed: kept!.sealed });
    for (const other of [{ credentialId: body.sessionId }, { tenantId: OTHER }])
      expect(await refusalCode(retrieveDocument({ ...body, ...other }))).toBe('NotFound');
    await eventually(() =>
      issued.some(({ data }) => (data as { documentKeyId?: string }).documentKeyId === kept!.keyId),
    );
    expect(JSON.stringify(issued)).not.toContain(kept!.sealed);
    await expect(refusedWithoutTrace(token)).resolves.toEqual(['credential_request_denied', 0]);
    for (let attempt = 1; attempt <= 5; attempt++)
      expect(await lostRace(attempt)).toEqual({ counted: 1, recorded: 1, readable: 1 });
    await publish('m2', webhookSaved, { events: ['OpenIdCredentialIssuedSummary'], disabled: false });
    await keeps(false);
    await publish('m3', webhookSaved, { events: ['OpenIdCredentialIssued'], disabled: false });
    await keeps(true);
    await publish('m4', webhookDeleted, {});
    await keeps(false);
  });

  it("is refused under a host of the platform that is not the tenant's own", async () => {
    const key = issuerKeys.get('P-256')!;
    let serial = 0;
    const outcomeUnder = async (did: string) => {
      issuerKeys.set('P-256', { ...key, did, verificationMethod: `${did}#k` });
      const configurationId = await configure('jwt_vc_json', `Under${++serial}`);
      issuerKeys.set('P-256', key);
      const { token } = await start(configurationId);
      const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
      return collect(token, { credential_configuration_id: configurationId, proofs }).then(
        () => 'issued',
        (error: AppError) => error.code,
      );
    };
    for (const host of ['rival.localhost%3A8080', 'RIVAL.localhost:a', 'management.localhost%3a8080'])
      expect([host, await outcomeUnder(`did:web:${host}`)]).toEqual([host, 'credential_request_denied']);
    for (const host of ['foreign.example', 'localhost.example%3A8080'])
      expect([host, await outcomeUnder(`did:web:${host}`)]).toEqual([host, 'issued']);
  });

  it('is refused under a domain that the tenant has withdrawn, until it is verified again', async () => {
    const key = issuerKeys.get('P-256')!;
    const did = 'did:web:brand.example:issuers';
    issuerKeys.set('P-256', { ...key, did, verificationMethod: `${did}#k` });
    const branded = await configure('jwt_vc_json', 'Branded');
    issuerKeys.set('P-256', key);
    const outcome = async (configurationId: string) => {
      const { token } = await start(configurationId);
      const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
      const collected = collect(token, { credential_configuration_id: configurationId, proofs });
      return collected.then(
        () => 'issued',
        (error: AppError) => error.code,
      );
    };
    const publish = (id: string, type: typeof customDomainVerified, revision: number, domain = 'brand.example') =>
      service.engines.bus.publish([{ id, subject: type.subject, data: { tenantId: TENANT, domain, revision } }]);
    expect(await outcome(branded)).toBe('issued');
    await publish('d1', customDomainVerified, 1);
    await publish('d2', customDomainWithdrawn, 2);
    await eventually(async () => (await outcome(branded)) === 'credential_request_denied');
    expect(await outcome(jwtVc)).toBe('issued');
    // Another domain verified does not bring this one back, nor does a late repetition.
    await publish('d3', customDomainVerified, 4, 'other.example');
    await publish('d4', customDomainVerified, 1);
    await publish('d5', customDomainVerified, 6);
    await eventually(async () => (await outcome(branded)) === 'issued');
    await publish('d6', customDomainWithdrawn, 2);
    await publish('d7', customDomainWithdrawn, 9);
    await eventually(async () => (await outcome(branded)) === 'credential_request_denied');
    await publish('d8', customDomainVerified, 12);
    await eventually(async () => (await outcome(branded)) === 'issued');
  });
});

describe('operation events', () => {
  it('are one for every call', async () => {
    await eventually(() => records.length > 20);
    const seen = new Map<string, string[]>();
    for (const { requestId, outcome } of records) seen.set(requestId, [...(seen.get(requestId) ?? []), outcome]);
    for (const each of seen.values()) expect(each).toEqual([expect.stringMatching(/SUCCESS|FAIL/)]);
  });

  it('of a flow are in its events, with ids, and nothing is sent to the feed', async () => {
    const sent: string[] = [];
    const counting = service.engines.bus.consume(
      { name: 'spec.operations', subjects: [OPERATION_SUBJECTS] },
      async (messages) => void sent.push(...messages.map(({ subject, data }) => `${subject} ${JSON.stringify(data)}`)),
    );
    const { made, token } = await start(jwtVc);
    const redeeming = `request-${service.requests}`;
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    await collect(token, { credential_configuration_id: jwtVc, proofs });
    const collecting = `request-${service.requests}`;
    await eventually(() => outcomes(collecting).length > 0);
    await service.engines.recorders.flush(1000);
    const ids = { sessionId: made.id, offerId: made.id, userId: made.userId };
    const object = { type: 'session', id: made.id };
    const recordOf = (requestId: string) => records.find((record) => record.requestId === requestId);
    expect(recordOf(redeeming)).toMatchObject({
      stream: issuanceSessionStream(TENANT, made.id),
      metadata: ids,
      object,
    });
    expect(recordOf(collecting)).toMatchObject({
      stream: issuanceSessionStream(TENANT, made.id),
      metadata: { ...ids, credentialConfigurationId: jwtVc, credentialIds: [expect.stringMatching(/./)] },
      object,
    });
    expect(sent.filter((text) => text.includes(redeeming) || text.includes(collecting))).toEqual([]);
    await counting.close();
  });
});

describe('a credential of an issuer whose domain the tenant has lost', () => {
  /** Above those of the tests before, which are of the same tenant. */
  let revision = 100;

  it.each([
    ['cwt', {}, compactConfigurations],
    ['cwt_vc', {}, compactSemanticConfigurations],
    ['ldp_vc', { proofType: 'eddsa-rdfc-2022' }, webSemanticConfigurations],
    ['ldp_vc', { proofType: 'Ed25519Signature2018' }, webSemanticConfigurations],
  ] as const)('is refused, until the domain is verified again: %s %j [T192]', async (format, more, operations) => {
    const domain = `${randomUUID()}.example`;
    service.issuerDid = `did:web:${domain}`;
    const isJson = format === 'ldp_vc';
    const body = {
      ...{ type: `Lost${domain.slice(0, 8)}`, claimMappings: { given_name: { mapFrom: 'claims.given_name' } } },
      ...(isJson && { name: 'Lost', issuer: { name: 'Acme' } }),
      ...{ revocable: false, ...more },
    };
    const { id } = (await admin(operations.create, { body }).finally(() => (service.issuerDid = undefined))) as {
      id: string;
    };
    const outcome = async () => {
      const { token } = await start(id);
      const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor(), 'did:key')] };
      return collect(token, { credential_configuration_id: id, proofs }).then(
        ({ credentials }) => `issued ${credentials.length}`,
        ({ code, message }: AppError) => `${code}: ${message}`,
      );
    };
    const publish = (type: typeof customDomainVerified) =>
      service.engines.bus.publish([
        { id: `lost-${++revision}`, subject: type.subject, data: { tenantId: TENANT, domain, revision } },
      ]);
    const denied = 'credential_request_denied: the domain of the issuer has been withdrawn';
    expect(await outcome()).toBe('issued 1');
    await publish(customDomainWithdrawn);
    await eventually(async () => (await outcome()) !== 'issued 1');
    expect(await outcome()).toBe(denied);
    await publish(customDomainVerified);
    await eventually(async () => (await outcome()) !== denied);
    expect(await outcome()).toBe('issued 1');
    await admin(operations.delete, { params: { id } });
  });
});
