/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  approveDeferredIssuance,
  createUser,
  createWallet,
  credentialNotified,
  deletePreAuthorizedOffer,
  deleteUser,
  deleteWallet,
  denyDeferredIssuance,
  exchangeToken,
  issuanceDeferred,
  issueCredential,
  issueDeferredCredential,
  jwtVcConfigurations,
  sdJwtConfigurations,
  listDeferredIssuances,
  recordNotification,
  revokeWalletToken,
  retrievePreAuthorizedOffer,
  updateOpenIdConfiguration,
  updateUser,
  type AccessTokenResponse,
  type CredentialResponse,
  type DeferredIssuance,
  type DeferredResponse,
  type Operation,
  type PageOf,
  type PreAuthorizedOfferRequest,
  type SdJwtConfigurationRequest,
} from '@attestry/contracts';
import { isErased, type PublicJwk } from '@attestry/keys';
import { waitUntil } from '@attestry/testing';
import { athOf, IssuanceUnderTest, makeWalletKey as makeKey, type WalletKey } from '@attestry/testing/services';
import { jest } from '@jest/globals';
import { decodeJwt } from 'jose';
import { ClaimsNotReady } from '../../claims/credential-claims/claims-not-ready.js';
import { CredentialClaims } from '../../claims/credential-claims/credential-claims.js';
import { credentialNotificationStream } from '../credential-notification/credential-notification.state.js';
import { issuanceService } from '../../index.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { DeferredIssuancesReadModel } from './deferred-issuances.read-model.js';
import { SessionKeys } from '../../offers/session-keys/session-keys.js';

const { TENANT, OTHER, WALLET, BACK } = IssuanceUnderTest;
const DAY_MS = 86_400_000;

const issuance = new IssuanceUnderTest(issuanceService, {
  settings: { WALLET_REDIRECT_URIS: BACK },
  person: () => ({ subjectId: 'zoe', claims: { name: 'Zoe' } }),
  subjects: [issuanceDeferred.subject, credentialNotified.subject],
});
const { admin, baseOf, codeGrant, configure, nonce, sendForm, sendJson } = issuance;
/** Ids of the configurations with `approval: manual`, by tenant. */
const manual = new Map<string, string>();
let automatic: string;

