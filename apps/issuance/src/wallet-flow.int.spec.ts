/** @engines embedded postgres */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicKey, generateKeyPairSync, randomUUID, verify, X509Certificate, type KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK, jwtVerify, SignJWT, type JWK } from 'jose';
import {
  AppError,
  compactConfigurations,
  compactSemanticConfigurations,
  createIaca,
  createPreAuthorizedOffer,
  createOffer,
  createUser,
  customDomainVerified,
  customDomainWithdrawn,
  deletePreAuthorizedOffer,
  deleteUser,
  exchangeToken,
  issueCredential,
  issueNonce,
  OPERATION_SUBJECTS,
  jwtVcConfigurations,
  listUserCredentials,
  mobileConfigurations,
  recordSubject,
  reserveIssuerKey,
  retrieveBrand,
  retrieveAuthorizationServerMetadata,
  retrieveCredentialDocument,
  retrieveIssuerCa,
  retrieveJwtVcIssuer,
  retrieveIssuerMetadata,
  retrieveOauthKeys,
  retrieveOfferContent,
  retrievePreAuthorizedOffer,
  retrieveUser,
  updateIaca,
  updateUser,
  webhookDeleted,
  webhookSaved,
  webSemanticConfigurations,
  webSemanticRegistry,
  credentialIssued,
  type Caller,
  type CredentialFormat,
  type HttpAnswer,
  type Iaca,
  type IssuerKey,
  type MobileConfiguration,
  type NonceResponse,
  type OperationRecord,
  type OperationRecordMessage,
  type PageOf,
  type PersistedCredential,
  type PreAuthorizedOffer,
  type PreAuthorizedOfferRequest,
  type RegisteredCredential,
  type ReserveIssuerKeyRequest,
  type UserCredential,
  type VerifiedBrand,
} from '@attestry/contracts';
import {
  chainEvent,
  EventStore,
  EventStoreUnavailable,
  Streams,
  type AppendResult,
  type UnitOfWork,
} from '@attestry/event-store';
import { encodeDidJwk, encodeDidKey, encodeMultikey, isErased, type PublicJwk, type StoredValue } from '@attestry/keys';
import { Canonicalization } from '@attestry/linked-data';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  serviceContext,
  startServices,
  type Engines,
  type Reactions,
  type RequestOf,
  type ResponseOf,
  type RunningServices,
} from '@attestry/service-kit';
import { decodeCwt, TEST_SETTINGS, verifyMdoc } from '@attestry/testing';
import { chosenEngines } from '@attestry/testing/services';
import type { FeedMessage } from '@attestry/messaging';
import { DeliveryInterest } from './registry/delivery-interest/delivery-interest.directory.js';
import { LdpVc } from './formats/ldp-vc/ldp-vc.js';
import { issuanceService } from './index.js';
import type { CredentialIssuedData } from './sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from './sessions/issuance-session/issuance-session.state.js';
import type { CredentialRecordedData } from './sessions/issued-credential/issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from './sessions/issued-credential/issued-credential.state.js';
import type { CredentialPersistedData } from './registry/persisted-credential/persisted-credential.events.js';
import { persistedCredentialStream } from './registry/persisted-credential/persisted-credential.state.js';
import { grantContext, makeBearerValue } from './sessions/bearer-value/bearer-value.js';
import { SessionKeys } from './offers/session-keys/session-keys.js';
import { firstListId } from './status-lists/status-list/first-list-id.js';
import { permuteCounters } from './status-lists/status-list/index-permutation.js';
import { statusList, statusListStream } from './status-lists/status-list/status-list.state.js';
import { userStream } from './users/user/user.state.js';
import { UsersReadModel } from './users/user/users.read-model.js';
import { RecentStates } from './reading/recent-states/recent-states.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const TENANT = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';

let folder: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;
/** Milliseconds the clock is ahead. */
let ahead = 0;
/** Records of the calls, in events and as messages. */
const records: (OperationRecord & { requestId: string; stream?: string })[] = [];
const issued: FeedMessage[] = [];

/** Simulated tenant-config service: brands of verified custom domains. */
const brands = new Map<string, VerifiedBrand>();

const issuerOf = (tenantId: string) => `http://${tenantId.slice(0, 4)}.localhost:8080`;

let requests = 0;
const contextFor = <C extends Caller>(operation: string, caller: C, tenantId = TENANT) => ({
  tenant: { id: tenantId, host: issuerOf(tenantId).slice(7), baseUrl: issuerOf(tenantId) },
  caller,
  requestId: `request-${++requests}`,
  operation,
  deadline: Date.now() + 10_000,
  publicUrl: issuerOf(tenantId),
});
const tenantClient: Caller = { kind: 'client', clientId: 'c' };

const admin = <O extends Parameters<ServiceClient['call']>[0]>(operation: O, request: object, tenantId = TENANT) =>
  client.call(operation, request as Partial<RequestOf<O>>, contextFor(operation.name, tenantClient, tenantId) as never);

const post = <O extends Parameters<ServiceClient['call']>[0]>(
  operation: O,
  text: string,
  headers: Record<string, string>,
  tenantId = TENANT,
  url = '/',
): Promise<ResponseOf<O>> =>
  client.call(
    operation,
    { raw: { method: 'POST', url, headers, text } } as unknown as Partial<RequestOf<O>>,
    contextFor(operation.name, { kind: operation.access.kind === 'public' ? 'public' : 'holder' }, tenantId) as never,
  );

const refusal = async (promise: Promise<unknown>): Promise<AppError> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};
const code = async (promise: Promise<unknown>) => (await refusal(promise)).code;

const eventually = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const deadline = Date.now() + 10_000; ;) {
    if (await condition()) return;
    if (Date.now() > deadline) throw new Error('it did not come about');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

// --- the issuer

const configure = async (
  format: CredentialFormat,
  type: string,
  more: Record<string, unknown> = {},
  tenantId = TENANT,
): Promise<string> => {
  const operation = format === 'ldp_vc' ? webSemanticConfigurations.create : jwtVcConfigurations.create;
  const body = {
    type,
    name: `${type} name`,
    issuer: { name: 'Acme', logoUrl: 'https://acme.example/logo.png' },
    claimMappings: {
      givenName: { mapFrom: 'claims.given_name', required: true },
      city: { mapFrom: 'claims.address.city' },
      level: { defaultValue: 3 },
      nick: { mapFrom: "claims['https://acme.example/nick']", defaultValue: 'none' },
    },
    expiresIn: { years: 1 },
    ...more,
  };
  return ((await admin(operation, { body }, tenantId)) as { id: string }).id;
};

const offer = (body: Partial<PreAuthorizedOfferRequest>, tenantId = TENANT): Promise<PreAuthorizedOffer> =>
  admin(
    createPreAuthorizedOffer,
    { body: { claims: { given_name: 'Ada' }, ...body } },
    tenantId,
  ) as Promise<PreAuthorizedOffer>;

// --- the wallet

interface OfferJson {
  credential_issuer: string;
  credential_configuration_ids: string[];
  credentials: string[];
  grants: Record<string, { 'pre-authorized_code': string; tx_code?: object }>;
}
const read = ({ uri }: PreAuthorizedOffer) =>
  JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as OfferJson;
const codeOf = (made: PreAuthorizedOffer) => read(made).grants[GRANT]!['pre-authorized_code'];

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const redeem = (preAuthorizedCode: string, more: Record<string, string> = {}, tenantId = TENANT) =>
  post(
    exchangeToken,
    new URLSearchParams({ grant_type: GRANT, 'pre-authorized_code': preAuthorizedCode, ...more }).toString(),
    FORM,
    tenantId,
  );

const nonceFor = async (tenantId = TENANT) => {
  const { $http } = (await post(issueNonce, '', {}, tenantId)) as unknown as HttpAnswer;
  return ($http.body as NonceResponse).c_nonce;
};

interface Holder {
  privateKey: KeyObject;
  jwk: PublicJwk;
  alg: 'ES256' | 'EdDSA';
}
const makeHolder = (alg: 'ES256' | 'EdDSA' = 'ES256'): Holder => {
  const { privateKey, publicKey } =
    alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) : generateKeyPairSync('ed25519');
  return { privateKey, alg, jwk: publicKey.export({ format: 'jwk' }) as unknown as PublicJwk };
};

type Binding = 'did:key' | 'did:jwk' | 'jwk';
const keyHeader = ({ jwk }: Holder, binding: Binding) =>
  binding === 'jwk'
    ? { jwk: { ...jwk } as JWK }
    : { kid: binding === 'did:key' ? `${encodeDidKey(jwk)}#${encodeMultikey(jwk)}` : `${encodeDidJwk(jwk)}#0` };

const prove = (
  holder: Holder,
  nonce: string,
  binding: Binding = 'jwk',
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> =>
  new SignJWT({ aud: issuerOf(TENANT), nonce, iat: Math.floor((Date.now() + ahead) / 1000), ...claims })
    .setProtectedHeader({ alg: holder.alg, typ: 'openid4vci-proof+jwt', ...keyHeader(holder, binding), ...header })
    .sign(holder.privateKey);

const collect = (token: string, body: unknown, tenantId = TENANT) =>
  post(
    issueCredential,
    JSON.stringify(body),
    { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    tenantId,
  );

/** Offer to token. */
const start = async (configurationId: string, body: Partial<PreAuthorizedOfferRequest> = {}) => {
  const made = await offer({ credentials: [configurationId], ...body });
  return { made, token: (await redeem(codeOf(made))).access_token };
};

const retrieveDocument = (body: { tenantId: string; sessionId: string; credentialId: string }) =>
  new ServiceClient(engines.bus, 'webhooks').call(
    retrieveCredentialDocument,
    { body },
    { requestId: 'r', operation: 'spec', deadline: Date.now() + 10_000 },
  );

const allOf = async (category: string) =>
  (await engines.events.readAll({ limit: 5000, categories: [category] })).events;

interface JwtVc {
  iss: string;
  sub: string;
  nbf: number;
  exp: number;
  jti: string;
  vc: { '@context': string[]; type: string[]; credentialSubject: Record<string, unknown> };
}
const verified = async (credential: unknown): Promise<JwtVc> => {
  const key = await importJWK(issuerKeys.get('P-256')!.publicJwk as unknown as JWK, 'ES256');
  const { payload, protectedHeader } = await compactVerify(credential as string, key);
  expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: issuerKeys.get('P-256')!.verificationMethod });
  return JSON.parse(Buffer.from(payload).toString()) as JwtVc;
};

/** DID of the next configurations; without one it is that of the key, or a did:web where the format needs one. */
let issuerDid: string | undefined;
const issuerKeys = new Map<string, IssuerKey & { publicJwk: PublicJwk }>();
let jwtVc: string;
let ldpVc: string;

const open = async () => {
  const config = parseConfig({
    DATA_DIR: folder,
    ...TEST_SETTINGS,
    BASE_DOMAIN: 'localhost:8080',
  });
  engines = await chosenEngines(await openEngines(config, { clock: { now: () => new Date(Date.now() + ahead) } }));
  engines.bus.serve(reserveIssuerKey.subject, async (data) => {
    const { algorithms, method } = (data as { body: ReserveIssuerKeyRequest }).body;
    const { publicJwk: _, ...key } = issuerKeys.get(algorithms[0]!)!;
    const did = issuerDid ?? (method && 'did:web:acme.example');
    return { ok: true, data: { ...key, ...(did && { did, verificationMethod: `${did}#k123456789` }) } };
  });
  engines.bus.serve(retrieveBrand.subject, async (_data, { tenant }) => ({
    ok: true,
    data: brands.get((JSON.parse(tenant!) as { id: string }).id) ?? {},
  }));
  engines.bus.consume({ name: 'spec.records', subjects: [recordSubject('record', 'issuance')] }, async (messages) => {
    records.push(...messages.map(({ data }) => data as OperationRecordMessage));
  });
  engines.events.subscribe(
    {},
    {
      onEvents: async (events) => {
        for (const { stream, metadata } of events)
          if (metadata.record)
            records.push({ ...(metadata.record as OperationRecord), requestId: metadata.requestId, stream });
      },
      onDropped: () => undefined,
    },
  );
  engines.bus.consume({ name: 'spec.issued', subjects: [credentialIssued.subject] }, async (messages) => {
    issued.push(...messages);
  });
  client = new ServiceClient(engines.bus, 'gateway');
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'issuance-'));
  await open();
  for (const algorithm of ['P-256', 'Ed25519'] as const) {
    const { keyId, publicJwk } = await engines.vault.signingKeys.createSigningKey(TENANT, 'did', algorithm);
    const did = encodeDidKey(publicJwk);
    const verificationMethod = `${did}#${encodeMultikey(publicJwk)}`;
    issuerKeys.set(algorithm, { did, verificationMethod, kmsKeyId: keyId, algorithm, publicJwk });
  }
  services = await startServices([issuanceService], engines);
  jwtVc = await configure('jwt_vc_json', 'Course');
  ldpVc = await configure('ldp_vc', 'Course');
});

