import { createHash, randomUUID } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  sharedPlatform,
  verifyJwtVc,
  waitUntil,
  Wallet,
  WebhookReceiver,
  type TenantUnderTest,
} from '@attestry/testing';
import {
  CompactEncrypt,
  compactDecrypt,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  SignJWT,
  type JWK,
} from 'jose';

let tenant: TenantUnderTest;
let other: TenantUnderTest;
let jwtVc: string;
let sdJwt: string;

interface CopiedClaims {
  iat: number;
  nbf: number;
  cnf: { jwk: JWK };
  status: { status_list: { idx: number; uri: string } };
  _sd: string[];
}

const claimMappings = { name: { mapFrom: 'claims.name' } };
const request = (type: string) => ({ type, name: type, issuer: { name: 'Acme' }, claimMappings });

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'deferred');
  other = await createTenantUnderTest(platform, management, 'deferred-other');
  const key = { method: 'key', options: { keyType: 'P-256' } } as const;
  const { did: issuerDid } = expectStatus(await tenant.api.dids.create(key), 201);
  jwtVc = expectStatus(
    await tenant.api.jwtVc.create({ ...request('Approved'), issuerDid, approval: 'manual' }),
    201,
  ).id;
  sdJwt = expectStatus(await tenant.api.sdJwt.create({ ...request('Badge'), approval: 'manual' }), 201).id;
}, PLATFORM_START_MS);

/** Everything until the request for a credential, by the third-party wallet library (@openid4vc/openid4vci). */
const start = async (configurationId: string, wallet = new Wallet()) => {
  const offered = { credentials: [configurationId], claims: { name: 'Zoë' } };
  const { uri, userId } = expectStatus(await tenant.api.offers.create(offered), 200);
  const offer = await wallet.resolveOffer(uri);
  const metadata = await wallet.metadata(offer.credential_issuer);
  const token = await wallet.accessToken(offer, metadata);
  return { wallet, metadata, token, userId };
};
const deferralOf = (userId: string, at = tenant) =>
  waitUntil(async () => expectStatus(await at.api.deferred.list(), 200).data.find((one) => one.userId === userId), {
    what: 'the deferred issuance in the list',
  });