beforeAll(async () => {
  await issuance.open();
  for (const tenantId of [TENANT, OTHER])
    manual.set(tenantId, await configure('Approved', { approval: 'manual' }, tenantId));
  automatic = await configure('Immediate');
});
beforeEach(() => {
  issuance.ahead = 0;
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => issuance.remove());

const refusalOf = async (promise: Promise<unknown>): Promise<[string, string] | undefined> => {
  try {
    await promise;
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [error.code, error.message];
  }
};

// --- the wallet

const offer = (body: Partial<PreAuthorizedOfferRequest> = {}, tenantId = TENANT) =>
  issuance.offer({ credentials: [manual.get(tenantId)!], claims: { name: 'Ada' }, ...body }, tenantId);
type Offered = Awaited<ReturnType<typeof offer>>;
const redeem = async ({ code }: Offered, key?: WalletKey) =>
  (await issuance.redeem(code, key && { dpop: await issuance.proveDpop(key, exchangeToken) })).body.access_token;
const authorized = (token: string, more: Record<string, string>) => ({ authorization: `Bearer ${token}`, ...more });

const collect = async (
  token: string,
  { keys = [makeKey()], tenantId = TENANT, more = {}, nonce: given, ...named }: Collecting = {},
) => {
  const used = { nonce: given ?? (await nonce(tenantId)) };
  const jwt = await Promise.all(keys.map((key) => issuance.proveKey(key, tenantId, used)));
  return sendJson<CredentialResponse & DeferredResponse>(
    issueCredential,
    { credential_configuration_id: manual.get(tenantId), ...named, proofs: { jwt } },
    authorized(token, more),
    tenantId,
  );
};
interface Collecting {
  [member: string]: unknown;
  keys?: readonly WalletKey[];
  tenantId?: string;
  more?: Record<string, string>;
  nonce?: string;
}
const poll = (token: string, transactionId: unknown, more: Record<string, string> = {}, tenantId = TENANT) =>
  sendJson<CredentialResponse & DeferredResponse>(
    issueDeferredCredential,
    { transaction_id: transactionId },
    authorized(token, more),
    tenantId,
  );
const notify = (token: string, body: unknown, more: Record<string, string> = {}, tenantId = TENANT) =>
  sendJson(recordNotification, body, authorized(token, more), tenantId);

/** An offer whose credential was requested. */
const defer = async (body: Partial<PreAuthorizedOfferRequest> = {}, collecting: Collecting = {}) => {
  const made = await offer(body);
  const token = await redeem(made);
  const answer = await collect(token, collecting);
  expect(answer).toMatchObject({ status: 202 });
  const transactionId = answer.body.transaction_id;
  const { tokenId: id } = parseBearerValue(transactionId)!;
  return { made, token, transactionId, id };
};
const list = async (tenantId = TENANT) => {
  await issuance.services.app.get(DeferredIssuancesReadModel, { strict: false }).running.waitForHead(10_000);
  return ((await admin(listDeferredIssuances, { query: { limit: 1000 } }, tenantId)) as PageOf<DeferredIssuance>).data;
};
const find = async (id: string, tenantId = TENANT) => (await list(tenantId)).find((one) => one.id === id);
const decide = (operation: typeof approveDeferredIssuance | typeof denyDeferredIssuance, id: string, tenant = TENANT) =>
  admin(operation, { params: { id } }, tenant);
const approve = (id: string) => decide(approveDeferredIssuance, id);
const deny = (id: string) => decide(denyDeferredIssuance, id);
const eventsOf = async (sessionId: string) =>
  (await issuance.engines.events.readStream(issuanceSessionStream(TENANT, sessionId))).map(({ type }) => type);

const UNKNOWN = {
  status: 400,
  body: {
    error: 'invalid_transaction_id',
    error_description: 'transaction_id is unknown, has expired or was used',
  },
};
const DENIED = (description: string) => ({
  status: 400,
  body: { error: 'credential_request_denied', error_description: description },
});
const UNAUTHORIZED = {
  status: 401,
  headers: {
    'www-authenticate': 'Bearer error="invalid_token", error_description="the access token is not valid"',
  },
  body: { error: 'invalid_token', error_description: 'the access token is not valid' },
};

describe('a configuration with approval: manual', () => {
  it('answers 202 until the issuer approves, then issues once for the keys of the request [T385, T386]', async () => {
    const keys = [makeKey(), makeKey()];
    const made = await offer();
    const token = await redeem(made);
    const first = await collect(token, { keys });
    expect(first).toEqual({
      status: 202,
      headers: {},
      body: { transaction_id: expect.stringMatching(/^[\w-]{86}$/), interval: 30 },
    });
    const transactionId = first.body.transaction_id;
    expect(await poll(token, transactionId)).toEqual(first);
    const { tokenId: id } = parseBearerValue(transactionId)!;
    const shown = await find(id);
    expect(shown).toEqual({
      ...{ id, state: 'PENDING', userId: made.userId, sessionId: made.id, offerId: made.id, credentials: 2 },
      ...{ credentialConfigurationId: manual.get(TENANT), credentialConfigurationVersion: expect.any(Number) },
      ...{ createdAt: expect.any(String), expiresAt: expect.any(String) },
    });
    expect(Date.parse(shown!.expiresAt) - Date.parse(shown!.createdAt)).toBe(30 * DAY_MS);
    await approve(id);
    await approve(id);
    expect(await find(id)).toMatchObject({ state: 'APPROVED' });
    const answer = await poll(token, transactionId);
    expect(answer).toMatchObject({ status: 200, body: { notification_id: expect.any(String) } });
    expect(answer.body.credentials.map(({ credential }) => decodeJwt(credential as string).sub)).toEqual(
      keys.map(({ jwk }) => `did:jwk:${Buffer.from(JSON.stringify(sorted(jwk))).toString('base64url')}`),
    );
    expect(await find(id)).toMatchObject({ state: 'ISSUED' });
    expect(await poll(token, transactionId)).toMatchObject(UNKNOWN);
    expect(await eventsOf(made.id)).toEqual([
      ...['PreAuthorizedOfferCreated', 'PreAuthorizedCodeRedeemed', 'IssuanceDeferred', 'DeferredIssuanceApproved'],
      ...['CredentialIssued', 'CredentialIssued', 'DeferredIssuanceCompleted'],
    ]);
    // Approving again changes nothing, denying is too late.
    await approve(id);
    expect(await refusalOf(deny(id))).toEqual(['Conflict', 'The credentials were issued']);
  });

  it('spends the nonce with the deferral [T386]', async () => {
    const token = await redeem(await offer());
    const cNonce = await nonce();
    expect(await collect(token, { nonce: cNonce })).toMatchObject({ status: 202 });
    expect(await collect(token, { nonce: cNonce })).toMatchObject({ status: 400, body: { error: 'invalid_nonce' } });
  });

  it('is not deferred for keys that the format cannot bind; neither the nonce is spent nor a claim asked for [T496]', async () => {
    const body = sdJwtConfigurations.create.example as SdJwtConfigurationRequest;
    const asked = jest.spyOn(issuance.services.app.get(CredentialClaims, { strict: false }), 'claimsOf');
    for (const approval of ['manual', undefined] as const) {
      const { id } = await admin(sdJwtConfigurations.create, { body: { ...body, type: `P${approval}`, approval } });
      const made = await offer({ credentials: [id] });
      const token = await redeem(made);
      const used = { credential_configuration_id: id, nonce: await nonce() };
      expect(await collect(token, { ...used, keys: [makeKey(), makeKey('Ed25519')] })).toMatchObject({
        ...{ status: 400, body: { error: 'invalid_proof' } },
      });
      expect(asked).not.toHaveBeenCalled();
      expect(await eventsOf(made.id)).toEqual(['PreAuthorizedOfferCreated', 'PreAuthorizedCodeRedeemed']);
      expect(await collect(token, used)).toMatchObject({ status: approval ? 202 : 200 });
      asked.mockClear();
    }
  });

  it('of two polls at once one gets the credentials [T386]', async () => {
    const { token, transactionId, id, made } = await defer();
    await approve(id);
    const answers = await Promise.all([1, 2, 3].map(() => poll(token, transactionId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect((await eventsOf(made.id)).filter((type) => type === 'CredentialIssued')).toHaveLength(1);
  });

  it('a denied one is never issued; a denial is final, an approval is not [T387]', async () => {
    const { token, transactionId, id } = await defer();
    await approve(id);
    await deny(id);
    await deny(id);
    expect(await find(id)).toMatchObject({ state: 'DENIED' });
    expect(await poll(token, transactionId)).toMatchObject(DENIED('the issuer denied the issuance'));
    expect(await refusalOf(approve(id))).toEqual(['Conflict', 'The issuance was denied']);
  });

  it('the transaction id is stored as a MAC only, and is not the id of the list [T386]', async () => {
    const { transactionId, made } = await defer();
    const stored = await issuance.engines.events.readStream(issuanceSessionStream(TENANT, made.id));
    expect(JSON.stringify(stored)).not.toContain(transactionId);
    expect(JSON.stringify(await list())).not.toContain(transactionId);
  });

  it('counts deferred credentials against maxIssuances, and allows 20 open requests [T388]', async () => {
    const capped = await configure('Capped', { approval: 'manual', maxIssuances: 2 });
    const token = await redeem(await offer({ credentials: [capped] }));
    const request = (count: number) =>
      collect(token, { credential_configuration_id: capped, keys: Array.from({ length: count }, makeKey) });
    const two = await request(2);
    expect(two).toMatchObject({ status: 202 });
    const full = DENIED('the credential configuration allows no more credentials for this offer');
    expect(await request(1)).toMatchObject(full);
    await approve(parseBearerValue(two.body.transaction_id)!.tokenId);
    expect(await poll(token, two.body.transaction_id)).toMatchObject({ status: 200 });
    expect(await request(1)).toMatchObject(full);

    const another = await redeem(await offer());
    for (let n = 0; n < 20; n++) expect(await collect(another)).toMatchObject({ status: 202 });
    expect(await collect(another)).toMatchObject(DENIED('at most 20 deferred requests may be open'));
  });
});

describe('claims that are not ready', () => {
  it('defer the issuance, and further polls, without anyone approving; the nonce is spent once [T389]', async () => {
    const claims = issuance.services.app.get(CredentialClaims, { strict: false });
    const asked = jest.spyOn(claims, 'claimsOf').mockRejectedValue(new ClaimsNotReady());
    const made = await offer({ credentials: [automatic] });
    const token = await redeem(made);
    const first = await collect(token, { credential_configuration_id: automatic });
    expect(first).toMatchObject({ status: 202 });
    const transactionId = first.body.transaction_id;
    const { tokenId: id } = parseBearerValue(transactionId)!;
    expect(await find(id)).toMatchObject({ state: 'APPROVED' });
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await poll(token, transactionId)).toEqual(first);
    expect(asked).toHaveBeenCalledTimes(2);
    asked.mockRestore();
    expect(await poll(token, transactionId)).toMatchObject({ status: 200 });
    expect(await eventsOf(made.id)).toEqual([
      ...['PreAuthorizedOfferCreated', 'PreAuthorizedCodeRedeemed', 'IssuanceDeferred'],
      ...['CredentialIssued', 'DeferredIssuanceCompleted'],
    ]);
  });

  it('are not asked for before the approval [T389]', async () => {
    const asked = jest.spyOn(issuance.services.app.get(CredentialClaims, { strict: false }), 'claimsOf');
    const { token, transactionId, id } = await defer();
    await poll(token, transactionId);
    expect(asked).not.toHaveBeenCalled();
    await approve(id);
    expect(asked).not.toHaveBeenCalled();
    expect(await poll(token, transactionId)).toMatchObject({ status: 200 });
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('a required claim without a value is named at the poll, and can be supplied until the deferral ends [T389]', async () => {
    const person = await admin(createUser, { body: { claims: { name: 'Ada' } } });
    const { token, transactionId, id } = await defer({ claims: {}, userId: person.id });
    await admin(updateUser, { params: { id: person.id }, body: { claims: {} } });
    await approve(id);
    expect(await poll(token, transactionId)).toMatchObject({
      status: 400,
      body: { error: 'credential_request_denied', error_description: expect.stringMatching(/\bname\b/) },
    });
    await admin(updateUser, { params: { id: person.id }, body: { claims: { name: 'Ada' } } });
    expect(await poll(token, transactionId)).toMatchObject({ status: 200 });
  });
});

describe('the access token of a session with a deferral', () => {
  const EXPIRED = 900_000;

  it('is accepted after its end at the deferred endpoint only, and only with a transaction id of the session [T390]', async () => {
    const { token, transactionId, id } = await defer();
    const other = await defer();
    issuance.ahead = EXPIRED;
    expect(await poll(token, transactionId)).toMatchObject({ status: 202 });
    for (const refused of [
      await poll(token, other.transactionId),
      await poll(token, 'x'.repeat(86)),
      await collect(token),
      await notify(token, { notification_id: randomUUID(), event: 'credential_accepted' }),
    ])
      expect(refused).toMatchObject(UNAUTHORIZED);
    await approve(id);
    const answer = await poll(token, transactionId);
    expect(answer).toMatchObject({ status: 200 });
    expect(await poll(token, transactionId)).toMatchObject(UNAUTHORIZED);
    // §11: what it collected can be notified.
    const notification = { notification_id: answer.body.notification_id, event: 'credential_accepted' };
    expect(await notify(token, notification)).toMatchObject({ status: 204 });
    issuance.ahead = 31 * DAY_MS;
    expect(await notify(token, notification)).toMatchObject(UNAUTHORIZED);
  });

  it('without a deferral ends as before [T390]', async () => {
    const token = await redeem(await offer());
    const other = await defer();
    issuance.ahead = EXPIRED;
    expect(await poll(token, other.transactionId)).toMatchObject(UNAUTHORIZED);
  });

  it('deferredDays of the tenant end it, and the list [T391]', async () => {
    await admin(updateOpenIdConfiguration, { body: { deferredDays: 2 } });
    try {
      const { token, transactionId, id } = await defer();
      await approve(id);
      issuance.ahead = 2 * DAY_MS + 1000;
      expect(await poll(token, transactionId)).toMatchObject(UNAUTHORIZED);
      expect(await find(id)).toBeUndefined();
      expect(await refusalOf(approve(id))).toEqual(['NotFound', 'Resource Not Found']);
      issuance.ahead = 2 * DAY_MS - 60_000;
      expect(await poll(token, transactionId)).toMatchObject({ status: 200 });
    } finally {
      issuance.ahead = 0;
      await admin(updateOpenIdConfiguration, { body: { deferredDays: null } });
    }
  });

  it('must be proved with its DPoP key, with a proof for this endpoint, used once [T390]', async () => {
    const key = makeKey();
    const token = await redeem(await offer(), key);
    const at = issueDeferredCredential;
    const bound = async (operation: Operation, signer = key) => ({
      authorization: `DPoP ${token}`,
      dpop: await issuance.proveDpop(signer, operation, { ath: athOf(token) }),
    });
    const { body } = await collect(token, { more: await bound(issueCredential) });
    const { transaction_id: transactionId } = body;
    await approve(parseBearerValue(transactionId)!.tokenId);
    issuance.ahead = EXPIRED;
    const refusals: [Record<string, string>, string][] = [
      [{}, 'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof'],
      [{ authorization: `DPoP ${token}` }, 'a DPoP proof is required'],
      [await bound(issueCredential), `DPoP proof: htu must be ${baseOf(TENANT)}/v1/openid/deferred-credential`],
      [await bound(at, makeKey()), 'the DPoP proof must be made with the key of the access token'],
    ];
    for (const [headers, description] of refusals)
      expect(await poll(token, transactionId, headers)).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': expect.stringMatching(/^DPoP /) },
        body: { error_description: description },
      });
    const used = await bound(at);
    expect(await poll(token, 'unknown', used)).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect(await poll(token, transactionId, used)).toMatchObject({
      body: { error_description: 'the DPoP proof has already been used' },
    });
    const answer = await poll(token, transactionId, await bound(at));
    expect(answer).toMatchObject({ status: 200, headers: { 'dpop-nonce': expect.any(String) } });
    const notification = { notification_id: answer.body.notification_id, event: 'credential_accepted' };
    expect(await notify(token, notification)).toMatchObject({ status: 401 });
    expect(await notify(token, notification, await bound(recordNotification))).toMatchObject({ status: 204 });
  });

  it('ends with its offer and its user, and is none at another tenant [T392]', async () => {
    const ofOffer = await defer();
    await approve(ofOffer.id);
    issuance.ahead = EXPIRED;
    expect(await admin(retrievePreAuthorizedOffer, { params: { id: ofOffer.made.id } })).toMatchObject({
      state: 'REDEEMED',
    });
    await admin(deletePreAuthorizedOffer, { params: { id: ofOffer.made.id } });
    expect(await poll(ofOffer.token, ofOffer.transactionId)).toMatchObject(UNAUTHORIZED);
    await waitUntil(async () => (await find(ofOffer.id)) === undefined, {
      what: 'the deleted offer to leave the list',
    });
    expect(await refusalOf(approve(ofOffer.id))).toEqual(['NotFound', 'Resource Not Found']);
    issuance.ahead = 0;

    for (const approved of [true, false]) {
      const ofUser = await defer();
      if (approved) await approve(ofUser.id);
      await admin(deleteUser, { params: { id: ofUser.made.userId } });
      expect(await poll(ofUser.token, ofUser.transactionId)).toMatchObject(DENIED('the user was deleted'));
      await waitUntil(async () => (await find(ofUser.id)) === undefined, {
        what: 'the deleted user to leave the list',
      });
    }

    const { token, transactionId, id } = await defer();
    await approve(id);
    expect(await poll(token, transactionId, {}, OTHER)).toMatchObject(UNAUTHORIZED);
    expect(await poll(token, transactionId)).toMatchObject({ status: 200 });
  });

  /** Access token of a person who signed in. */
  const tokenOfCode = async () => {
    const code = await issuance.signIn(issuance.authorization({ scope: 'jwt_vc_json:Approved' }));
    return (await sendForm<AccessTokenResponse>(exchangeToken, codeGrant(code))).body.access_token;
  };
  const NOT_ALLOWED = DENIED('the wallet is no longer allowed by this issuer');

  it('of a registered wallet ends with its registration [T392]', async () => {
    const { id: walletId } = await admin(createWallet, { body: WALLET });
    const token = await tokenOfCode();
    const { body } = await collect(token);
    await approve(parseBearerValue(body.transaction_id)!.tokenId);
    await admin(deleteWallet, { params: { id: walletId } });
    expect(await poll(token, body.transaction_id)).toMatchObject(NOT_ALLOWED);
  });

  it('of a wallet that is not registered ends when the tenant allows these no more [T487]', async () => {
    const token = await tokenOfCode();
    const { body } = await collect(token);
    await approve(parseBearerValue(body.transaction_id)!.tokenId);
    const allow = (allowUnregisteredWallets: boolean | null) =>
      admin(updateOpenIdConfiguration, { body: { allowUnregisteredWallets } });
    await allow(false);
    expect(await poll(token, body.transaction_id)).toMatchObject(NOT_ALLOWED);
    await allow(null);
    expect(await poll(token, body.transaction_id)).toMatchObject({ status: 200 });
  });

  it('of a wallet that is not registered is not one of the wallet that is registered later [T494]', async () => {
    const token = await tokenOfCode();
    const { body } = await collect(token);
    await approve(parseBearerValue(body.transaction_id)!.tokenId);
    const { id: walletId } = await admin(createWallet, { body: WALLET });
    expect(await poll(token, body.transaction_id)).toMatchObject(NOT_ALLOWED);
    await admin(deleteWallet, { params: { id: walletId } });
    expect(await poll(token, body.transaction_id)).toMatchObject({ status: 200 });
  });

  it('ends with the revocation of its token, also of one that has expired [T495]', async () => {
    const { token, transactionId, id } = await defer();
    await approve(id);
    issuance.ahead = 301_000;
    expect(await sendForm(revokeWalletToken, { token })).toMatchObject({ status: 200 });
    expect(await poll(token, transactionId)).toMatchObject(UNAUTHORIZED);
  });

  it('of a deleted configuration is denied [T392]', async () => {
    const brief = await configure('Brief', { approval: 'manual' });
    const token = await redeem(await offer({ credentials: [brief] }));
    const { body } = await collect(token, { credential_configuration_id: brief });
    await approve(parseBearerValue(body.transaction_id)!.tokenId);
    await admin(jwtVcConfigurations.delete, { params: { id: brief } });
    expect(await poll(token, body.transaction_id)).toMatchObject(DENIED('the credential configuration was deleted'));
  });
});

describe('claims of a session with a deferral', () => {
  const claimsOf = async (sessionId: string) => {
    const { state } = await issuance.engines.streams.load(issuanceSession, issuanceSessionStream(TENANT, sessionId));
    if (!('storedClaims' in state)) throw new Error('the session has no claims');
    return issuance.engines.vault.sealing.openStored(TENANT, 'session', state.storedClaims!);
  };
  const sweep = () => issuance.services.app.get(SessionKeys, { strict: false }).sweep();

  it('stay sealed until it ends, and are destroyed then [T393]', async () => {
    const { made, token, transactionId, id } = await defer();
    issuance.ahead = 29 * DAY_MS;
    await sweep();
    expect(await claimsOf(made.id)).toBe('{"name":"Ada"}');
    await approve(id);
    expect(await poll(token, transactionId)).toMatchObject({ status: 200 });
    await sweep();
    expect(isErased(await claimsOf(made.id))).toBe(true);
  });

  it('are destroyed once the last one is denied, collected or expired [T393]', async () => {
    const { made, token, id } = await defer();
    const second = await collect(token);
    issuance.ahead = 3_600_000;
    await deny(id);
    await sweep();
    expect(await claimsOf(made.id)).toBe('{"name":"Ada"}');
    await deny(parseBearerValue(second.body.transaction_id)!.tokenId);
    await sweep();
    expect(isErased(await claimsOf(made.id))).toBe(true);

    issuance.ahead = 0;
    const { made: left } = await defer();
    issuance.ahead = 31 * DAY_MS;
    await sweep();
    expect(isErased(await claimsOf(left.id))).toBe(true);
  });
});

describe('deferred issuances of a tenant', () => {
  it('are listed page by page, and neither listed nor decided by another [T394]', async () => {
    const deferred = [await defer(), await defer()];
    for (const { id } of deferred) await waitUntil(() => find(id));
    const page = (await admin(listDeferredIssuances, { query: { limit: 1 } })) as PageOf<DeferredIssuance>;
    expect(page.data).toHaveLength(1);
    const next = (await admin(listDeferredIssuances, {
      query: { limit: 1, cursor: page.nextCursor },
    })) as PageOf<DeferredIssuance>;
    expect(next.data[0]!.id).not.toBe(page.data[0]!.id);
    for (const { id, token, transactionId } of deferred) {
      expect(await find(id, OTHER)).toBeUndefined();
      for (const operation of [approveDeferredIssuance, denyDeferredIssuance])
        expect(await refusalOf(decide(operation, id, OTHER))).toEqual(['NotFound', 'Resource Not Found']);
      expect(await poll(token, transactionId)).toMatchObject({ status: 202 });
    }
  });

  it('and their notifications are told to webhooks without transaction ids [T395]', async () => {
    const { made, token, transactionId, id } = await defer();
    const told = (subject: string, matches: (data: Record<string, unknown>) => boolean) =>
      waitUntil(
        async () =>
          issuance.messages.find((one) => one.subject === subject && matches(one.data as Record<string, unknown>))
            ?.data,
        { what: subject },
      );
    expect(await told(issuanceDeferred.subject, ({ deferralId }) => deferralId === id)).toEqual({
      ...{ tenantId: TENANT, deferralId: id, userId: made.userId, sessionId: made.id, credentials: 1 },
      ...{ credentialConfigurationId: manual.get(TENANT), needsApproval: true, expiresAt: expect.any(String) },
    });
    await approve(id);
    const { body } = await poll(token, transactionId);
    const notificationId = body.notification_id;
    await notify(token, { notification_id: notificationId, event: 'credential_failure', event_description: 'full' });
    expect(await told(credentialNotified.subject, (data) => data['notificationId'] === notificationId)).toEqual({
      ...{ tenantId: TENANT, notificationId, event: 'credential_failure', userId: made.userId, sessionId: made.id },
      ...{ credentialConfigurationId: manual.get(TENANT), credentialIds: [expect.any(String)] },
    });
    const stored = await issuance.engines.events.readStream(credentialNotificationStream(TENANT, notificationId));
    expect(JSON.stringify(stored)).not.toContain('full');
  });

  it('survive a restart [T386]', async () => {
    const { token, transactionId, id } = await defer();
    await issuance.close();
    await issuance.open();
    expect(await poll(token, transactionId)).toMatchObject({ status: 202 });
    await approve(id);
    expect(await poll(token, transactionId)).toMatchObject({ status: 200 });
  });
});

describe('a notification', () => {
  const issue = async (keys = [makeKey()]) => {
    const token = await redeem(await offer({ credentials: [automatic] }));
    const { status, body } = await collect(token, { credential_configuration_id: automatic, keys });
    expect(status).toBe(200);
    return { token, id: body.notification_id, credentials: body.credentials };
  };

  it('is accepted repeatedly, and stored once of each kind [T396]', async () => {
    const { token, id } = await issue([makeKey(), makeKey()]);
    const stored = () => issuance.engines.events.readStream(credentialNotificationStream(TENANT, id));
    for (const event of ['credential_accepted', 'credential_accepted', 'credential_deleted'])
      expect(await notify(token, { notification_id: id, event, unknown: 1 })).toEqual({
        status: 204,
        headers: {},
        body: undefined,
      });
    expect((await stored()).map(({ data }) => (data as { event: string }).event)).toEqual([
      'credential_accepted',
      'credential_deleted',
    ]);
    expect((await stored())[0]!.data).toMatchObject({ credentialIds: [expect.any(String), expect.any(String)] });
  });

  it('has the id of the response, which is in no credential [T396]', async () => {
    const [one, two] = [await issue(), await issue()];
    expect(one.id).not.toBe(two.id);
    expect(JSON.stringify(decodeJwt(one.credentials[0]!.credential as string))).not.toContain(one.id);
  });

  it('is refused for another session, another tenant and after the token has expired [T397]', async () => {
    const [one, two] = [await issue(), await issue()];
    const accepted = (id: string) => ({ notification_id: id, event: 'credential_accepted' });
    const unknown = {
      status: 400,
      body: {
        error: 'invalid_notification_id',
        error_description: 'notification_id is not one of a response to this access token',
      },
    };
    for (const id of [two.id, randomUUID(), one.id.toUpperCase(), 'x', ''])
      expect(await notify(one.token, accepted(id))).toMatchObject(unknown);
    expect(await notify(one.token, accepted(one.id), {}, OTHER)).toMatchObject(UNAUTHORIZED);
    issuance.ahead = 900_000;
    expect(await notify(one.token, accepted(one.id))).toMatchObject(UNAUTHORIZED);
  });

  it('that is malformed is refused, and nothing is stored [T397]', async () => {
    const { token, id } = await issue();
    const faults: [unknown, string][] = [
      ['{', 'the body must be JSON: it ends too early, at line 1, column 2'],
      [[], 'the body must be a JSON object'],
      [{ event: 'credential_accepted' }, 'notification_id is missing'],
      [{ notification_id: 1, event: 'credential_accepted' }, 'notification_id must be a string'],
      [
        { notification_id: 'x'.repeat(129), event: 'credential_accepted' },
        'notification_id must have at most 128 characters',
      ],
      ...[undefined, 'accepted', 'Credential_Accepted', 1].map((event): [unknown, string] => [
        { notification_id: id, event },
        'event must be one of: credential_accepted, credential_failure, credential_deleted',
      ]),
      [
        { notification_id: id, event: 'credential_failure', event_description: 1 },
        'event_description must be a string',
      ],
      [
        { notification_id: id, event: 'credential_failure', event_description: 'x'.repeat(2049) },
        'event_description must have at most 2048 characters',
      ],
      ...['"', '\\', 'ä', '\n'].map((description): [unknown, string] => [
        { notification_id: id, event: 'credential_failure', event_description: description },
        'event_description must be printable ASCII without quotation marks and backslashes',
      ]),
    ];
    for (const [body, description] of faults)
      expect(await notify(token, body)).toMatchObject({
        status: 400,
        body: { error: 'invalid_notification_request', error_description: description },
      });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await notify(token, {}, form)).toMatchObject({
      body: { error: 'invalid_notification_request', error_description: 'the content type must be application/json' },
    });
    expect(await issuance.engines.events.readStream(credentialNotificationStream(TENANT, id))).toEqual([]);
  });
});

/** The platform writes the members of a did:jwk in this order. */
const sorted = ({ kty, crv, x, y }: PublicJwk) => ({ crv, kty, x, y });