beforeEach(() => {
  ahead = 0;
});

afterAll(async () => {
  await services?.close();
  await engines?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Outcomes recorded of the last request. */
const outcomes = (requestId = `request-${requests}`) =>
  records.filter((record) => record.requestId === requestId).map(({ prefix, outcome }) => `${prefix}_${outcome}`);

describe('an offer', () => {
  it('is the same by value and by reference', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc] });
    const document = read(made);
    expect(document).toEqual({
      credential_issuer: issuerOf(TENANT),
      credential_configuration_ids: [jwtVc, ldpVc],
      credentials: [jwtVc, ldpVc],
      grants: { [GRANT]: { 'pre-authorized_code': expect.stringMatching(/^[A-Za-z0-9_-]{86}$/) as string } },
    });
    const reference = new URL(new URL(made.uriByReference).searchParams.get('credential_offer_uri')!);
    expect(reference.origin).toBe(issuerOf(TENANT));
    const [, value] = /^\/v1\/openid\/offers\/([^/]+)\/content$/.exec(reference.pathname)!;
    const content = (reference: string, tenantId = TENANT) =>
      client.call(retrieveOfferContent, { params: { reference } }, contextFor('x', { kind: 'public' }, tenantId));
    expect(await content(value!)).toEqual(document);
    const wrong = `${value!.slice(0, -2)}${value!.endsWith('AA') ? 'BB' : 'AA'}`;
    // The last character of a secret has spellings that decode alike, and an id another case.
    const alike = ALPHABET[ALPHABET.indexOf(value!.at(-1)!) ^ 1]!;
    const shouted = `${made.id.toUpperCase()}.${value!.split('.')[1]}`;
    for (const bad of [
      wrong,
      `${value!.slice(0, -1)}${alike}`,
      shouted,
      made.id,
      `${made.id}.`,
      `${value}.x`,
      'x',
      `${TENANT}.${value!.split('.')[1]}`,
    ])
      expect(await code(content(bad))).toBe('NotFound');
    expect(await code(content(value!, OTHER))).toBe('NotFound');
    ahead = 300_000;
    expect(await code(content(value!))).toBe('NotFound');
    ahead = 0;
    await redeem(codeOf(made));
    expect(await code(content(value!))).toBe('NotFound');
  });

  it('is valid for the requested time', async () => {
    const before = Date.now();
    const { expiresAt } = await offer({ credentials: [jwtVc], expiresIn: { minutes: 9, seconds: 60 } });
    expect(Date.parse(expiresAt) - before).toBeGreaterThanOrEqual(600_000);
    expect(Date.parse(expiresAt) - before).toBeLessThan(605_000);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['an unknown configuration', { credentials: [TENANT] }, 'credentials'],
    ['no claim set', { credentials: [{ credentialConfigurationId: TENANT }] }, 'credentials.0.claimSets'],
    ['a malformed id', { credentials: ['foo'] }, 'credentials'],
    ['null', { credentials: [null] }, 'credentials'],
    ['an unknown user', { credentials: 'valid', userId: TENANT }, 'userId'],
    ['no life', { credentials: 'valid', expiresIn: {} }, 'expiresIn'],
    ['too long a life', { credentials: 'valid', expiresIn: { minutes: 10, seconds: 1 } }, 'expiresIn'],
    ['a kept claim that is none', { credentials: 'valid', claimsToPersist: ['toString'] }, 'claimsToPersist'],
    [
      'a description with half a character',
      { credentials: 'valid', transactionCodeConfiguration: { description: '\ud800' } },
      'transactionCodeConfiguration.description',
    ],
  ])('is refused with %s', async (_, body, param) => {
    const credentials = body['credentials'] === 'valid' ? [jwtVc] : (body['credentials'] as string[]);
    const error = await refusal(offer({ ...body, credentials }));
    expect([error.code, error.details?.map((detail) => detail.param)]).toEqual(['BadRequest', [param]]);
  });

  it('is refused with a configuration twice, or of another tenant', async () => {
    expect(await code(offer({ credentials: [jwtVc, jwtVc.toUpperCase()] }))).toBe('BadRequest');
    expect(await code(offer({ credentials: [jwtVc] }, OTHER))).toBe('BadRequest');
  });

  it('is refused over 500 KB', async () =>
    expect(await code(offer({ credentials: [jwtVc], claims: { given_name: 'x'.repeat(512_000) } }))).toBe(
      'PayloadTooLarge',
    ));

  it('is ended by its deletion, including its tokens, once', async () => {
    const remove = (id: string, tenantId = TENANT) => admin(deletePreAuthorizedOffer, { params: { id } }, tenantId);
    const open = await offer({ credentials: [jwtVc] });
    expect(await code(remove(open.id, OTHER))).toBe('NotFound');
    await remove(open.id);
    expect(await code(redeem(codeOf(open)))).toBe('invalid_grant');
    expect(await code(remove(open.id))).toBe('NotFound');

    const { made, token } = await start(jwtVc);
    await remove(made.id);
    const nonce = await nonceFor();
    const proofs = { jwt: [await prove(makeHolder(), nonce)] };
    expect(await code(collect(token, { credential_configuration_id: jwtVc, proofs }))).toBe('invalid_token');
  });
});

describe('the state of an offer', () => {
  const stateOf = (id: string, tenantId = TENANT) => admin(retrievePreAuthorizedOffer, { params: { id } }, tenantId);
  const issue = async (token: string, count: number) => {
    const nonce = await nonceFor();
    const jwt = await Promise.all(Array.from({ length: count }, () => prove(makeHolder(), nonce)));
    await collect(token, { credential_configuration_id: jwtVc, proofs: { jwt } });
  };

  it('goes from created to redeemed and claimed, with what was issued and without codes and claims', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc], transactionCodeConfiguration: {} });
    const shown = {
      id: made.id,
      state: 'CREATED',
      credentials: [jwtVc, ldpVc],
      userId: made.userId,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      expiresAt: made.expiresAt,
      issuedCredentials: [],
    };
    expect(await stateOf(made.id)).toEqual(shown);
    const { access_token } = await redeem(codeOf(made), { tx_code: made.transactionCode! });
    expect(await stateOf(made.id)).toEqual({ ...shown, state: 'REDEEMED' });
    await issue(access_token, 2);
    await issue(access_token, 1);
    const credential = {
      id: expect.any(String) as string,
      credentialConfigurationId: jwtVc,
      type: 'Course',
      format: 'jwt_vc_json',
      issuedDate: expect.any(String) as string,
      validUntil: expect.any(String) as string,
    };
    // The state stays when code and token have expired.
    for (ahead of [0, 3_600_000]) {
      const claimed = await stateOf(made.id);
      expect(claimed).toEqual({ ...shown, state: 'CLAIMED', issuedCredentials: Array(3).fill(credential) });
      const ids = claimed.issuedCredentials.map(({ id }) => id).sort();
      await eventually(async () => {
        const listed = await admin(listUserCredentials, { params: { userId: made.userId } });
        const { data } = listed as PageOf<UserCredential>;
        return isDeepStrictEqual(data.map(({ id }) => id).sort(), ids);
      });
    }
  });

  it('is expired when code or token ended before a credential was issued', async () => {
    const unused = await offer({ credentials: [jwtVc] });
    const { made } = await start(jwtVc);
    ahead = 299_000;
    expect(await stateOf(unused.id)).toMatchObject({ state: 'CREATED' });
    ahead = 301_000;
    for (const { id } of [unused, made])
      expect(await stateOf(id)).toMatchObject({ id, state: 'EXPIRED', issuedCredentials: [] });
  });

  it('is locked after the third wrong transaction code', async () => {
    const made = await offer({ credentials: [jwtVc], transactionCodeConfiguration: {} });
    const wrong = made.transactionCode === '000000' ? '000001' : '000000';
    for (let i = 0; i < 3; i++) await code(redeem(codeOf(made), { tx_code: wrong }));
    expect(await stateOf(made.id)).toMatchObject({ id: made.id, userId: made.userId, state: 'LOCKED' });
  });

  it('is that of a deletion, and does not exist for other tenants, unknown ids and deleted users [T448]', async () => {
    const { made } = await start(jwtVc);
    expect(await code(stateOf(made.id, OTHER))).toBe('NotFound');
    for (const id of [TENANT, made.userId]) expect(await code(stateOf(id))).toBe('NotFound');
    expect(await code(stateOf('no-uuid'))).toBe('BadRequest');
    const deleted = await offer({ credentials: [jwtVc] });
    await admin(deletePreAuthorizedOffer, { params: { id: deleted.id } });
    expect(await stateOf(deleted.id)).toMatchObject({ id: deleted.id, state: 'DELETED', issuedCredentials: [] });
    expect(await code(stateOf(deleted.id, OTHER))).toBe('NotFound');
    await admin(deleteUser, { params: { id: made.userId } });
    expect(await code(stateOf(made.id))).toBe('NotFound');
  });
});

/** An offer as releases before version 3.0.0 stored it. */
const offerOfBefore = async (body: Parameters<typeof offer>[0], claims: object) => {
  const made = await offer(body);
  const [created] = await engines.events.readStream(issuanceSessionStream(TENANT, made.id));
  const sessionId = randomUUID();
  const code = makeBearerValue(sessionId, randomUUID());
  const { mac, pepper } = engines.vault.macs.mac(code.value, grantContext('preAuthorizedCode', TENANT, sessionId));
  const { sealed, newKey } = engines.vault.sealing.sealWithNewKey(TENANT, 'session', sessionId, JSON.stringify(claims));
  await newKey.store();
  const { storedClaims: _stored, ...before } = created!.data as { storedClaims: object; code: object };
  const data = {
    ...{ ...before, sessionId, sealedClaims: sealed },
    code: { ...before.code, tokenId: code.tokenId, mac, keyId: pepper },
  };
  const { record: _, ...metadata } = created!.metadata;
  await engines.events.append(
    issuanceSessionStream(TENANT, sessionId),
    [chainEvent('', { id: randomUUID(), type: 'OfferCreated', schemaVersion: 2, data, metadata })],
    -1,
  );
  return { code: code.value, sealed };
};