describe('deferred issuance', () => {
  it('a third-party wallet collects its credential after the approval, and reports it [T385, T396]', async () => {
    for (const [configurationId, dpopKey] of [
      [jwtVc, undefined],
      [jwtVc, await makeHolderKey()],
      [sdJwt, undefined],
    ] as const) {
      const started = await start(configurationId, new Wallet(undefined, undefined, dpopKey));
      const { wallet, metadata, token, userId } = started;
      const keys = [await makeHolderKey(), await makeHolderKey()];
      const first = await wallet.requestCredentials(metadata, token, configurationId, keys);
      expect(first).toEqual({ transaction_id: expect.any(String), interval: 30 });
      const transactionId = first.transaction_id!;
      expect(await wallet.collectDeferred(metadata, token, transactionId)).toEqual(first);
      const { id, state } = await deferralOf(userId);
      expect(state).toBe('PENDING');
      expect((await other.api.deferred.approve(id)).status).toBe(404);
      expect((await tenant.api.deferred.approve(id)).status).toBe(204);
      const { credentials, notification_id: notificationId } = await wallet.collectDeferred(
        metadata,
        token,
        transactionId,
      );
      expect(credentials).toHaveLength(2);
      for (const { credential } of credentials as { credential: string }[])
        if (configurationId === jwtVc) expect(JSON.stringify((await verifyJwtVc(credential)).payload)).toContain('Zoë');
        else expect(credential.split('~').length).toBeGreaterThan(1);
      await wallet.notify(metadata, token, notificationId!, 'credential_accepted');
      await wallet.notify(metadata, token, notificationId!, 'credential_accepted');
      await expect(wallet.collectDeferred(metadata, token, transactionId)).rejects.toThrow(/invalid_transaction_id/);
    }
  });

  it('the credentials of a batch cannot be linked [T492]', async () => {
    const revocable = { ...request('Copied'), approval: 'manual' as const, revocable: true };
    const { id: copied } = expectStatus(await tenant.api.sdJwt.create(revocable), 201);
    const { wallet, metadata, token, userId } = await start(copied);
    const keys = await Promise.all(Array.from({ length: 10 }, () => makeHolderKey()));
    const { transaction_id: transactionId } = await wallet.requestCredentials(metadata, token, copied, keys);
    expectStatus(await tenant.api.deferred.approve((await deferralOf(userId)).id), 204);
    const { credentials } = await wallet.collectDeferred(metadata, token, transactionId!);
    const copies = (credentials as { credential: string }[]).map(({ credential }) => credential);
    const payloads = copies.map((copy) => decodeJwt<CopiedClaims>(copy.split('~', 1)[0]!));
    expect(payloads.map(({ cnf }) => cnf.jwk)).toEqual(keys.map(({ publicJwk }) => publicJwk));
    // All copies have the same members, of which only these have the same values, which those of other holders have, too.
    const { cnf: _, status: __, _sd: ___, ...shared } = payloads[0]!;
    expect(Object.keys(shared).sort()).toEqual(['_sd_alg', 'iat', 'iss', 'nbf', 'vct', 'vct#integrity']);
    for (const { cnf, status, _sd, ...more } of payloads) {
      expect([Object.keys(cnf), Object.keys(status), Object.keys(status.status_list).sort()]).toEqual([
        ...[['jwk'], ['status_list'], ['idx', 'uri']],
      ]);
      expect([more, shared.iat % 3600, shared.nbf % 3600]).toEqual([shared, 0, 0]);
      expect(_sd.length).toBeGreaterThanOrEqual(1);
    }
    const areDifferent = (values: readonly unknown[]) => new Set(values).size === values.length;
    // Each disclosure has a salt of its own, and with it a digest.
    expect(areDifferent(payloads.flatMap(({ _sd }) => _sd))).toBe(true);
    const disclosures = copies.flatMap((copy) => copy.split('~').slice(1, -1));
    const salts = disclosures.map((it) => (JSON.parse(Buffer.from(it, 'base64url').toString()) as [string])[0]);
    expect([disclosures.length, areDifferent(salts)]).toEqual([copies.length, true]);
    const entries = payloads.map(({ status }) => status.status_list);
    expect(areDifferent(entries.map(({ idx, uri }) => `${uri}#${idx}`))).toBe(true);
    const indexes = entries.map(({ idx }) => idx);
    const steps = indexes.slice(1).map((idx, before) => idx - indexes[before]!);
    expect(new Set(steps).size).toBeGreaterThan(1);
    expect(indexes).not.toEqual([...indexes].sort((one, other) => one - other));
  });

  it('is listed in the events of the tenant and delivered to webhooks, without the transaction id [T395]', async () => {
    const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
    const hook = { events: ['OpenIdCredentialDeferred', 'OpenIdCredentialNotified'] as const, url: receiver.url };
    const { id: webhookId } = expectStatus(
      await tenant.api.webhooks.create({ ...hook, events: [...hook.events] }),
      201,
    );
    try {
      const { wallet, metadata, token, userId } = await start(jwtVc);
      const { transaction_id: transactionId } = await wallet.requestCredentials(metadata, token, jwtVc, [
        await makeHolderKey(),
      ]);
      const { id } = await deferralOf(userId);
      await tenant.api.deferred.approve(id);
      const { notification_id: notificationId } = await wallet.collectDeferred(metadata, token, transactionId!);
      await wallet.notify(metadata, token, notificationId!, 'credential_deleted');
      const received = await waitUntil(
        () => receiver.deliveries.length >= 2 && receiver.deliveries.map(({ body }) => body),
        { what: 'both webhook events' },
      );
      const text = JSON.stringify(received);
      expect(text).toContain(`"deferralId":"${id}"`);
      expect(text).toContain(`"notificationId":"${notificationId}","event":"credential_deleted"`);
      expect(text).not.toContain(transactionId!);
      const types = await waitUntil(
        async () => {
          const { data } = expectStatus(await tenant.api.analytics.list({ limit: 100 }), 200);
          const found = data.map(({ type }) => type);
          return found.includes('OPENID_NOTIFICATION_SUCCESS') && found;
        },
        { what: 'the record of the notification' },
      );
      expect(types).toEqual(
        expect.arrayContaining(['OPENID_DEFERRED_APPROVE_SUCCESS', 'OPENID_DEFERRED_SUCCESS', 'OPENID_DEFERRED_START']),
      );
    } finally {
      await tenant.api.webhooks.delete(webhookId);
      await receiver.close();
    }
  });

  it('the issuer denies it [T387]', async () => {
    const { wallet, metadata, token, userId } = await start(jwtVc);
    const { transaction_id: transactionId } = await wallet.requestCredentials(metadata, token, jwtVc, [
      await makeHolderKey(),
    ]);
    const { id } = await deferralOf(userId);
    expect((await tenant.api.deferred.deny(id)).status).toBe(204);
    expect((await tenant.api.deferred.deny(id)).status).toBe(204);
    expect((await tenant.api.deferred.approve(id)).status).toBe(409);
    const answer = await new ApiClient(tenant.url, token).request<unknown>('POST', '/v1/openid/deferred-credential', {
      body: { transaction_id: transactionId },
    });
    expect([answer.status, answer.headers.get('cache-control'), answer.body]).toEqual([
      400,
      'no-store',
      { error: 'credential_request_denied', error_description: 'the issuer denied the issuance' },
    ]);
  });

  it('the metadata have both endpoints [T398]', async () => {
    expect(expectStatus(await tenant.api.metadata(), 200)).toMatchObject({
      deferred_credential_endpoint: `${tenant.url}/v1/openid/deferred-credential`,
      notification_endpoint: `${tenant.url}/v1/openid/notification`,
    });
  });
});