describe('claims', () => {
  it('are stored on a new user only when the offer requests it', async () => {
    const { userId } = await offer({
      credentials: [jwtVc],
      claims: { given_name: 'Ada', secret: 'x' },
      claimsToPersist: ['given_name'],
    });
    expect(await admin(retrieveUser, { params: { id: userId } })).toEqual({
      id: userId,
      claims: { given_name: 'Ada' },
    });
  });

  it("of the offer override the user's own, without merging nested values", async () => {
    const { id: userId } = (await admin(createUser, {
      body: { claims: { given_name: 'Augusta', address: { city: 'London' }, 'https://acme.example/nick': 'Countess' } },
    })) as { id: string };
    const { token } = await start(jwtVc, {
      userId,
      claims: { given_name: 'Ada', address: {} },
      claimsToPersist: ['address'],
    });
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
    expect((await verified(credentials[0]!.credential)).vc.credentialSubject).toEqual({
      id: expect.stringMatching(/^did:jwk:/) as string,
      givenName: 'Ada',
      level: 3,
      nick: 'Countess',
    });
    expect(((await admin(retrieveUser, { params: { id: userId } })) as { claims: object }).claims).toEqual({
      given_name: 'Augusta',
      address: {},
      'https://acme.example/nick': 'Countess',
    });
  });

  it('that are required but missing are named when the offer is created, which changes nothing [T435]', async () => {
    const before = await engines.events.head();
    const claims = { family_name: 'Lovelace' };
    expect((await refusal(offer({ credentials: [jwtVc, ldpVc], claims }))).details).toEqual(
      [jwtVc, ldpVc].map((id) => ({
        msg: `must fit credential configuration ${id}: the required claim givenName, mapped from claims.given_name, has no value`,
        param: 'claims',
        location: 'body',
      })),
    );
    expect(await engines.events.head()).toEqual(before);
  });

  it("may be the user's own, or those of a claim set [T435]", async () => {
    const { id: userId } = (await admin(createUser, { body: { claims: { given_name: 'Grace' } } })) as { id: string };
    await offer({ credentials: [jwtVc], claims: {}, userId });
    const claimSets = [{ claims: { given_name: 'Ada' } }, { claims: {} }];
    const credentials = [{ credentialConfigurationId: jwtVc, claimSets }];
    await offer({ credentials, claims: {}, userId });
    expect((await refusal(offer({ credentials, claims: {} }))).details).toMatchObject([
      { param: 'credentials.0.claimSets.1.claims' },
    ]);
    await admin(updateUser, { params: { id: userId }, body: {} });
    expect((await refusal(offer({ credentials: [jwtVc], claims: {}, userId }))).details).toMatchObject([
      { param: 'claims' },
    ]);
  });

  it('that are required but have been removed from the user cause the credential to be denied [T436]', async () => {
    const { id: userId } = (await admin(createUser, { body: { claims: { given_name: 'Grace' } } })) as { id: string };
    const { token } = await start(jwtVc, { claims: {}, userId });
    await admin(updateUser, { params: { id: userId }, body: { claims: { family_name: 'Hopper' } } });
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const error = await refusal(collect(token, { credential_configuration_id: jwtVc, proofs }));
    expect([error.code, error.message]).toEqual([
      'credential_request_denied',
      'the required claim givenName has no value',
    ]);
  });

  it('of a deleted user are unreadable', async () => {
    const { made, token } = await start(jwtVc);
    await admin(deleteUser, { params: { id: made.userId } });
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    expect(await code(collect(token, { credential_configuration_id: jwtVc, proofs }))).toBe(
      'credential_request_denied',
    );
  });

  const collectJwtVc = async (token: string) => {
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    return collect(token, { credential_configuration_id: jwtVc, proofs });
  };
  const storedOf = async (made: PreAuthorizedOffer): Promise<StoredValue> => {
    const [created] = await engines.events.readStream(issuanceSessionStream(TENANT, made.id));
    return (created!.data as { storedClaims: StoredValue }).storedClaims;
  };
  const opened = async (stored: StoredValue) => {
    const text = await engines.vault.sealing.openStored(TENANT, 'session', stored);
    return isErased(text) ? 'erased' : text;
  };

  it('of a deleted user who began with the offer are erased also while the read model is behind', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const users = services.app.get(UsersReadModel, { strict: false });
    users.sessionsOf = async () => [];
    try {
      await admin(deleteUser, { params: { id: made.userId } });
    } finally {
      delete (users as Partial<UsersReadModel>).sessionsOf;
    }
    expect(await opened(await storedOf(made))).toBe('erased');
  });

  it('are erased with the session, a minute after its code has expired', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const keys = services.app.get(SessionKeys, { strict: false });
    const sealed = await storedOf(made);
    ahead = 300_000 + 50_000;
    await keys.sweep();
    expect(await opened(sealed)).toBe('{"given_name":"Ada"}');
    ahead = 300_000 + 61_000;
    expect(await keys.sweep()).toBeGreaterThan(0);
    expect(await opened(sealed)).toBe('erased');
    expect(await keys.sweep()).toBe(0);
  });

  it('remain until the token of a redeemed code has expired, and are used until then', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const keys = services.app.get(SessionKeys, { strict: false });
    const sealed = await storedOf(made);
    ahead = 290_000;
    const { access_token: token } = await redeem(codeOf(made));
    ahead = 580_000;
    await keys.sweep();
    expect(await opened(sealed)).toBe('{"given_name":"Ada"}');
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
    expect(credentials).toHaveLength(1);
    ahead = 590_000 + 61_000;
    await keys.sweep();
    expect(await opened(sealed)).toBe('erased');
  });

  it('are stored with the key of their session, and the event only names them [T580]', async () => {
    const made = await offer({ credentials: [jwtVc], claims: { given_name: 'Ada', note: 'n'.repeat(20_000) } });
    const [created] = await engines.events.readStream(issuanceSessionStream(TENANT, made.id));
    expect(created).toMatchObject({
      schemaVersion: 3,
      data: {
        storedClaims: {
          keyId: made.id,
          length: expect.any(Number) as number,
          sha256: expect.stringMatching(/^[\w-]{43}$/) as string,
        },
      },
    });
    expect(created!.data).not.toHaveProperty('sealedClaims');
    expect(JSON.stringify(created).length).toBeLessThan(5_000);
    expect(await collectJwtVc((await redeem(codeOf(made))).access_token)).toHaveProperty('credentials.0');
  });

  it('of an offer of before are read from its event [T581]', async () => {
    const { id: userId } = (await admin(createUser, { body: {} })) as { id: string };
    const { code, sealed } = await offerOfBefore({ credentials: [jwtVc], userId }, { given_name: 'Countess' });
    const { access_token: token } = await redeem(code);
    const { credentials } = await collectJwtVc(token);
    expect(JSON.stringify(decodeJwt((credentials![0] as { credential: string }).credential))).toContain('Countess');
    await admin(deleteUser, { params: { id: userId } });
    expect(isErased(await engines.vault.sealing.openSealed(TENANT, 'session', sealed))).toBe(true);
  });

  it('are destroyed with their session, and again when its code has expired', async () => {
    const keys = services.app.get(SessionKeys, { strict: false });
    const made = await offer({ credentials: [jwtVc] });
    const sealed = await storedOf(made);
    await admin(deletePreAuthorizedOffer, { params: { id: made.id } });
    expect(await opened(sealed)).toBe('erased');
    ahead = 300_000 + 61_000;
    expect(await keys.sweep()).toBeGreaterThan(0);
    expect(await keys.sweep()).toBe(0);
  });
});

describe('the user of an offer that keeps nothing', () => {
  const usersOf = () => services.app.get(UsersReadModel, { strict: false });
  const keys = () => services.app.get(SessionKeys, { strict: false });
  const read = async (userId: string) => {
    const params = { id: userId };
    const found = await admin(retrieveUser, { params }).catch((error: AppError) => error.code);
    await usersOf().running.waitForHead(10_000);
    const row = await usersOf()
      .running.db.selectFrom('issuance_users')
      .selectAll()
      .where('id', '=', userId)
      .executeTakeFirst();
    return { found, isListed: row !== undefined };
  };
  const typesOf = async (userId: string) =>
    (await engines.events.readStream(userStream(TENANT, userId))).map(({ type }) => type);
  const expire = async () => {
    ahead = 300_000 + 61_000;
    await keys().sweep();
  };
  const collectOne = async (token: string) => {
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    return collect(token, { credential_configuration_id: jwtVc, proofs });
  };
  const GONE = { found: 'NotFound', isListed: false };

  it('is found and listed from the offer on, without an event, and keeps the credentials', async () => {
    const { made, token } = await start(jwtVc);
    const { userId: id } = made;
    expect(await read(id)).toEqual({ found: { id, claims: {} }, isListed: true });
    await collectOne(token);
    await expire();
    await usersOf().running.waitForHead(10_000);
    const { data } = (await admin(listUserCredentials, { params: { userId: id } })) as PageOf<UserCredential>;
    expect(data).toMatchObject([{ offerId: made.id, credentialConfigurationId: jwtVc }]);
    expect(await read(id)).toEqual({ found: { id, claims: {} }, isListed: true });
    expect(await typesOf(id)).toEqual([]);
    await usersOf().running.rebuild();
    expect(await read(id)).toMatchObject({ isListed: true });
  });

  it('belongs to one tenant, and no other id names it', async () => {
    const made = await offer({ credentials: [jwtVc] });
    expect(await code(admin(retrieveUser, { params: { id: made.userId } }, OTHER))).toBe('NotFound');
    expect(await code(admin(retrieveUser, { params: { id: made.id } }))).toBe('NotFound');
  });

  it('ends with its unclaimed offer, which still shows that it has expired', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const { token, made: redeemed } = await start(jwtVc);
    await expire();
    expect(await read(made.userId)).toEqual(GONE);
    expect(await typesOf(made.userId)).toEqual(['UserExpired']);
    for (const operation of [deleteUser, updateUser])
      expect(await code(admin(operation, { params: { id: made.userId }, body: {} }))).toBe('NotFound');
    expect((await refusal(offer({ credentials: [jwtVc], userId: made.userId }))).kind).toBe('invalid');
    for (const { id } of [made, redeemed])
      expect(await admin(retrievePreAuthorizedOffer, { params: { id } })).toMatchObject({ state: 'EXPIRED' });
    expect(await code(collectOne(token))).toBe('invalid_token');
    await usersOf().running.rebuild();
    expect(await read(made.userId)).toEqual(GONE);
    expect(await keys().sweep()).toBe(0);
  });

  it('that cannot be ended waits for the next run and holds up no other', async () => {
    const [broken, other] = [await offer({ credentials: [jwtVc] }), await offer({ credentials: [jwtVc] })];
    const { streams } = engines;
    const runDecision = streams.runDecision.bind(streams);
    streams.runDecision = (aggregate, stream, ...more) =>
      stream === userStream(TENANT, broken.userId)
        ? Promise.reject(new Error('engine fault'))
        : runDecision(aggregate, stream, ...more);
    try {
      await expect(expire()).rejects.toThrow('1 users of ended offers not ended');
    } finally {
      streams.runDecision = runDecision;
    }
    expect([await typesOf(broken.userId), await typesOf(other.userId)]).toEqual([[], ['UserExpired']]);
    await keys().sweep();
    expect(await typesOf(broken.userId)).toEqual(['UserExpired']);
  });

  it('outlives the deletion of its offer until that would have expired', async () => {
    const made = await offer({ credentials: [jwtVc] });
    await admin(deletePreAuthorizedOffer, { params: { id: made.id } });
    ahead = 290_000;
    await keys().sweep();
    expect(await read(made.userId)).toMatchObject({ isListed: true });
    await expire();
    expect(await read(made.userId)).toEqual(GONE);
  });

  it('does not end while the token of its offer is valid', async () => {
    const made = await offer({ credentials: [jwtVc] });
    ahead = 290_000;
    const { access_token: token } = await redeem(codeOf(made));
    await expire();
    expect(await read(made.userId)).toMatchObject({ isListed: true });
    expect((await collectOne(token)).credentials).toHaveLength(1);
    ahead = 290_000 + 300_000 + 61_000;
    await keys().sweep();
    expect(await read(made.userId)).toMatchObject({ isListed: true });
  });

  it('has a stream from its first change on, and its claims are issued', async () => {
    const configurationId = await configure('jwt_vc_json', 'OfLateUser');
    const { userId: id } = await offer({ credentials: [jwtVc] });
    const changes = [{ claims: { given_name: 'Eve' } }, { claims: { given_name: 'Grace' } }];
    for (const body of changes) await admin(updateUser, { params: { id }, body });
    expect(await typesOf(id)).toEqual(['UserCreated', 'UserClaimsReplaced', 'UserClaimsReplaced']);
    const { token } = await start(configurationId, { claims: {}, userId: id });
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: configurationId, proofs });
    expect((await verified(credentials[0]!.credential)).vc.credentialSubject).toMatchObject({ givenName: 'Grace' });
    expect(await read(id)).toEqual({ found: { id, ...changes[1] }, isListed: true });
  });

  it.each<[string, (id: string) => Promise<unknown>, object]>([
    ['changed', (id) => admin(updateUser, { params: { id }, body: { claims: { a: 1 } } }), { a: 1 }],
    ['named by another offer', (userId) => offer({ credentials: [jwtVc], userId }), {}],
    [
      'kept claims by another offer',
      (userId) =>
        offer({ credentials: [jwtVc], userId, claims: { given_name: 'Ada' }, claimsToPersist: ['given_name'] }),
      { given_name: 'Ada' },
    ],
  ])('stays after its offer has expired when it was %s', async (_, change, claims) => {
    const { userId: id } = await offer({ credentials: [jwtVc] });
    await change(id);
    await expire();
    expect(await read(id)).toEqual({ found: { id, claims }, isListed: true });
    expect((await typesOf(id))[0]).toBe('UserCreated');
  });

  it('changed at the same time has one first event', async () => {
    const { userId: id } = await offer({ credentials: [jwtVc] });
    const wanted = Array.from({ length: 5 }, (_, n) => ({ n }));
    await Promise.all(wanted.map((claims) => admin(updateUser, { params: { id }, body: { claims } })));
    expect((await typesOf(id)).sort()).toEqual([...wanted.map(() => 'UserClaimsReplaced'), 'UserCreated']);
  });

  it('is deleted with the keys of its session, and no credential follows', async () => {
    const { made, token } = await start(jwtVc);
    const [created] = await engines.events.readStream(issuanceSessionStream(TENANT, made.id));
    const { storedClaims } = created!.data as { storedClaims: StoredValue };
    await admin(deleteUser, { params: { id: made.userId } });
    expect(await read(made.userId)).toEqual(GONE);
    expect(await typesOf(made.userId)).toEqual(['UserCreated', 'UserDeleted']);
    expect(isErased(await engines.vault.sealing.openStored(TENANT, 'session', storedClaims))).toBe(true);
    expect(await code(collectOne(token))).toBe('credential_request_denied');
    for (const operation of [deleteUser, retrieveUser])
      expect(await code(admin(operation, { params: { id: made.userId } }))).toBe('NotFound');
    expect(await code(admin(retrievePreAuthorizedOffer, { params: { id: made.id } }))).toBe('NotFound');
  });

  it('has a stream when the offer keeps claims', async () => {
    const { userId: id } = await offer({ credentials: [jwtVc], claimsToPersist: ['given_name'] });
    expect(await typesOf(id)).toEqual(['UserCreated']);
    await expire();
    expect(await read(id)).toEqual({ found: { id, claims: { given_name: 'Ada' } }, isListed: true });
  });
});

describe('the token endpoint', () => {
  it('returns an opaque token and the scope', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc] });
    expect(await redeem(codeOf(made))).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/) as string,
      token_type: 'Bearer',
      expires_in: 300,
      scope: 'jwt_vc_json:Course ldp_vc:Course',
    });
    const request = `request-${requests}`;
    await eventually(() => outcomes(request).length > 0);
    expect(outcomes(request)).toEqual(['OPENID_TOKEN_SUCCESS']);
  });

  it('redeems a code once, also with concurrent calls', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => redeem(codeOf(made))));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const failed of tries)
      if (failed.status === 'rejected') expect((failed.reason as AppError).code).toBe('invalid_grant');
    expect(await code(redeem(codeOf(made)))).toBe('invalid_grant');
    const request = `request-${requests}`;
    await eventually(() => outcomes(request).length > 0);
    expect(outcomes(request)).toEqual(['OPENID_TOKEN_FAIL']);
  });

  it('refuses expired, foreign and modified codes, and records nothing for them', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const value = codeOf(made);
    expect(await code(redeem(value, {}, OTHER))).toBe('invalid_grant');
    const noise = `request-${requests}`;
    const changed = `${value.slice(0, -4)}${value.endsWith('AAAA') ? 'BBBA' : 'AAAA'}`;
    expect(await code(redeem(changed))).toBe('invalid_grant');
    const named = `request-${requests}`;
    await eventually(() => outcomes(named).length > 0);
    expect(outcomes(named)).toEqual(['OPENID_TOKEN_FAIL']);
    expect(outcomes(noise)).toEqual([]);
    for (const bad of ['x', value.slice(1), `${value}A`, `${value}=`])
      expect(await code(redeem(bad))).toBe('invalid_grant');
    ahead = 300_000;
    expect(await code(redeem(value))).toBe('invalid_grant');
  });

  it('requires the transaction code, and locks the offer at the third wrong one', async () => {
    const make = () =>
      offer({
        credentials: [jwtVc],
        transactionCodeConfiguration: { inputMode: 'numeric', description: 'See the letter' },
      });
    const made = await make();
    expect(made.transactionCode).toMatch(/^\d{6}$/);
    expect(read(made).grants[GRANT]!.tx_code).toEqual({
      length: 6,
      input_mode: 'numeric',
      description: 'See the letter',
    });
    const wrong = made.transactionCode === '000000' ? '000001' : '000000';
    for (let i = 0; i < 4; i++) expect(await code(redeem(codeOf(made)))).toBe('invalid_request');
    for (let i = 0; i < 2; i++) expect(await code(redeem(codeOf(made), { tx_code: wrong }))).toBe('invalid_grant');
    expect((await redeem(codeOf(made), { tx_code: made.transactionCode! })).token_type).toBe('Bearer');

    const locked = await make();
    const guess = locked.transactionCode === '000000' ? '000001' : '000000';
    const guesses = await Promise.allSettled(
      Array.from({ length: 6 }, () => redeem(codeOf(locked), { tx_code: guess })),
    );
    for (const each of guesses)
      expect(each.status === 'rejected' && (each.reason as AppError).code).toBe('invalid_grant');
    expect(await code(redeem(codeOf(locked), { tx_code: locked.transactionCode! }))).toBe('invalid_grant');
    const { state } = await engines.streams.load(issuanceSession, issuanceSessionStream(TENANT, locked.id));
    expect(state).toEqual({ status: 'locked', id: locked.id });
    const counted = (await engines.events.readStream(issuanceSessionStream(TENANT, locked.id))).map(({ type }) => type);
    const wrongCode = 'TransactionCodeRefused';
    expect(counted).toEqual(['OfferCreated', wrongCode, wrongCode, wrongCode, 'SessionLocked']);
    expect(await code(admin(deletePreAuthorizedOffer, { params: { id: locked.id } }))).toBe('NotFound');
    expect(await code(redeem(codeOf(await offer({ credentials: [jwtVc] })), { tx_code: '1' }))).toBe('invalid_request');
  });

  it('accepts a text code in upper and lower case', async () => {
    const made = await offer({ credentials: [jwtVc], transactionCodeConfiguration: { inputMode: 'text' } });
    expect(made.transactionCode).toMatch(/^[2-9A-HJ-KM-NP-Z]{6}$/);
    await redeem(codeOf(made), { tx_code: made.transactionCode!.toLowerCase() });
  });

  it('grants authorization details with identifiers, or with the configuration of the only one [T740]', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc] });
    const details = (...ids: string[]) => ({
      authorization_details: JSON.stringify(
        ids.map((id) => ({ type: 'openid_credential', credential_configuration_id: id })),
      ),
    });
    expect(await code(redeem(codeOf(made), details(TENANT)))).toBe('invalid_authorization_details');
    expect(await code(redeem(codeOf(made), details(jwtVc, jwtVc)))).toBe('invalid_authorization_details');
    const { access_token: token, scope, authorization_details: granted } = await redeem(codeOf(made), details(jwtVc));
    expect(scope).toBe('jwt_vc_json:Course');
    expect(granted).toEqual([
      {
        type: 'openid_credential',
        credential_configuration_id: jwtVc,
        credential_identifiers: [expect.stringMatching(/^[0-9a-f-]{36}$/) as string],
      },
    ]);
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    expect(await code(collect(token, { credential_identifier: 'x', proofs }))).toBe('unknown_credential_identifier');
    for (const named of [
      { credential_identifier: granted![0]!.credential_identifiers[0] },
      { credential_configuration_id: jwtVc },
    ]) {
      const fresh = { jwt: [await prove(makeHolder(), await nonceFor())] };
      expect((await collect(token, { ...named, proofs: fresh })).credentials).toHaveLength(1);
    }
  });
});