describe('encrypted deferred requests', () => {
  const PATH = '/v1/openid/deferred-credential';
  const encrypt = async (body: object) => {
    const { credential_request_encryption } = expectStatus(await tenant.api.metadata(), 200) as unknown as {
      credential_request_encryption: { jwks: { keys: JWK[] } };
    };
    const key = credential_request_encryption.jwks.keys[0]!;
    return new CompactEncrypt(Buffer.from(JSON.stringify(body)))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid! })
      .encrypt(await importJWK(key, 'ECDH-ES'));
  };
  const makeKey = async (kid: string) => {
    const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), alg: 'ECDH-ES', kid };
    const open = async (jwe: string) =>
      JSON.parse(Buffer.from((await compactDecrypt(jwe, privateKey)).plaintext).toString()) as Record<string, unknown>;
    return { open, wanted: { credential_response_encryption: { jwk, enc: 'A128GCM' } } };
  };

  it('have encrypted responses, 202 included, to the key of each request and with DPoP; errors are plain [T399]', async () => {
    const holder = await makeHolderKey();
    const dpopKey = await makeHolderKey();
    const { wallet, metadata, token, userId } = await start(jwtVc, new Wallet(undefined, undefined, dpopKey));
    const send = async (path: string, body: string, mediaType = 'application/jwt') => {
      const dpop = await new SignJWT({
        ...{ htm: 'POST', htu: `${tenant.url}${path}`, jti: randomUUID(), iat: Math.floor(Date.now() / 1000) },
        ath: createHash('sha256').update(token).digest('base64url'),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: dpopKey.publicJwk })
        .sign(dpopKey.privateKey);
      return new ApiClient(tenant.url).request<unknown>('POST', path, {
        body,
        headers: { 'content-type': mediaType, authorization: `DPoP ${token}`, dpop },
      });
    };
    const proof = await wallet.proof(metadata, jwtVc, holder, await wallet.nonce(metadata));
    const first = await makeKey('first');
    const deferred = await send(
      '/v1/openid/credential',
      await encrypt({ credential_configuration_id: jwtVc, proofs: { jwt: [proof] }, ...first.wanted }),
    );
    expect([deferred.status, deferred.headers.get('content-type')]).toEqual([202, 'application/jwt']);
    const opened = await first.open(deferred.text);
    expect(opened).toEqual({ transaction_id: expect.any(String), interval: 30 });
    const wanted = { transaction_id: opened['transaction_id'] };

    const second = await makeKey('second');
    const pending = await send(PATH, await encrypt({ ...wanted, ...second.wanted }));
    expect([pending.status, pending.headers.get('content-type'), pending.headers.get('cache-control')]).toEqual([
      202,
      'application/jwt',
      'no-store',
    ]);
    expect(decodeProtectedHeader(pending.text)).toMatchObject({ kid: 'second' });
    expect(await second.open(pending.text)).toEqual(opened);
    // §9.1: without parameters of its own a response is plain, whatever the credential request had.
    const plain = await send(PATH, JSON.stringify(wanted), 'application/json');
    expect([plain.status, plain.body]).toEqual([202, opened]);
    const wrong = await send(PATH, await encrypt({ transaction_id: 'unknown', ...second.wanted }));
    expect([wrong.status, wrong.body]).toEqual([400, expect.objectContaining({ error: 'invalid_transaction_id' })]);
    const unencrypted = await send(PATH, JSON.stringify({ ...wanted, ...second.wanted }), 'application/json');
    expect(unencrypted.body).toEqual({
      error: 'invalid_encryption_parameters',
      error_description: 'credential_response_encryption is only allowed in an encrypted request',
    });

    const { id } = await deferralOf(userId);
    await tenant.api.deferred.approve(id);
    const issued = await send(PATH, await encrypt({ ...wanted, ...second.wanted }));
    expect([issued.status, issued.headers.get('content-type')]).toEqual([200, 'application/jwt']);
    expect(issued.headers.get('dpop-nonce')).not.toBeNull();
    expect(await second.open(issued.text)).toEqual({
      credentials: [{ credential: expect.any(String) }],
      notification_id: expect.any(String),
    });
  });

  it('are required where the tenant requires encryption [T399]', async () => {
    const { wallet, metadata, token } = await start(jwtVc);
    const { transaction_id } = await wallet.requestCredentials(metadata, token, jwtVc, [await makeHolderKey()]);
    expectStatus(await tenant.api.openIdConfiguration.update({ encryption: { responseRequired: true } }), 200);
    try {
      const send = async (body: string, mediaType: string) =>
        new ApiClient(tenant.url, token).request<unknown>('POST', PATH, {
          body,
          headers: { 'content-type': mediaType },
        });
      // Each process has it within a second.
      const answers = await waitUntil(
        async () => {
          const both = [
            await send(JSON.stringify({ transaction_id }), 'application/json'),
            await send(await encrypt({ transaction_id }), 'application/jwt'),
          ];
          return both.every(({ status }) => status === 400) && both;
        },
        { what: 'the setting to have effect' },
      );
      expect(answers.map(({ body }) => (body as { error_description: string }).error_description)).toEqual([
        'the request must be encrypted: this issuer requires the content type application/jwt',
        'credential_response_encryption is required by this issuer',
      ]);
    } finally {
      expectStatus(await tenant.api.openIdConfiguration.update({ encryption: null }), 200);
    }
  });
});