describe('the credential endpoint', () => {
  it.each<['ES256' | 'EdDSA', Binding]>([
    ['ES256', 'did:key'],
    ['ES256', 'did:jwk'],
    ['ES256', 'jwk'],
    ['EdDSA', 'did:key'],
    ['EdDSA', 'did:jwk'],
    ['EdDSA', 'jwk'],
  ])('binds the credential to %s by %s', async (alg, binding) => {
    const holder = makeHolder(alg);
    const { made, token } = await start(jwtVc, { claims: { given_name: 'Ada', address: { city: 'London' } } });
    const proofs = { jwt: [await prove(holder, await nonceFor(), binding)] };
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
    const request = `request-${requests}`;
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
    const holders = [makeHolder(), makeHolder('EdDSA'), makeHolder()];
    const { made, token } = await start(jwtVc);
    const nonce = await nonceFor();
    const jwt = await Promise.all(holders.map((holder) => prove(holder, nonce)));
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs: { jwt } });
    const subjects = await Promise.all(credentials.map(async ({ credential }) => (await verified(credential)).sub));
    expect(subjects).toEqual(holders.map(({ jwk }) => encodeDidJwk(jwk)));
    const events = (await engines.events.readStream(issuanceSessionStream(TENANT, made.id))).filter(
      ({ type }) => type === 'CredentialIssued',
    );
    expect(events).toHaveLength(3);
    expect(new Set(events.map(({ data }) => (data as { answerId: string }).answerId)).size).toBe(1);
    expect(JSON.stringify(events)).not.toContain('Ada');
  });

  it('refuses the same key twice and more than ten proofs', async () => {
    const { token } = await start(jwtVc);
    const nonce = await nonceFor();
    const holder = makeHolder();
    const twice = [await prove(holder, nonce, 'jwk'), await prove(holder, nonce, 'did:key')];
    const ask = (jwt: unknown[]) => collect(token, { credential_configuration_id: jwtVc, proofs: { jwt } });
    expect(await code(ask(twice))).toBe('invalid_proof');
    expect(await code(ask(Array.from({ length: 11 }, () => twice[0])))).toBe('invalid_credential_request');
    expect((await ask([twice[0]])).credentials).toHaveLength(1);
  });

  it('accepts a nonce once, and a token repeatedly', async () => {
    const { token } = await start(jwtVc);
    const nonce = await nonceFor();
    const ask = async (value: string) =>
      collect(token, { credential_configuration_id: jwtVc, proofs: { jwt: [await prove(makeHolder(), value)] } });
    const tries = await Promise.allSettled([ask(nonce), ask(nonce), ask(nonce)]);
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await code(ask(nonce))).toBe('invalid_nonce');
    // The last character of a MAC has spellings that decode alike.
    const respelt = (text: string) => text.slice(0, -1) + ALPHABET[ALPHABET.indexOf(text.at(-1)!) ^ 1]!;
    expect(await code(ask(respelt(nonce)))).toBe('invalid_nonce');
    const fresh = await nonceFor();
    expect(await code(ask(respelt(fresh)))).toBe('invalid_nonce');
    expect((await ask(fresh)).credentials).toHaveLength(1);
    expect(await code(ask(await nonceFor(OTHER)))).toBe('invalid_nonce');
    const old = await nonceFor();
    ahead = 300_000;
    expect(await code(redeemLater(old, token))).toBe('invalid_token');
  });
  const redeemLater = async (nonce: string, token: string) =>
    collect(token, { credential_configuration_id: jwtVc, proofs: { jwt: [await prove(makeHolder(), nonce)] } });

  it('refuses an expired nonce', async () => {
    const made = await offer({ credentials: [jwtVc], expiresIn: { minutes: 10 } });
    const nonce = await nonceFor();
    ahead = 301_000;
    const { access_token: token } = await redeem(codeOf(made));
    expect(await code(redeemLater(nonce, token))).toBe('invalid_nonce');
  });

  it('refuses tokens of another tenant and modified ones', async () => {
    const { token } = await start(jwtVc);
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
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
    expect(await code(collect(changed, body))).toBe('invalid_token');
    expect(await code(collect(codeOf(await offer({ credentials: [jwtVc] })), body))).toBe('invalid_token');
    expect((await collect(token, body)).credentials).toHaveLength(1);
  });

  it('distinguishes unknown configurations from those the token does not cover', async () => {
    const { token } = await start(jwtVc);
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const insufficient = await refusal(collect(token, { credential_configuration_id: ldpVc, proofs }));
    expect([insufficient.kind, insufficient.code]).toEqual(['forbidden', 'insufficient_scope']);
    for (const id of [TENANT, 'foo'])
      expect(await code(collect(token, { credential_configuration_id: id, proofs }))).toBe(
        'unknown_credential_configuration',
      );
  });

  it('returns unknown_credential_configuration for a configuration deleted meanwhile', async () => {
    const id = await configure('jwt_vc_json', 'Short');
    const { token } = await start(id);
    await admin(jwtVcConfigurations.delete, { params: { id } });
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    expect(await code(collect(token, { credential_configuration_id: id, proofs }))).toBe(
      'unknown_credential_configuration',
    );
  });

  it('issues no more credentials than the configuration allows per session', async () => {
    const id = await configure('jwt_vc_json', 'Capped', { maxIssuances: 2 });
    const { token } = await start(id);
    const ask = async (count: number) => {
      const nonce = await nonceFor();
      const jwt = await Promise.all(Array.from({ length: count }, () => prove(makeHolder(), nonce)));
      return collect(token, { credential_configuration_id: id, proofs: { jwt } });
    };
    expect(await code(ask(3))).toBe('credential_request_denied');
    const tries = await Promise.allSettled([ask(1), ask(1), ask(1), ask(1)]);
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await code(ask(1))).toBe('credential_request_denied');
  });

  it('signs linked data and refuses claims that are not valid linked data', async () => {
    const { token } = await start(ldpVc);
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: ldpVc, proofs });
    expect(credentials[0]!.credential).toMatchObject({
      '@context': ['https://www.w3.org/ns/credentials/v2', engines.config.contextUrl],
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
    const again = { jwt: [await prove(makeHolder(), await nonceFor())] };
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
      const holders = [makeHolder(), makeHolder('EdDSA'), makeHolder()];
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
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor(), 'did:key')] };
    const denied = await refusal(collect(token, { credential_configuration_id: id, proofs }));
    expect([denied.code, denied.message]).toEqual(['credential_request_denied', fault]);
    await admin(compactConfigurations.delete, { params: { id } });
  });

  it('stores the credential for delivery only while a webhook subscribes to it', async () => {
    const webhookId = '33333333-3333-4333-8333-333333333333';
    const publish = (id: string, type: typeof webhookSaved | typeof webhookDeleted, data: object) =>
      engines.bus.publish([{ id, subject: type.subject, data: { tenantId: TENANT, webhookId, ...data } }]);
    const issueOne = async () => {
      const { made, token } = await start(jwtVc);
      const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
      const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
      const stored = await engines.events.readStream(issuanceSessionStream(TENANT, made.id));
      const counted = stored.find(({ type }) => type === 'CredentialIssued')!;
      const { credentialId, documentKeyId } = counted.data as CredentialIssuedData;
      const [recorded] = await engines.events.readStream(issuedCredentialStream(TENANT, credentialId));
      const { document: kept, ...facts } = recorded!.data as CredentialRecordedData;
      expect(documentKeyId).toBe(kept?.keyId);
      expect(engines.events.comparePositions(recorded!.position, counted.position)).toBeLessThan(0);
      const { issuerDid, verificationMethod } = facts;
      expect(facts).toMatchObject({ credentialId, sessionId: made.id, offerId: made.id, userId: made.userId });
      const key = issuerKeys.get('P-256')!;
      expect([issuerDid, verificationMethod]).toEqual([key.did, key.verificationMethod]);
      const body = { tenantId: TENANT, sessionId: made.id, credentialId };
      return { credential: credentials[0]!.credential, kept, body };
    };
    /** A credential that is larger than a document may be; its offer is of before the subscription. */
    const refusedWithoutTrace = async (token: string) => {
      const before = await allOf('credential');
      const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
      const request = { credential_configuration_id: jwtVc, proofs };
      return [await code(collect(token, request)), (await allOf('credential')).length - before.length];
    };
    /** Two requests for the one credential that the session may issue: the refused one leaves nothing. */
    const lostRace = async (attempt: number) => {
      const before = await allOf('credential');
      const capped = await configure('jwt_vc_json', `CappedDelivery${attempt}`, { maxIssuances: 1 });
      const { made, token } = await start(capped);
      const nonces = [await nonceFor(), await nonceFor()];
      const requests = await Promise.all(
        nonces.map(async (nonce) => ({
          credential_configuration_id: capped,
          proofs: { jwt: [await prove(makeHolder(), nonce)] },
        })),
      );
      await Promise.allSettled(requests.map((request) => collect(token, request)));
      const recorded = (await allOf('credential')).slice(before.length);
      const opened = await Promise.all(
        recorded.map(({ data }) =>
          engines.vault.sealing.openSealed(TENANT, 'delivery', (data as CredentialRecordedData).document!.sealed),
        ),
      );
      const session = await engines.events.readStream(issuanceSessionStream(TENANT, made.id));
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
    const recent = new RecentStates(engines.streams, engines.clock);
    const elsewhere = new DeliveryInterest(engines.streams, reactions, recent);
    expect(await Promise.all([TENANT, OTHER].map((id) => elsewhere.hasSubscription(id)))).toEqual([true, false]);
    const { credential, kept, body } = await issueOne();
    expect(await engines.vault.sealing.openSealed(TENANT, 'delivery', kept!.sealed)).toBe(JSON.stringify(credential));
    expect(await retrieveDocument(body)).toEqual({ sealed: kept!.sealed });
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

  it('that an earlier release stored in the session, with its document, is published by reference and counts', async () => {
    const { made } = await start(jwtVc);
    const stream = issuanceSessionStream(TENANT, made.id);
    const last = (await engines.events.readStream(stream)).at(-1)!;
    const credentialId = '44444444-4444-4444-8444-444444444444';
    const facts = {
      ...{ credentialId, answerId: credentialId, sessionId: made.id, offerId: made.id, userId: made.userId },
      ...{ issuer: issuerOf(TENANT), format: 'jwt_vc_json', profile: 'jwt-vc', credentialType: 'Course' },
      ...{ credentialConfigurationId: jwtVc, holderKey: { kty: 'EC' }, issuedAt: '2026-01-01T00:00:00.000Z' },
      validFrom: '2026-01-01T00:00:00.000Z',
    };
    const document = { keyId: '55555555-5555-4555-8555-555555555555', sealed: 'v1.key.iv.text' };
    const data = { ...facts, configurationVersion: 1, tokenId: made.id, sealedCredential: document };
    const { record: _, ...metadata } = last.metadata;
    await engines.events.append(
      stream,
      [chainEvent(last.chain, { id: credentialId, type: 'CredentialIssued', schemaVersion: 1, data, metadata })],
      last.revision,
    );
    const { state } = await engines.streams.load(issuanceSession, stream);
    expect(state).toMatchObject({ status: 'redeemed', issued: { [jwtVc]: 1 } });
    await eventually(() => issued.some(({ id }) => id === credentialId));
    const message = issued.find(({ id }) => id === credentialId)!.data;
    expect(message).toMatchObject({ credentialId, documentKeyId: document.keyId });
    expect(JSON.stringify(message)).not.toContain(document.sealed);
    const body = { tenantId: TENANT, sessionId: made.id, credentialId };
    expect(await retrieveDocument(body)).toEqual({ sealed: document.sealed });
    expect(await code(retrieveDocument({ ...body, credentialId: made.id }))).toBe('NotFound');
    expect(await code(retrieveDocument({ ...body, tenantId: OTHER }))).toBe('NotFound');
    const status = await admin(retrievePreAuthorizedOffer, { params: { id: made.id } });
    expect(status).toMatchObject({ state: 'CLAIMED', issuedCredentials: [{ id: credentialId }] });
  });

  it("is refused under a host of the platform that is not the tenant's own", async () => {
    const key = issuerKeys.get('P-256')!;
    let serial = 0;
    const outcomeUnder = async (did: string) => {
      issuerKeys.set('P-256', { ...key, did, verificationMethod: `${did}#k` });
      const configurationId = await configure('jwt_vc_json', `Under${++serial}`);
      issuerKeys.set('P-256', key);
      const { token } = await start(configurationId);
      const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
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
      const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
      const collected = collect(token, { credential_configuration_id: configurationId, proofs });
      return collected.then(
        () => 'issued',
        (error: AppError) => error.code,
      );
    };
    const publish = (id: string, type: typeof customDomainVerified, revision: number, domain = 'brand.example') =>
      engines.bus.publish([{ id, subject: type.subject, data: { tenantId: TENANT, domain, revision } }]);
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

describe('a credential that a document signer signs', () => {
  const NAMESPACE = 'org.example.1';
  const docType = 'org.example.licence';
  let mdoc: string;
  let iaca: Iaca;
  const request = (type: string, more: object = {}) => ({
    type,
    claimMappings: {
      [NAMESPACE]: {
        given_name: { mapFrom: 'claims.given_name', required: true },
        points: { defaultValue: 3, type: 'number' },
      },
    },
    expiresIn: { days: 30 },
    ...more,
  });
  const configureMdoc = async (type: string, more: object = {}) =>
    ((await admin(mobileConfigurations.create, { body: request(type, more) })) as MobileConfiguration).id;
  const ask = async (token: string, configurationId: string, holders: Holder[]) => {
    const nonce = await nonceFor();
    const jwt = await Promise.all(holders.map((holder) => prove(holder, nonce)));
    return collect(token, { credential_configuration_id: configurationId, proofs: { jwt } });
  };
  beforeAll(async () => {
    mdoc = await configureMdoc(docType);
  });

  it('is denied while no IACA is active, and then issued with the same token', async () => {
    const { token } = await start(mdoc);
    const denied = async () => {
      const { code: error, message } = await refusal(ask(token, mdoc, [makeHolder()]));
      expect([error, message]).toEqual(['credential_request_denied', 'no IACA of the issuer is active and valid']);
    };
    await denied();
    iaca = (await admin(createIaca, { body: { country: 'AU' } })) as Iaca;
    await denied();
    await admin(updateIaca, { params: { id: iaca.id }, body: { active: true } });
    const holder = makeHolder();
    const { credentials } = await ask(token, mdoc, [holder]);
    const deviceKey = holder.privateKey.export({ format: 'jwk' }) as JWK;
    const credential = credentials[0]!.credential as string;
    expect(await verifyMdoc({ credential, docType, deviceKey, iacas: [iaca.certificatePem] })).toEqual({
      [NAMESPACE]: { given_name: 'Ada', points: 3 },
    });
  });

  it('is a batch of copies, of which digests are stored, listed and returned, and no value', async () => {
    const { made, token } = await start(mdoc, { claims: { given_name: 'Canary' } });
    const holders = [makeHolder(), makeHolder()];
    const { credentials } = await ask(token, mdoc, holders);
    expect(new Set(credentials.map(({ credential }) => credential)).size).toBe(2);
    const stored = (await engines.events.readStream(issuanceSessionStream(TENANT, made.id))).filter(
      ({ type }) => type === 'CredentialIssued',
    );
    const issuedHere = stored.map(({ data }) => data as CredentialIssuedData);
    const digests = issuedHere.map((data) => data.digests!);
    expect(digests.map(({ namespaces }) => Object.keys(namespaces[NAMESPACE]!))).toEqual([
      ['given_name', 'points'],
      ['given_name', 'points'],
    ]);
    expect(new Set(digests.map(({ msoHash }) => msoHash)).size).toBe(2);
    const [{ credentialId }] = issuedHere as [CredentialIssuedData];
    const own = await engines.events.readStream(issuedCredentialStream(TENANT, credentialId));
    expect((own[0]!.data as CredentialRecordedData).signerCertificate).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify([stored, own])).not.toContain('Canary');
    const list = async () =>
      ((await admin(listUserCredentials, { params: { userId: made.userId } })) as PageOf<UserCredential>).data;
    await eventually(async () => (await list()).length === 2);
    const listed = (await list()).find(({ id }) => id === credentialId)!;
    expect(listed).toMatchObject({ profile: 'mobile', format: 'mso_mdoc', ...digests[0] });
  });

  it('is refused to keys that are not on P-256, also one among several', async () => {
    const { token } = await start(mdoc);
    expect(await code(ask(token, mdoc, [makeHolder(), makeHolder('EdDSA')]))).toBe('invalid_proof');
    expect((await ask(token, mdoc, [makeHolder()])).credentials).toHaveLength(1);
  });

  it('is denied where its claims or times are impossible, without a value in the answer', async () => {
    const dated = await configureMdoc('org.example.dated', {
      claimMappings: { [NAMESPACE]: { born: { mapFrom: 'claims.born', type: 'date' } } },
      validUntil: { mapFrom: 'claims.until' },
    });
    const denied = async (claims: Record<string, unknown>) => {
      const { id: userId } = (await admin(createUser, { body: { claims: { born: '1990-12-10' } } })) as { id: string };
      const { token } = await start(dated, { claims: {}, userId });
      await admin(updateUser, { params: { id: userId }, body: { claims } });
      const { code: error, message } = await refusal(ask(token, dated, [makeHolder()]));
      expect(error).toBe('credential_request_denied');
      return message;
    };
    expect(await denied({ born: 'canary' })).toBe(
      'org.example.1 born must be a date such as 2026-01-31, not another string',
    );
    expect(await denied({ born: '1990-12-10', until: 'canary' })).toBe(
      'validUntil must have a date such as 2026-01-31, or a date and time with offset such as 2026-01-31T12:00:00Z',
    );
    expect(await denied({ born: '1990-12-10', until: '9999-12-31' })).toBe(
      'validUntil must be at most 3620 days after validFrom',
    );
    const offered = { credentials: [dated], claims: { born: '1990-12-10', until: '9999-12-31' } };
    expect((await refusal(admin(createPreAuthorizedOffer, { body: offered }))).details).toEqual([
      {
        msg: `must fit credential configuration ${dated}: validUntil must be at most 3620 days after validFrom`,
        param: 'claims',
        location: 'body',
      },
    ]);
  });

  it('is configured once for a type, which cannot change', async () => {
    expect((await refusal(admin(mobileConfigurations.create, { body: request(docType) }))).details).toMatchObject([
      { param: 'type', msg: 'is used by another credential configuration' },
    ]);
    const change = { params: { id: mdoc }, body: request('org.example.other') };
    expect((await refusal(admin(mobileConfigurations.update, change))).details).toMatchObject([
      { param: 'type', msg: 'must not change' },
    ]);
    const branding = { name: 'Licence', issuerLogo: 'https://acme.example/logo.png' };
    const updated = await admin(mobileConfigurations.update, {
      params: { id: mdoc },
      body: request(docType, { branding }),
    });
    expect(updated).toEqual({ id: mdoc, ...request(docType, { branding }), includeStatus: false });
    expect(await admin(mobileConfigurations.retrieve, { params: { id: mdoc } })).toEqual(updated);
  });
});

describe('the record of issued credentials', () => {
  let persisting: string;
  beforeAll(async () => {
    persisting = await configure('ldp_vc', 'Kept', { persist: true });
  });

  /** Issues to one user, a request each. */
  const issueTo = async (configurationId: string, proofs = 1, body: Partial<PreAuthorizedOfferRequest> = {}) => {
    const { made, token } = await start(configurationId, body);
    const nonce = await nonceFor();
    const jwt = await Promise.all(Array.from({ length: proofs }, () => prove(makeHolder(), nonce)));
    const { credentials } = await collect(token, { credential_configuration_id: configurationId, proofs: { jwt } });
    await services.app.get(UsersReadModel, { strict: false }).running.waitForHead(10_000);
    const documents = credentials.map(({ credential }) => credential as unknown as { id: string });
    return { made, documents, ids: documents.map(({ id }) => id.slice('urn:uuid:'.length)) };
  };
  const retrieve = (id: string, tenantId = TENANT) =>
    admin(webSemanticRegistry.retrieve, { params: { id } }, tenantId) as Promise<PersistedCredential>;
  const remove = (id: string, tenantId = TENANT) => admin(webSemanticRegistry.delete, { params: { id } }, tenantId);
  const list = (query: object = {}, tenantId = TENANT) =>
    admin(webSemanticRegistry.list, { query }, tenantId) as Promise<PageOf<RegisteredCredential>>;
  const sealedDocument = async (id: string): Promise<string> => {
    const [stored] = await engines.events.readStream(persistedCredentialStream(TENANT, id), { limit: 1 });
    return (stored!.data as CredentialPersistedData).sealed;
  };
  const opened = async (sealed: string) => {
    const text = await engines.vault.sealing.openSealed(TENANT, 'user', sealed);
    return isErased(text) ? 'erased' : text;
  };

  it('has each credential of a batch when the configuration persists them, sealed under the key of the person [T162]', async () => {
    const { made, documents, ids } = await issueTo(persisting, 2);
    for (const [index, id] of ids.entries()) {
      expect(await retrieve(id)).toEqual({
        id,
        type: 'Kept',
        credentialConfigurationId: persisting,
        userId: made.userId,
        issuanceDate: expect.any(String) as string,
        validFrom: expect.any(String) as string,
        validUntil: expect.any(String) as string,
        credential: documents[index],
      });
      const sealed = await sealedDocument(id);
      // Under a key of its own, and inside under that of the user.
      expect(sealed.split('.')[1]).toBe(id);
      const inside = await opened(sealed);
      expect(inside.split('.')[1]).toBe(made.userId);
      expect(JSON.parse(await opened(inside))).toEqual(documents[index]);
    }
    expect(JSON.stringify(await allOf('persistedCredential'))).not.toContain('Ada');
  });

  it('has the metadata alone of other credentials, and of those issued before or after [T162]', async () => {
    const later = await configure('ldp_vc', 'KeptLater');
    const change = (more: object) =>
      admin(webSemanticConfigurations.update, {
        params: { id: later },
        body: { type: 'KeptLater', name: 'x', issuer: { name: 'Acme' }, claimMappings: {}, ...more },
      });
    const before = await issueTo(later);
    for (const persist of ['yes', 1])
      expect((await refusal(change({ persist }))).details).toEqual([
        { value: persist, msg: 'must be a boolean', param: 'persist', location: 'body' },
      ]);
    expect(await change({ persist: true })).toMatchObject({ persist: true });
    const during = await issueTo(later);
    expect(await change({})).toMatchObject({ persist: false });
    const after = await issueTo(later);
    expect(await retrieve(during.ids[0]!)).toMatchObject({ credential: during.documents[0] });
    for (const { ids } of [before, after]) {
      expect(await retrieve(ids[0]!)).toMatchObject({ id: ids[0], type: 'KeptLater' });
      expect(await retrieve(ids[0]!)).not.toHaveProperty('credential');
      expect(await engines.events.readStream(persistedCredentialStream(TENANT, ids[0]!), { limit: 1 })).toEqual([]);
    }
  });

  it('does not have those of other tenants, other formats and unknown ids', async () => {
    const { ids } = await issueTo(persisting);
    const { made } = await start(ldpVc);
    const { token, made: ofJwt } = await start(jwtVc);
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    await collect(token, { credential_configuration_id: jwtVc, proofs });
    await services.app.get(UsersReadModel, { strict: false }).running.waitForHead(10_000);
    const listed = (await admin(listUserCredentials, { params: { userId: ofJwt.userId } })) as PageOf<UserCredential>;
    for (const call of [retrieve, remove]) {
      expect(await code(call(ids[0]!, OTHER))).toBe('NotFound');
      for (const id of [made.id, listed.data[0]!.id]) expect(await code(call(id))).toBe('NotFound');
    }
    expect((await list({}, OTHER)).data).toEqual([]);
    expect((await list()).data.map(({ id }) => id)).toContain(ids[0]);
  });

  it('is listed oldest first in pages, by type, whose cursor belongs to tenant and filters [T163]', async () => {
    const listed = await configure('ldp_vc', 'Listed');
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push(...(await issueTo(listed)).ids);
      ahead += 1000;
    }
    await issueTo(persisting);
    const query = { type: 'Listed', limit: '2' };
    const first = await list(query);
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first.data[0]).toEqual(await retrieve(ids[0]!));
    const second = await list({ ...query, cursor: first.nextCursor });
    expect(second).toEqual({ data: [expect.objectContaining({ id: ids[2] })] });
    const types = new Set((await list()).data.map(({ type }) => type));
    expect([...types]).toEqual(expect.arrayContaining(['Listed', 'Kept']));
    // Metadata alone, whatever was kept.
    for (const one of (await list({ type: 'Kept' })).data) expect(one).not.toHaveProperty('credential');
    // Only credentials that are signed directly have a tag.
    expect(await list({ tag: 'x' })).toEqual({ data: [] });
    const { nextCursor: cursor } = first;
    for (const [other, tenantId] of [
      [{ ...query, cursor }, OTHER],
      [{ type: 'Kept', cursor }, TENANT],
      [{ ...query, tag: 'x', cursor }, TENANT],
      [{ ...query, cursor: 'x' }, TENANT],
    ] as const)
      expect((await refusal(list(other, tenantId))).details).toMatchObject([{ param: 'cursor', location: 'query' }]);
    expect((await refusal(list({ limit: '0' }))).details).toMatchObject([{ param: 'limit' }]);
  });

  it('ends with the deletion of a credential, which destroys its key and no other [T164]', async () => {
    const { made, documents, ids } = await issueTo(persisting, 2);
    const [gone, kept] = ids as [string, string];
    const sealed = await sealedDocument(gone);
    await remove(gone);
    for (const call of [retrieve, remove]) expect(await code(call(gone))).toBe('NotFound');
    expect((await list({ type: 'Kept' })).data.map(({ id }) => id)).not.toContain(gone);
    const ofUser = (await admin(listUserCredentials, { params: { userId: made.userId } })) as PageOf<UserCredential>;
    expect(ofUser.data.map(({ id }) => id)).toEqual([kept]);
    expect(await opened(sealed)).toBe('erased');
    expect(await retrieve(kept)).toMatchObject({ credential: documents[1] });
    const events = await engines.events.readStream(issuedCredentialStream(TENANT, gone));
    expect(events.map(({ type }) => type)).toEqual(['CredentialRecorded', 'CredentialDeleted']);
    const erased = await engines.events.readStream(persistedCredentialStream(TENANT, gone));
    expect(erased.at(-1)).toMatchObject({
      type: 'PersistedCredentialErased',
      data: { credentialId: gone, destroyedKeys: [gone] },
    });
  });

  it('of which a deletion was interrupted has the metadata, until it is deleted again', async () => {
    const { ids } = await issueTo(persisting);
    const id = ids[0]!;
    await engines.vault.sealing.destroyDataKeys(TENANT, [id]);
    expect(await retrieve(id)).not.toHaveProperty('credential');
    await remove(id);
    expect(await code(retrieve(id))).toBe('NotFound');
  });

  it('of a credential that was not kept can be deleted, too', async () => {
    const { ids } = await issueTo(ldpVc);
    await remove(ids[0]!);
    expect(await code(retrieve(ids[0]!))).toBe('NotFound');
    expect(await engines.events.readStream(persistedCredentialStream(TENANT, ids[0]!), { limit: 1 })).toEqual([]);
  });

  it('ends with the deletion of the user, whose key is inside every document [T162]', async () => {
    const { made, ids } = await issueTo(persisting);
    const inside = await opened(await sealedDocument(ids[0]!));
    await admin(deleteUser, { params: { id: made.userId } });
    expect(await opened(inside)).toBe('erased');
    for (const call of [retrieve, remove]) expect(await code(call(ids[0]!))).toBe('NotFound');
    expect((await list({ type: 'Kept' })).data.map(({ id }) => id)).not.toContain(ids[0]);
  });

  it('is not written for a user who is being deleted', async () => {
    const { made, token } = await start(persisting);
    await engines.vault.sealing.createDataKey(TENANT, 'user', made.userId);
    await engines.vault.sealing.destroyDataKeys(TENANT, [made.userId]);
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const error = await refusal(collect(token, { credential_configuration_id: persisting, proofs }));
    expect([error.code, error.message]).toEqual([
      'credential_request_denied',
      'the claims of this offer are no longer available',
    ]);
  });

  it('has the metadata of what an earlier release issued without a stream of its own, which can be deleted', async () => {
    const { made } = await start(ldpVc);
    const stream = issuanceSessionStream(TENANT, made.id);
    const last = (await engines.events.readStream(stream)).at(-1)!;
    const id = '77777777-7777-4777-8777-777777777777';
    const issuedAt = '2026-01-01T00:00:00.000Z';
    const data = {
      ...{ credentialId: id, answerId: id, sessionId: made.id, offerId: made.id, userId: made.userId },
      ...{ issuer: issuerOf(TENANT), format: 'ldp_vc', profile: 'web-semantic', credentialType: 'Course' },
      ...{ credentialConfigurationId: ldpVc, holderKey: { kty: 'EC' }, issuedAt, validFrom: issuedAt },
      ...{ configurationVersion: 1, tokenId: made.id },
    };
    const { record: _, ...metadata } = last.metadata;
    await engines.events.append(
      stream,
      [chainEvent(last.chain, { id, type: 'CredentialIssued', schemaVersion: 1, data, metadata })],
      last.revision,
    );
    await services.app.get(UsersReadModel, { strict: false }).running.waitForHead(10_000);
    expect(await retrieve(id)).toEqual({
      ...{ id, type: 'Course', credentialConfigurationId: ldpVc, userId: made.userId },
      ...{ issuanceDate: issuedAt, validFrom: issuedAt },
    });
    await remove(id);
    expect(await code(retrieve(id))).toBe('NotFound');
  });
});

describe('metadata', () => {
  interface IssuerMetadata extends Record<string, unknown> {
    credential_configurations_supported: Record<string, Record<string, unknown>>;
    credentials_supported: Record<string, unknown>[];
  }
  const answerFor = async (
    headers: Record<string, string> = {},
    { tenantId = TENANT, publicUrl = issuerOf(tenantId) }: { tenantId?: string; publicUrl?: string } = {},
  ) => {
    const raw = { method: 'GET', url: '/.well-known/openid-credential-issuer', headers, text: '' };
    const answer = await client.call(
      retrieveIssuerMetadata,
      { raw },
      { ...contextFor('x', { kind: 'public' }, tenantId), publicUrl },
    );
    const { headers: sent, body } = (answer as HttpAnswer).$http;
    return { headers: sent, body: body as IssuerMetadata };
  };
  const get = async (...args: Parameters<typeof answerFor>) => (await answerFor(...args)).body;

  it('requested under the custom domain names that domain, and the endpoints of the tenant', async () => {
    const own = await get();
    const branded = await get({}, { publicUrl: 'https://brand.example' });
    expect(branded).toEqual({
      ...own,
      credential_issuer: 'https://brand.example',
      authorization_servers: [issuerOf(TENANT)],
    });
    expect(own).toMatchObject({ authorization_servers: [issuerOf(TENANT)] });
  });

  it('has the brand of the verified custom domain, at the latest a second after it changed', async () => {
    expect(await get()).not.toHaveProperty('display');
    brands.set(TENANT, { name: 'Acme', logoUrl: 'https://acme.example/logo.png' });
    ahead += 1000;
    const display = [{ name: 'Acme', logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' } }];
    expect(await get()).toMatchObject({ display });
    expect(await get({}, { publicUrl: 'https://brand.example' })).toMatchObject({ display });
    brands.set(TENANT, { name: 'Acme Ltd', logoUrl: 'https://acme.example/logo.png' });
    ahead += 1000;
    expect(await get()).toMatchObject({ display: [{ name: 'Acme Ltd' }] });
    brands.delete(TENANT);
    ahead += 1000;
    expect(await get()).not.toHaveProperty('display');
  });

  it('is unsigned for an issuer without a signer, which an unauthenticated read does not make [T167]', async () => {
    const publicUrl = 'https://unverified.example';
    const { headers, body } = await answerFor({ accept: 'application/jwt' }, { publicUrl });
    expect(headers).toEqual({ vary: 'Accept-Language, Accept' });
    expect(body).toMatchObject({ credential_issuer: publicUrl });
    const read = { ...contextFor(retrieveJwtVcIssuer.name, { kind: 'public' }), publicUrl };
    await expect(client.call(retrieveJwtVcIssuer, {}, read)).rejects.toThrow('Resource Not Found');
  });

  it('is signed with the key of the issuer when the caller prefers that', async () => {
    const issuer = issuerOf(TENANT);
    const sent = { accept: 'application/jwt', 'accept-language': 'de' };
    const { headers, body } = await answerFor(sent);
    expect(headers).toEqual({ vary: 'Accept-Language, Accept', 'content-type': 'application/jwt' });
    const jws = body as unknown as string;
    const { x5c, ...header } = decodeProtectedHeader(jws);
    expect([header, x5c?.length]).toEqual([{ alg: 'ES256', typ: 'openidvci-issuer-metadata+jwt' }, 1]);
    const certificate = new X509Certificate(Buffer.from(x5c![0]!, 'base64'));
    const { certificates } = await client.call(retrieveIssuerCa, {}, contextFor('x', { kind: 'public' }));
    expect(certificate.verify(new X509Certificate(certificates[0]!).publicKey)).toBe(true);
    expect(certificate.subjectAltName).toContain(new URL(issuer).host);
    const { payload } = await jwtVerify(jws, certificate.publicKey, { currentDate: new Date(Date.now() + ahead) });
    expect(payload).toEqual({ ...(await get()), sub: issuer, iat: expect.any(Number) as number });
  });

  it('has the display of each configuration in the languages of the caller', async () => {
    const [en, de] = [
      { locale: 'en', name: 'Course' },
      { locale: 'de', name: 'Kurs', background_color: '#a1b2c3' },
    ];
    const names = [
      { name: 'Vorname', locale: 'de' },
      { name: 'Given name', locale: 'en' },
    ];
    const configured = await configure('ldp_vc', 'Multilingual', {
      display: [en, de],
      claimMappings: { givenName: { mapFrom: 'claims.given_name', display: names } },
    });
    const logo = { uri: 'https://acme.example/logo.png', alt_text: 'Acme' };
    const shown = async (headers: Record<string, string>) => {
      const answer = await answerFor(headers);
      const { credential_metadata: shown } = answer.body.credential_configurations_supported[configured]!;
      const legacy = answer.body.credentials_supported.find(({ id }) => id === configured)!;
      expect(legacy['display']).toEqual((shown as { display: unknown }).display);
      return { headers: answer.headers, shown, credentialSubject: legacy['credentialSubject'] };
    };
    expect(await shown({})).toEqual({
      headers: { vary: 'Accept-Language, Accept' },
      shown: {
        display: [
          { ...en, logo },
          { ...de, logo },
        ],
        claims: [{ path: ['credentialSubject', 'givenName'], mandatory: false, display: names }],
      },
      credentialSubject: { givenName: { mandatory: false, display: names } },
    });
    expect(await shown({ 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' })).toEqual({
      headers: { vary: 'Accept-Language, Accept', 'content-language': 'de' },
      shown: {
        display: [{ ...de, logo }],
        claims: [{ path: ['credentialSubject', 'givenName'], mandatory: false, display: [names[0]] }],
      },
      credentialSubject: { givenName: { mandatory: false, display: [names[0]] } },
    });
    expect(await shown({ 'accept-language': 'fr, *' })).toEqual(await shown({}));
    await admin(webSemanticConfigurations.delete, { params: { id: configured } });
  });

  it('describes every configuration, including the newest', async () => {
    const metadata = await get();
    expect(metadata).toMatchObject({
      credential_issuer: issuerOf(TENANT),
      credential_endpoint: `${issuerOf(TENANT)}/v1/openid/credential`,
      nonce_endpoint: `${issuerOf(TENANT)}/v1/openid/nonce`,
      batch_credential_issuance: { batch_size: 10 },
    });
    expect(metadata.credential_configurations_supported[jwtVc]).toEqual({
      format: 'jwt_vc_json',
      id: jwtVc,
      scope: 'jwt_vc_json:Course',
      credential_definition: { type: ['VerifiableCredential', 'Course'] },
      cryptographic_binding_methods_supported: ['did:key', 'did:jwk', 'jwk'],
      credential_signing_alg_values_supported: ['ES256'],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
      credential_metadata: {
        display: [{ name: 'Course name', logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' } }],
        claims: [
          { path: ['credentialSubject', 'givenName'], mandatory: true },
          { path: ['credentialSubject', 'city'], mandatory: false },
          { path: ['credentialSubject', 'level'], mandatory: false },
          { path: ['credentialSubject', 'nick'], mandatory: false },
        ],
      },
    });
    expect(metadata.credential_configurations_supported[ldpVc]).toMatchObject({
      credential_definition: { '@context': ['https://www.w3.org/ns/credentials/v2', engines.config.contextUrl] },
      credential_signing_alg_values_supported: ['eddsa-rdfc-2022'],
    });
    const added = await configure('jwt_vc_json', 'Added');
    expect(Object.keys((await get()).credential_configurations_supported)).toContain(added);
    await admin(jwtVcConfigurations.delete, { params: { id: added } });
    expect(Object.keys((await get()).credential_configurations_supported)).not.toContain(added);
  });

  it("is the tenant's own", async () => {
    const metadata = await get({}, { tenantId: OTHER });
    expect(metadata['credential_configurations_supported']).toEqual({});
  });

  it('of the authorization server lists the supported features', async () => {
    const metadata = await client.call(retrieveAuthorizationServerMetadata, {}, contextFor('x', { kind: 'public' }));
    expect(metadata).toMatchObject({
      issuer: issuerOf(TENANT),
      token_endpoint: `${issuerOf(TENANT)}/v1/oauth/token`,
      jwks_uri: `${issuerOf(TENANT)}/v1/oauth/jwks`,
      grant_types_supported: ['authorization_code', GRANT, 'refresh_token'],
      'pre-authorized_grant_anonymous_access_supported': true,
      scopes_supported: expect.arrayContaining(['jwt_vc_json:Course', 'ldp_vc:Course']) as string[],
    });
    expect(await client.call(retrieveOauthKeys, {}, contextFor('x', { kind: 'public' }))).toEqual({ keys: [] });
  });
});

describe('large linked data', () => {
  const limit = 20_000;
  const list = (length: number) => ({ given_name: Array.from({ length }, (_, i) => `row ${i}`) });
  const nested = (levels: number) => {
    let value: unknown = 'x';
    for (let i = 0; i < levels; i++) value = { in: value };
    return { given_name: value };
  };
  /** Blank nodes in a circle, which canonicalization distinguishes only in quadratic time. */
  const ring = (length: number) => ({
    given_name: Array.from({ length }, (_, i) => ({ id: `_:n${i}`, next: { id: `_:n${(i + 1) % length}` } })),
  });
  const collectWith = async (token: string, count: number) => {
    const nonce = await nonceFor();
    const jwt = await Promise.all(Array.from({ length: count }, () => prove(makeHolder(), nonce)));
    return () => collect(token, { credential_configuration_id: ldpVc, proofs: { jwt } });
  };
  const detailOf = async (promise: Promise<unknown>) => {
    const { kind, details } = await refusal(promise);
    return [kind, details?.map(({ param, msg }) => `${param} ${msg}`)];
  };

  it('is refused in an offer whose credential could never be issued', async () => {
    const refused = (id: string, fault: string) => [
      'invalid',
      [`claims must fit credential configuration ${id}: ${fault}`],
    ];
    const tooMany = (id: string, claim = 'givenName') =>
      refused(id, `${claim} must not make the claims of the credential have more than 20000 JSON values`);
    const tooDeep = (id: string) =>
      refused(id, 'givenName must not make the claims of the credential nest deeper than 32 levels');
    expect(await detailOf(offer({ credentials: [jwtVc, ldpVc], claims: list(limit - 1) }))).toEqual(tooMany(ldpVc));
    expect(await detailOf(offer({ credentials: [ldpVc], claims: nested(31) }))).toEqual(tooDeep(ldpVc));
    // One claim that becomes many.
    const claimMappings = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`claim${i}`, { mapFrom: 'claims.given_name' }]),
    );
    const multiplied = await configure('ldp_vc', 'Multiplied', { claimMappings });
    expect(await detailOf(offer({ credentials: [multiplied], claims: list(100) }))).toEqual(
      tooMany(multiplied, 'claim198'),
    );
    await offer({ credentials: [multiplied], claims: list(90) });
    // Not linked data.
    await offer({ credentials: [jwtVc], claims: list(limit - 1) });
    await offer({ credentials: [ldpVc], claims: nested(3) });
  });

  it('is refused in the default values of a configuration', async () => {
    const of = (...values: unknown[]) => ({
      claimMappings: Object.fromEntries(values.map((defaultValue, i) => [`claim${i}`, { defaultValue }])),
    });
    const many = Array.from({ length: limit - 2 }, () => 1);
    expect(await detailOf(configure('ldp_vc', 'Large', of(many)))).toEqual([
      'invalid',
      ['claimMappings.claim0 must not have a defaultValue that makes claims have more than 20000 JSON values'],
    ]);
    // The shape of a request limits several values together.
    expect(await detailOf(configure('ldp_vc', 'Large', of(many, 'x')))).toEqual([
      'invalid',
      ['claimMappings must have at most 20000 values in total'],
    ]);
    expect(await detailOf(configure('ldp_vc', 'Large', of('x', nested(30).given_name)))).toEqual([
      'invalid',
      ['claimMappings.claim1 must not have a defaultValue that makes claims nest deeper than 32 levels'],
    ]);
    await configure('jwt_vc_json', 'Large', of(many));
  });

  it('is bounded over all proofs of a request', async () => {
    const { token } = await start(ldpVc, { claims: list(2500) });
    const refused = await refusal((await collectWith(token, 8))());
    expect([refused.code, refused.message]).toEqual([
      'credential_request_denied',
      'givenName must not make the claims of the credentials of one request have more than 20000 JSON values',
    ]);
    const { credentials } = await (await collectWith(token, 7))();
    expect(credentials).toHaveLength(7);
  });

  it('is refused in an offer when it takes too long', async () => {
    const pool = services.app.get(Canonicalization, { strict: false });
    const { deadlineMs } = pool as unknown as { deadlineMs: number };
    Object.assign(pool, { deadlineMs: 1000 });
    const msg = 'givenName takes too long to canonicalize: it must take at most 5 seconds';
    expect(await detailOf(offer({ credentials: [ldpVc], claims: ring(4900) }))).toEqual([
      'invalid',
      [`claims must fit credential configuration ${ldpVc}: ${msg}`],
    ]);
    Object.assign(pool, { deadlineMs });
  });

  it('is denied when it takes too long, and refused with 503 when there is no capacity, without spending the nonce', async () => {
    const pool = services.app.get(Canonicalization, { strict: false });
    // An offer of a release that did not check its claims.
    const format = services.app.get(LdpVc, { strict: false });
    Object.assign(format, { check: async () => undefined });
    const { token: poisoned } = await start(ldpVc, { claims: ring(4900) });
    delete (format as { check?: unknown }).check;
    const { token } = await start(ldpVc, { claims: list(1000) });
    const [first, second] = [await collectWith(poisoned, 1), await collectWith(token, 1)];
    // The deadline is that of the one job alone: others are as slow as the machine.
    const { deadlineMs } = pool as unknown as { deadlineMs: number };
    Object.assign(pool, { deadlineMs: 1500 });
    const endless = refusal(first());
    await eventually(() => pool.runningJobs === 1);
    Object.assign(pool, { deadlineMs });
    const document = { '@context': ['https://www.w3.org/ns/credentials/v2'], name: list(1000).given_name };
    const waiting = Array.from({ length: 64 }, (_, i) => pool.hashes(`tenant ${i}`, [document]));
    const ends = Promise.allSettled(waiting);
    const full = await refusal(second());
    expect([full.kind, full.headers]).toEqual(['unavailable', { 'retry-after': '5' }]);
    expect(await endless).toMatchObject({
      code: 'credential_request_denied',
      message: 'givenName takes too long to canonicalize: it must take at most 5 seconds',
    });
    await ends;
    expect((await second()).credentials).toHaveLength(1);
  });
});

describe('claims that linked data cannot express', () => {
  const NESTED =
    'must not have arrays in arrays, which JSON-LD reads as one array: use objects with named members, or a context that defines the term with the container @list or the type @json';
  const ROWS: [string, unknown, string][] = [
    [
      'an id that is no IRI',
      { id: '12345' },
      'must have absolute IRIs as id, such as urn:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427: other identifiers need another name',
    ],
    ['a type with a space', { type: 'Foo Bar' }, 'must have types that are absolute IRIs or names without spaces'],
    [
      'a member name with a space',
      [{ 'Street Name': 'Main' }],
      'must have member names that are allowed in an IRI, without spaces',
    ],
    [
      'arrays in arrays',
      [
        ['math', 1],
        ['physics', 5],
      ],
      NESTED,
    ],
  ];
  const claimMappings = { details: { mapFrom: 'claims.about' }, name: { mapFrom: 'claims.given_name' } };
  let id: string;
  beforeAll(async () => (id = await configure('ldp_vc', 'Checked', { claimMappings })));
  const detailsOf = async (promise: Promise<unknown>) => (await refusal(promise)).details;
  const detail = (msg: string, param = 'claims') => [
    { msg: `must fit credential configuration ${id}: details ${msg}`, param, location: 'body' },
  ];

  it.each(ROWS)('are refused at each offer, with configuration and claim: %s [T568]', async (_, about, msg) => {
    const claims = { given_name: 'Ada', about };
    expect(await detailsOf(offer({ credentials: [jwtVc, id], claims }))).toEqual(detail(msg));
    const sets = [{ credentialConfigurationId: id, claimSets: [{ claims: { about: { level: 1 } } }, { claims }] }];
    const param = 'credentials.0.claimSets.1.claims';
    expect(await detailsOf(offer({ credentials: sets, claims: {} }))).toEqual(detail(msg, param));
    expect(await detailsOf(admin(createOffer, { body: { credentials: sets } }))).toEqual(detail(msg, param));
    // The user's own.
    const { id: userId } = (await admin(createUser, { body: { claims } })) as { id: string };
    expect(await detailsOf(offer({ credentials: [id], userId, claims: { other: 1 } }))).toEqual(detail(msg));
    // Claims of the offer win.
    await offer({ credentials: [id], userId, claims: { about: 'plain' } });
    await offer({ credentials: [jwtVc], claims });
  });

  it.each(ROWS)(
    'are denied with the claim when they are known at the issuance only: %s [T568]',
    async (_, about, msg) => {
      const { id: userId } = (await admin(createUser, {})) as { id: string };
      const { token } = await start(id, { userId, claims: { given_name: 'Ada' } });
      await admin(updateUser, { params: { id: userId }, body: { claims: { about } } });
      const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
      const denied = await refusal(collect(token, { credential_configuration_id: id, proofs }));
      expect([denied.code, denied.message]).toEqual(['credential_request_denied', `details ${msg}`]);
    },
  );

  it('are signed as before with arrays in arrays, where the offer is of before [T676]', async () => {
    const { id: userId } = (await admin(createUser, {})) as { id: string };
    const about = ROWS.at(-1)![1];
    const { code } = await offerOfBefore({ credentials: [id], userId }, { given_name: 'Ada', about });
    const { access_token: token } = await redeem(code);
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: id, proofs });
    expect(credentials).toMatchObject([{ credential: { credentialSubject: { details: about, name: 'Ada' } } }]);
    // Claims that cannot be signed at all are denied as before.
    const faulty = await offerOfBefore({ credentials: [id], userId }, { about: { id: '12345' } });
    const { access_token: another } = await redeem(faulty.code);
    const body = { credential_configuration_id: id, proofs: { jwt: [await prove(makeHolder(), await nonceFor())] } };
    expect((await refusal(collect(another, body))).code).toBe('credential_request_denied');
  });

  it.each(ROWS)('are refused as a default value of a configuration: %s [T568]', async (_, defaultValue, msg) => {
    const of = (value: unknown) => ({
      claimMappings: { ...claimMappings, grades: { mapFrom: 'claims.x', defaultValue: value } },
    });
    const expected = [
      {
        msg: `has a defaultValue that no credential can have: it ${msg}`,
        param: 'claimMappings.grades',
        location: 'body',
      },
    ];
    expect(await detailsOf(configure('ldp_vc', 'Defaults', of(defaultValue)))).toEqual(expected);
    const made = await configure('ldp_vc', `Defaults ${_}`.replaceAll(' ', '-'), of({ level: 1 }));
    const {
      id: _id,
      issuerDid: _did,
      ...body
    } = (await admin(webSemanticConfigurations.retrieve, {
      params: { id: made },
    })) as { id: string; issuerDid: string };
    const update = (value: unknown) =>
      admin(webSemanticConfigurations.update, { params: { id: made }, body: { ...body, ...of(value) } });
    expect(await detailsOf(update(defaultValue))).toEqual(expected);
    await update([1, 2]);
    await configure('jwt_vc_json', `Defaults ${_}`.replaceAll(' ', '-'), of(defaultValue));
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
    const counting = engines.bus.consume(
      { name: 'spec.operations', subjects: [OPERATION_SUBJECTS] },
      async (messages) => void sent.push(...messages.map(({ subject, data }) => `${subject} ${JSON.stringify(data)}`)),
    );
    const { made, token } = await start(jwtVc);
    const redeeming = `request-${requests}`;
    const proofs = { jwt: [await prove(makeHolder(), await nonceFor())] };
    await collect(token, { credential_configuration_id: jwtVc, proofs });
    const collecting = `request-${requests}`;
    await eventually(() => outcomes(collecting).length > 0);
    await engines.recorders.flush(1000);
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

// Last: a call whose answer is lost is recorded with its event, and as a failure.
describe('the index of a credential in its status list [T148]', () => {
  let revocable: string;
  const listId = () => firstListId(TENANT, `jwt ${issuerKeys.get('P-256')!.verificationMethod}`);
  beforeAll(async () => {
    revocable = await configure('jwt_vc_json', 'Revocable', { revocable: true, maxIssuances: 10 });
  });

  const list = async () => {
    const { state } = await engines.streams.load(statusList, statusListStream(TENANT, listId()));
    if (state.status !== 'open') throw new Error('the list is not open');
    const secret = await engines.vault.sealing.openSealed(TENANT, 'tenant', state.sealedSecret);
    const indexesFrom = (first: number, count: number) =>
      permuteCounters(Buffer.from(secret as string, 'base64url'), state.size, first, count);
    return { ...state, indexesFrom };
  };
  const proofs = async (count: number, nonce: string) => ({
    credential_configuration_id: revocable,
    proofs: { jwt: await Promise.all(Array.from({ length: count }, () => prove(makeHolder(), nonce))) },
  });
  const indexesOf = ({ credentials }: ResponseOf<typeof issueCredential>): number[] =>
    credentials.map(({ credential }) => {
      const { status } = decodeJwt<{ status: { status_list: { idx: number } } }>(credential as string);
      return status.status_list.idx;
    });
  const recordedIndexes = async () =>
    (await allOf(issuedCredential.category))
      .map(({ data }) => (data as unknown as CredentialRecordedData).status)
      .filter((status) => status?.listId === listId())
      .map((status) => status!.index);

  /** For the next unit with several streams: the one of a credential. */
  const replaceCommit = (replaced: (unit: UnitOfWork, commit: EventStore['commit']) => Promise<AppendResult>) => {
    const { commit } = engines.events;
    engines.events.commit = (unit) => {
      if (unit.appends.length === 1) return commit.call(engines.events, unit);
      engines.events.commit = commit;
      return replaced(unit, commit.bind(engines.events));
    };
  };

  it('is given to the next one when the request is refused', async () => {
    const { token } = await start(revocable);
    const used = await proofs(2, await nonceFor());
    const first = indexesOf(await collect(token, used));
    const before = (await list()).next;
    for (let n = 0; n < 50; n++) expect(await code(collect(token, used))).toBe('invalid_nonce');
    // At the same time, so that the limit refuses them when they are stored.
    const both = await Promise.allSettled(
      [await proofs(8, await nonceFor()), await proofs(8, await nonceFor())].map((body) => collect(token, body)),
    );
    const [second] = both.flatMap((outcome) => (outcome.status === 'fulfilled' ? [indexesOf(outcome.value)] : []));
    const [refused] = both.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as AppError] : []));
    expect(refused).toMatchObject({
      code: 'credential_request_denied',
      message: 'the credential configuration allows no more credentials for this offer',
    });
    expect((await list()).next).toBe(before);
    const other = await start(revocable);
    const third = indexesOf(await collect(other.token, await proofs(10, await nonceFor())));
    const all = [...first, ...second!, ...third];
    // 116 indexes were allocated, of which 20 are used.
    expect(new Set(all)).toEqual(new Set((await list()).indexesFrom(0, 20)));
    expect(await recordedIndexes()).toHaveLength(20);
  });

  it('is never given out again when the credential may be stored', async () => {
    const { token } = await start(revocable);
    const given = await recordedIndexes();
    // The unit is stored, but its answer is lost.
    replaceCommit(async (unit, commit) => {
      await commit(unit);
      throw new EventStoreUnavailable('the answer is lost');
    });
    const lost = await refusal(collect(token, await proofs(5, await nonceFor())));
    expect(lost.kind).toBe('unavailable');
    const stored = await recordedIndexes();
    expect(stored).toHaveLength(given.length + 5);
    const next = indexesOf(await collect(token, await proofs(5, await nonceFor())));
    expect(next.filter((index) => stored.includes(index))).toEqual([]);
  });

  it('is not given out again when a conflict left it in the stream of the credential', async () => {
    const { made, token } = await start(revocable);
    const given = await recordedIndexes();
    const data = { credentialConfigurationId: revocable } as CredentialIssuedData;
    // The store has no transactions, and another process reaches the limit of the session meanwhile.
    replaceCommit(async (unit) => {
      await new Streams(engines.events, engines.clock, engines.ids).runDecision(
        issuanceSession,
        issuanceSessionStream(TENANT, made.id),
        () => Array.from({ length: 10 }, () => ({ type: 'CredentialIssued' as const, data })),
        serviceContext('issuance.spec', TENANT),
      );
      return EventStore.prototype.commit.call(engines.events, unit);
    });
    const refused = await refusal(collect(token, await proofs(3, await nonceFor())));
    expect(refused).toMatchObject({ code: 'credential_request_denied' });
    const stored = await recordedIndexes();
    expect(stored).toHaveLength(given.length + 3);
    const other = await start(revocable);
    const next = indexesOf(await collect(other.token, await proofs(10, await nonceFor())));
    expect(next.filter((index) => stored.includes(index))).toEqual([]);
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
    issuerDid = `did:web:${domain}`;
    const isJson = format === 'ldp_vc';
    const body = {
      ...{ type: `Lost${domain.slice(0, 8)}`, claimMappings: { given_name: { mapFrom: 'claims.given_name' } } },
      ...(isJson && { name: 'Lost', issuer: { name: 'Acme' } }),
      ...{ revocable: false, ...more },
    };
    const { id } = (await admin(operations.create, { body }).finally(() => (issuerDid = undefined))) as {
      id: string;
    };
    const outcome = async () => {
      const { token } = await start(id);
      const proofs = { jwt: [await prove(makeHolder(), await nonceFor(), 'did:key')] };
      return collect(token, { credential_configuration_id: id, proofs }).then(
        ({ credentials }) => `issued ${credentials.length}`,
        ({ code, message }: AppError) => `${code}: ${message}`,
      );
    };
    const publish = (type: typeof customDomainVerified) =>
      engines.bus.publish([
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
