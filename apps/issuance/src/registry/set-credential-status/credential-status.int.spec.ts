/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import {
  checkDid,
  compactRegistry,
  compactRevocation,
  compactSemanticRegistry,
  compactSemanticRevocation,
  credentialStatusChanged,
  createRevocationNotification,
  createUser,
  deleteUser,
  httpAnswer,
  jwtVcStatus,
  listCredentials,
  listUserCredentials,
  mobileRegistry,
  mobileStatus,
  recordSubject,
  sdJwtStatus,
  webSemanticRegistry,
  webSemanticRevocation,
  type CredentialStatusAnswer,
  type Operation,
  type OperationRecord,
  type PageOf,
  type RevocationNotification,
  type TenantCredential,
  type UserCredential,
} from '@attestry/contracts';
import { serviceContext } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { refusal, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import type {
  CredentialIssuedData,
  IssuanceSessionEvent,
} from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { recordCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import type { CredentialRecordedData, StatusEntry } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

const ACME = '10000000-0000-4000-8000-00000000000a';
const BETA = '10000000-0000-4000-8000-00000000000b';
const ENTRY: StatusEntry = { listId: '20000000-0000-4000-8000-000000000001', index: 4711 };
const SENDER = 'did:web:acme.localhost';
const HOLDERS = ['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK', 'did:web:holder.example:ada'];
const FINAL = 'must be invalid: the credential is invalid, which is final';
const WITHOUT = 'must be a credential with a status: its configuration was not revocable when it was issued';

const clock = stoppedClock();
const service = new ServiceUnderTest(issuanceService, {
  clock,
  baseOf: () => 'http://acme.localhost',
  subjects: [credentialStatusChanged.subject, recordSubject('record', 'issuance')],
});
const sent = (subject: string) => service.messages.filter((message) => message.subject === subject);
const changes = () => sent(credentialStatusChanged.subject);
const messages = () => sent(recordSubject('record', 'issuance')).map(({ data }) => data as OperationRecord);

// Serves for the DID service: the DIDs of this tenant.
service.answer(checkDid, ({ body: { did } }, tenantId) => ({ exists: did === SENDER && tenantId === ACME }));

beforeAll(async () => {
  await service.open();
  await waitUntil(() => service.engines.health.report().ready, { what: 'the service' });
});
afterAll(() => service.remove());

const call = <T>(operation: Operation, request: object, tenantId = ACME) =>
  service.admin(operation, request, tenantId, { record: { startedAt: new Date().toISOString() } }) as Promise<T>;

const users = () => service.get(UsersReadModel);
const newUser = async (tenantId = ACME) => (await call<{ id: string }>(createUser, { body: {} }, tenantId)).id;

/** The events of an issued credential, as the credential endpoint appends them. */
const issue = async (
  userId: string,
  more: Partial<CredentialIssuedData> = { status: ENTRY },
  tenantId = ACME,
): Promise<CredentialIssuedData> => {
  clock.time += 1000;
  const credentialId = randomUUID();
  const facts: CredentialIssuedData = {
    credentialId,
    answerId: credentialId,
    sessionId: credentialId,
    userId,
    issuer: 'http://acme.localhost',
    format: 'dc+sd-jwt',
    profile: 'sd-jwt',
    credentialType: 'Membership',
    credentialConfigurationId: '30000000-0000-4000-8000-000000000001',
    holderKey: { kty: 'EC', crv: 'P-256' },
    issuedAt: clock.now().toISOString(),
    validFrom: clock.now().toISOString(),
    ...more,
  };
  const context = serviceContext('issuance.spec', tenantId);
  const recorded: CredentialRecordedData = { ...facts, configurationVersion: 1, tokenId: credentialId };
  const issuedEvent: IssuanceSessionEvent = { type: 'CredentialIssued', data: facts };
  await service.engines.streams.runDecision(
    issuedCredential,
    issuedCredentialStream(tenantId, credentialId),
    (state) => recordCredential(state, recorded),
    context,
  );
  await service.engines.streams.runDecision(
    issuanceSession,
    issuanceSessionStream(tenantId, credentialId),
    () => [issuedEvent],
    context,
  );
  return facts;
};

const set = (id: string, body: object, operations = sdJwtStatus, tenantId = ACME) =>
  call<CredentialStatusAnswer>(operations.set, { params: { id }, body }, tenantId);
const retrieve = (id: string, operations = sdJwtStatus, tenantId = ACME) =>
  call<CredentialStatusAnswer>(operations.retrieve, { params: { id } }, tenantId);
const listed = async (id: string) => {
  await users().running.waitForHead(10_000);
  const { data } = await call<PageOf<TenantCredential>>(listCredentials, { query: { limit: 1000 } });
  return data.find((one) => one.id === id);
};
const changesOf = (id: string, tenantId = ACME) =>
  service.engines.events.readStream(issuedCredentialStream(tenantId, id));

describe.each([
  ['sd-jwt', 'CREDENTIAL_SD_JWT_STATUS', sdJwtStatus, jwtVcStatus, { format: 'dc+sd-jwt', profile: 'sd-jwt' }],
  ['jwt-vc', 'CREDENTIAL_JWT_VC_STATUS', jwtVcStatus, mobileStatus, { format: 'jwt_vc_json', profile: 'jwt-vc' }],
  ['mobile', 'MOBILE_CREDENTIAL_STATUS', mobileStatus, sdJwtStatus, { format: 'mso_mdoc', profile: 'mobile' }],
] as const)('the status of a %s credential', (profile, prefix, operations, others, ofFormat) => {
  const status = { ...ofFormat, status: ENTRY };

  it('is set, retrieved and listed, with an event for each change [T150, T151]', async () => {
    const userId = await newUser();
    const { credentialId: id, credentialConfigurationId, issuedAt } = await issue(userId, status);
    expect(await retrieve(id, operations)).toEqual({ status: 'valid' });
    expect(await listed(id)).toMatchObject({ id, userId, status: 'valid', profile });

    expect(await set(id, { status: 'suspended' }, operations)).toEqual({ status: 'suspended' });
    expect(await retrieve(id, operations)).toEqual({ status: 'suspended' });
    expect(await listed(id)).toMatchObject({ status: 'suspended' });
    expect(await set(id, { status: 'valid' }, operations)).toEqual({ status: 'valid' });
    const at = clock.now().toISOString();
    expect(await set(id, { status: 'invalid', reason: ' Device lost ' }, operations)).toEqual({ status: 'invalid' });
    expect(await retrieve(id, operations)).toEqual({ status: 'invalid' });
    const one = (await call<PageOf<UserCredential>>(listUserCredentials, { params: { userId } })).data;
    expect(one).toEqual([expect.objectContaining({ id, status: 'invalid' })]);

    const stored = await changesOf(id);
    expect(stored.map(({ type }) => type)).toEqual([
      'CredentialRecorded',
      ...Array<string>(3).fill('CredentialStatusChanged'),
    ]);
    const about = { credentialId: id, userId, credentialConfigurationId, issuedAt, ...ENTRY, ...ofFormat };
    expect(stored.at(-1)!.data).toEqual({
      ...about,
      status: 'invalid',
      former: 'valid',
      reason: 'Device lost',
      changedAt: at,
    });
  });

  it('is in the trail with credential, user, configuration and reason [T154]', async () => {
    const userId = await newUser();
    const { credentialId: id, credentialConfigurationId } = await issue(userId, status);
    await set(id, { status: 'invalid', reason: 'Device lost' }, operations);
    const stored = (await changesOf(id)).at(-1)!;
    expect(stored.metadata.record).toMatchObject({
      prefix: `${prefix}_SET`,
      outcome: 'SUCCESS',
      object: { type: 'credential', id },
      metadata: { userId, credentialConfigurationId, status: 'invalid', reason: 'Device lost' },
    });
    expect(operations.retrieve.analytics!.prefix).toBe(`${prefix}_RETRIEVE`);
  });

  it('does not change when it is set again, whatever the reason [T151]', async () => {
    const { credentialId: id } = await issue(await newUser(), status);
    await set(id, { status: 'valid', reason: 'nothing to change' }, operations);
    await set(id, { status: 'invalid' }, operations);
    await set(id, { status: 'invalid', reason: 'another reason' }, operations);
    expect(await changesOf(id)).toHaveLength(2);
    // Recorded by a message, without what would have changed.
    await waitUntil(() => messages().filter(({ object }) => object?.id === id).length === 2, { what: 'two records' });
    for (const record of messages().filter(({ object }) => object?.id === id)) expect(record.metadata).toBeUndefined();
  });

  it('changes once when many set it at the same time', async () => {
    const { credentialId: id } = await issue(await newUser(), status);
    const wanted = ['suspended', 'invalid', 'suspended', 'invalid', 'suspended'];
    const outcomes = await Promise.allSettled(wanted.map((one) => set(id, { status: one }, operations)));
    expect(await retrieve(id, operations)).toEqual({ status: 'invalid' });
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ details: [{ msg: FINAL }] });
    expect((await changesOf(id)).length).toBeLessThanOrEqual(3);
  });

  it('is final once it is invalid [T151]', async () => {
    const { credentialId: id } = await issue(await newUser(), status);
    await set(id, { status: 'invalid' }, operations);
    for (const value of ['valid', 'suspended']) {
      const { kind, details } = await refusal(set(id, { status: value }, operations));
      expect([kind, details]).toEqual(['invalid', [{ value, msg: FINAL, param: 'status', location: 'body' }]]);
    }
    expect(await retrieve(id, operations)).toEqual({ status: 'invalid' });
  });

  it('does not exist for a credential without one, of another format or tenant, or unknown [T152]', async () => {
    const { credentialId: without } = await issue(await newUser(), ofFormat);
    const details = [{ value: without, msg: WITHOUT, param: 'id', location: 'params' }];
    expect((await refusal(set(without, { status: 'invalid' }, operations))).details).toEqual(details);
    expect((await refusal(retrieve(without, operations))).details).toEqual(details);
    expect(await listed(without)).not.toHaveProperty('status');

    const { credentialId: id } = await issue(await newUser(), status);
    for (const refused of [
      set(id, { status: 'invalid' }, others),
      set(id, { status: 'invalid' }, operations, BETA),
      set(randomUUID(), { status: 'invalid' }, operations),
      retrieve(id, others),
      retrieve(id, operations, BETA),
      retrieve(randomUUID(), operations),
    ])
      expect((await refusal(refused)).code).toBe('NotFound');
    expect(await changesOf(id)).toHaveLength(1);
    expect(await changesOf(id, BETA)).toEqual([]);
  });

  it.each<[object, string, string]>([
    [{}, 'status', 'is required'],
    [{ status: 'revoked' }, 'status', 'must be one of: valid, suspended, invalid'],
    [{ status: 'INVALID' }, 'status', 'must be one of: valid, suspended, invalid'],
    [{ status: 'invalid', reason: ' ' }, 'reason', 'must have 1 to 256 characters'],
    [{ status: 'invalid', reason: 'x'.repeat(257) }, 'reason', 'must have 1 to 256 characters'],
    [{ status: 'invalid', reason: 'a\u0007b' }, 'reason', 'must not contain control characters'],
    [{ status: 'invalid', reason: '\ud800' }, 'reason', 'must be well-formed Unicode'],
    [{ status: 'invalid', reason: 7 }, 'reason', 'must be a string'],
    [{ status: 'invalid', reason: null }, 'reason', 'must be a string'],
  ])('is refused: %j [T153]', async (body, param, msg) => {
    const { details } = await refusal(set(randomUUID(), body, operations));
    expect(details).toEqual([expect.objectContaining({ param, msg, location: 'body' })]);
  });

  it('is refused for an id that is no UUID', async () => {
    for (const refused of [set('no-uuid', { status: 'valid' }, operations), retrieve('no-uuid', operations)])
      expect((await refusal(refused)).details).toEqual([
        { value: 'no-uuid', param: 'id', msg: 'must be a UUID', location: 'params' },
      ]);
  });

  it('is published, once for each change, in its tenant [T155]', async () => {
    const userId = await newUser();
    const { credentialId, credentialConfigurationId } = await issue(userId, status);
    await set(credentialId, { status: 'suspended', reason: 'Under review' }, operations);
    await set(credentialId, { status: 'suspended' }, operations);
    await set(credentialId, { status: 'valid' }, operations);
    const own = () => changes().filter(({ data }) => (data as { credentialId: string }).credentialId === credentialId);
    await waitUntil(() => own().length >= 2, { what: 'two changes' });
    const { format } = ofFormat;
    const about = {
      tenantId: ACME,
      credentialId,
      userId,
      credentialConfigurationId,
      format,
      credentialProfile: profile,
    };
    expect(own().map(({ data }) => data)).toEqual([
      { ...about, status: 'suspended', formerStatus: 'valid', reason: 'Under review' },
      { ...about, status: 'valid', formerStatus: 'suspended' },
    ]);
    expect(own().map(({ id }) => id)).toEqual((await changesOf(credentialId)).slice(1).map(({ id }) => id));
  });
});

describe.each([
  ['compact', compactRevocation, compactSemanticRevocation, { format: 'cwt', profile: 'compact' }],
  ['compact-semantic', compactSemanticRevocation, compactRevocation, { format: 'cwt_vc', profile: 'compact-semantic' }],
  ['web-semantic', webSemanticRevocation, compactRevocation, { format: 'ldp_vc', profile: 'web-semantic' }],
] as const)('the revocation of a %s credential', (profile, operations, others, ofFormat) => {
  const status = { ...ofFormat, status: ENTRY };
  const answers = profile !== 'web-semantic';
  const revoke = (id: string, isRevoked: unknown, of = operations as typeof compactRevocation, tenantId = ACME) =>
    call(of.set, { params: { id }, body: { isRevoked } }, tenantId);
  const isRevoked = (id: string, of = operations as typeof compactRevocation, tenantId = ACME) =>
    call(of.retrieve, { params: { id } }, tenantId);

  it('is set, undone, retrieved and listed, with an event for each change [T180, T181]', async () => {
    const userId = await newUser();
    const { credentialId: id, credentialConfigurationId, issuedAt } = await issue(userId, status);
    expect(await isRevoked(id)).toEqual({ isRevoked: false });
    for (const value of [false, true, true, false, true]) {
      expect(await revoke(id, value)).toEqual(answers ? { id, isRevoked: value } : httpAnswer({}));
      expect(await isRevoked(id)).toEqual({ isRevoked: value });
    }
    expect(await listed(id)).toMatchObject({ status: 'invalid', profile });

    const stored = await changesOf(id);
    expect(stored.slice(1).map(({ type, data }) => [type, (data as { status: string }).status])).toEqual([
      ['CredentialStatusChanged', 'invalid'],
      ['CredentialStatusChanged', 'valid'],
      ['CredentialStatusChanged', 'invalid'],
    ]);
    expect(stored.at(-1)!.data).toEqual({
      ...{ credentialId: id, userId, credentialConfigurationId, issuedAt, ...ENTRY, ...ofFormat },
      ...{ status: 'invalid', former: 'valid', changedAt: clock.now().toISOString() },
    });
    const own = () => changes().filter(({ data }) => (data as { credentialId: string }).credentialId === id);
    await waitUntil(() => own().length === 3, { what: 'three messages' });
    expect(own()[1]!.data).toMatchObject({ credentialProfile: profile, status: 'valid', formerStatus: 'invalid' });
  });

  it('is in the trail with credential, user and configuration [T181]', async () => {
    const userId = await newUser();
    const { credentialId: id, credentialConfigurationId } = await issue(userId, status);
    await revoke(id, true);
    const prefix = `CREDENTIAL_${profile.toUpperCase().replace('-', '_')}_REVOCATION`;
    expect((await changesOf(id)).at(-1)!.metadata.record).toMatchObject({
      prefix: `${prefix}_SET_STATUS`,
      outcome: 'SUCCESS',
      object: { type: 'credential', id },
      metadata: { userId, credentialConfigurationId, status: 'invalid' },
    });
    expect(operations.retrieve.analytics!.prefix).toBe(`${prefix}_RETRIEVE${answers ? '_STATUS' : ''}`);
  });

  it('is refused for a credential without status, of another format or tenant, or unknown [T180]', async () => {
    const { credentialId: without } = await issue(await newUser(), ofFormat);
    const details = [{ value: without, msg: WITHOUT, param: 'id', location: 'params' }];
    expect((await refusal(revoke(without, true))).details).toEqual(details);
    expect((await refusal(isRevoked(without))).details).toEqual(details);

    const { credentialId: id } = await issue(await newUser(), status);
    const { credentialId: final } = await issue(await newUser());
    const refused = [
      revoke(id, true, others),
      revoke(id, true, undefined, BETA),
      revoke(randomUUID(), true),
      revoke(final, true),
      set(id, { status: 'invalid' }),
      isRevoked(id, others),
      isRevoked(id, undefined, BETA),
      isRevoked(randomUUID()),
      isRevoked(final),
    ];
    for (const { code } of await Promise.all(refused.map(refusal))) expect(code).toBe('NotFound');
    expect(await changesOf(id)).toHaveLength(1);
  });

  it.each<[object, string]>([
    [{}, 'is required'],
    [{ isRevoked: null }, 'must be a boolean'],
    [{ isRevoked: 'true' }, 'must be a boolean'],
  ])('is refused: %j [T180]', async (body, msg) => {
    const { details } = await refusal(call(operations.set, { params: { id: randomUUID() }, body }));
    expect(details).toEqual([expect.objectContaining({ param: 'isRevoked', msg, location: 'body' })]);
    const refused = await Promise.all([revoke('no-uuid', true), isRevoked('no-uuid')].map(refusal));
    for (const { details: ofId } of refused) expect(ofId).toMatchObject([{ param: 'id', msg: 'must be a UUID' }]);
  });
});

describe('the notification of a revocation', () => {
  const ofFormat = { format: 'ldp_vc', profile: 'web-semantic' } as const;
  const notify = (id: string, body: object = { from: SENDER, to: HOLDERS }, tenantId = ACME) =>
    call<RevocationNotification>(createRevocationNotification, { params: { id }, body }, tenantId);
  const revoked = async (more: object = { ...ofFormat, status: ENTRY }) => {
    const { credentialId: id } = await issue(await newUser(), more);
    await call(webSemanticRevocation.set, { params: { id }, body: { isRevoked: true } });
    return id;
  };

  it('is a plaintext message of DIDComm with the credential, and changes nothing [T200]', async () => {
    const id = await revoked();
    const before = await changesOf(id);
    const message = await notify(id);
    expect(message).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'https://didcomm.org/revocation_notification/2.0/revoke',
      from: SENDER,
      to: HOLDERS,
      created_time: Math.floor(clock.time / 1000),
      body: { revocation_format: 'ldp_vc', credential_id: `urn:uuid:${id}` },
    });
    expect((await notify(id)).id).not.toBe(message.id);
    expect(await changesOf(id)).toEqual(before);
    expect(createRevocationNotification.analytics!.prefix).toBe(
      'CREDENTIAL_WEB_SEMANTIC_REVOCATION_MESSAGE_PAYLOAD_CREATE',
    );
  });

  it('is refused unless the credential is revoked, and has a status [T201]', async () => {
    const id = await revoked();
    await call(webSemanticRevocation.set, { params: { id }, body: { isRevoked: false } });
    expect((await refusal(notify(id))).details).toEqual([
      { value: id, msg: 'must be a revoked credential', param: 'id', location: 'params' },
    ]);
    const { credentialId: without } = await issue(await newUser(), ofFormat);
    expect((await refusal(notify(without))).details).toEqual([
      { value: without, msg: WITHOUT, param: 'id', location: 'params' },
    ]);
  });

  it('does not exist for a credential of another format or tenant, or an unknown or deleted one [T201]', async () => {
    const id = await revoked();
    const { credentialId: ofCwt } = await issue(await newUser(), { format: 'cwt', profile: 'compact', status: ENTRY });
    await call(compactRevocation.set, { params: { id: ofCwt }, body: { isRevoked: true } });
    const refused = [notify(id, undefined, BETA), notify(ofCwt), notify(randomUUID())];
    for (const { code } of await Promise.all(refused.map(refusal))) expect(code).toBe('NotFound');
    await call(webSemanticRegistry.delete, { params: { id } });
    expect((await refusal(notify(id))).code).toBe('NotFound');
  });

  it('is refused for a sender that is not a DID of the tenant [T201]', async () => {
    const from = 'did:web:beta.localhost';
    expect((await refusal(notify(await revoked(), { from, to: HOLDERS }))).details).toEqual([
      { value: from, msg: 'must be a DID of the tenant', param: 'from', location: 'body' },
    ]);
  });

  it.each<[string, object, string, string]>([
    ['no sender', { to: HOLDERS }, 'from', 'is required'],
    ['a URL', { from: 'https://acme.localhost', to: HOLDERS }, 'from', 'must be a DID of at most 2048 characters'],
    ['a DID URL', { from: `${SENDER}#key`, to: HOLDERS }, 'from', 'must be a DID of at most 2048 characters'],
    [
      'a long sender',
      { from: `did:key:${'z'.repeat(2041)}`, to: HOLDERS },
      'from',
      'must be a DID of at most 2048 characters',
    ],
    ['no receivers', { from: SENDER }, 'to', 'is required'],
    ['one receiver that is no array', { from: SENDER, to: HOLDERS[0] }, 'to', 'must be an array'],
    ['an empty array', { from: SENDER, to: [] }, 'to', 'must not be empty'],
    [
      '101 receivers',
      { from: SENDER, to: Array.from({ length: 101 }, (_, i) => `did:web:h${i}.example`) },
      'to',
      'must have at most 100 entries',
    ],
    ['a receiver twice', { from: SENDER, to: [HOLDERS[0], HOLDERS[0]] }, 'to', 'must not repeat an entry'],
    ['a receiver that is no string', { from: SENDER, to: [7] }, 'to', 'must contain only strings'],
    [
      'a receiver that is no DID',
      { from: SENDER, to: [HOLDERS[0], 'ada@example.com'] },
      'to',
      'must contain only DIDs of at most 2048 characters',
    ],
  ])('is refused with %s [T201]', async (_, body, param, msg) => {
    const { details } = await refusal(notify(randomUUID(), body));
    expect(details).toEqual(expect.arrayContaining([expect.objectContaining({ param, msg, location: 'body' })]));
  });
});

describe('a deleted web-semantic credential', () => {
  const ofFormat = { format: 'ldp_vc', profile: 'web-semantic' } as const;
  const remove = (id: string) => call(webSemanticRegistry.delete, { params: { id } });

  it('is revoked for good if it has a status [T188]', async () => {
    const userId = await newUser();
    const { credentialId: id } = await issue(userId, { ...ofFormat, status: ENTRY });
    expect(await listed(id)).toMatchObject({ status: 'valid' });
    await remove(id);
    const stored = await changesOf(id);
    expect(stored.map(({ type }) => type)).toEqual([
      'CredentialRecorded',
      'CredentialStatusChanged',
      'CredentialDeleted',
    ]);
    expect(stored[1]!.data).toMatchObject({ ...ENTRY, status: 'invalid', former: 'valid', credentialId: id });
    const own = () => changes().filter(({ data }) => (data as { credentialId: string }).credentialId === id);
    await waitUntil(() => own().length === 1, { what: 'the change' });
    expect(own()[0]!.data).toMatchObject({ status: 'invalid', formerStatus: 'valid', userId });
    expect(await listed(id)).toBeUndefined();
    for (const again of [
      () => remove(id),
      () => call(webSemanticRevocation.set, { params: { id }, body: { isRevoked: false } }),
      () => call(webSemanticRevocation.retrieve, { params: { id } }),
    ])
      expect((await refusal(again())).code).toBe('NotFound');
    expect(await changesOf(id)).toHaveLength(3);
  });
});

describe.each([
  ['compact', compactRegistry, compactRevocation, { format: 'cwt', profile: 'compact' }],
  [
    'compact-semantic',
    compactSemanticRegistry,
    compactSemanticRevocation,
    { format: 'cwt_vc', profile: 'compact-semantic' },
  ],
  ['web-semantic', webSemanticRegistry, webSemanticRevocation, { format: 'ldp_vc', profile: 'web-semantic' }],
] as const)('the deletion of a %s credential', (_profile, registry, operations, ofFormat) => {
  const remove = (id: string, tenantId = ACME) => call(registry.delete, { params: { id } }, tenantId);

  it('revokes it for good, whether it was revoked, restored or never changed [T184]', async () => {
    for (const values of [[], [true], [true, false]]) {
      const { credentialId: id } = await issue(await newUser(), { ...ofFormat, status: ENTRY });
      for (const isRevoked of values) await call(operations.set, { params: { id }, body: { isRevoked } });
      expect(await listed(id)).toBeDefined();
      expect(await remove(id)).toBeUndefined();
      const [changed, deleted] = (await changesOf(id)).slice(-2);
      expect([changed!.type, (changed!.data as { status: string }).status]).toEqual([
        'CredentialStatusChanged',
        'invalid',
      ]);
      expect(deleted!.type).toBe('CredentialDeleted');
      expect(await listed(id)).toBeUndefined();
      const refused = [
        call(operations.set, { params: { id }, body: { isRevoked: false } }),
        call(operations.retrieve, { params: { id } }),
        remove(id),
      ];
      for (const { code } of await Promise.all(refused.map(refusal))) expect(code).toBe('NotFound');
    }
  });

  it('revokes nothing where there is no status, and reaches no other tenant or format [T184]', async () => {
    const { credentialId: id } = await issue(await newUser(), ofFormat);
    const { credentialId: foreign } = await issue(await newUser(), { format: 'jwt_vc_json', profile: 'jwt-vc' });
    await listed(id);
    const refused = [remove(id, BETA), remove(foreign), remove(randomUUID())];
    for (const { code } of await Promise.all(refused.map(refusal))) expect(code).toBe('NotFound');
    await remove(id);
    expect((await changesOf(id)).map(({ type }) => type)).toEqual(['CredentialRecorded', 'CredentialDeleted']);
    expect(await changesOf(foreign)).toHaveLength(1);
  });
});

describe('the deletion of a mobile document', () => {
  const ofFormat = { format: 'mso_mdoc', profile: 'mobile' } as const;
  const remove = (id: string, tenantId = ACME) => call(mobileRegistry.delete, { params: { id } }, tenantId);

  it('ends its metadata and keeps its status, which can be neither changed nor read any more [T171]', async () => {
    for (const former of ['valid', 'suspended', 'invalid']) {
      const { credentialId: id } = await issue(await newUser(), { ...ofFormat, status: ENTRY });
      await set(id, { status: former }, mobileStatus);
      expect(await listed(id)).toMatchObject({ status: former });
      const before = await changesOf(id);
      expect(await remove(id)).toBeUndefined();
      const stored = await changesOf(id);
      // No change of the status, which its list goes on to publish.
      expect(stored.slice(0, -1)).toEqual(before);
      expect(stored.at(-1)!.type).toBe('CredentialDeleted');
      expect(stored.at(-1)!.metadata.record).toMatchObject({
        prefix: 'USER_CREDENTIAL_DELETE',
        outcome: 'SUCCESS',
        object: { type: 'credential', id },
      });
      expect(await listed(id)).toBeUndefined();
      for (const refused of [
        set(id, { status: 'valid' }, mobileStatus),
        set(id, { status: 'invalid' }, mobileStatus),
        retrieve(id, mobileStatus),
        remove(id),
      ])
        expect((await refusal(refused)).code).toBe('NotFound');
      expect(await changesOf(id)).toEqual(stored);
    }
  });

  it('reaches no other tenant or format, and needs no status [T171]', async () => {
    const { credentialId: id } = await issue(await newUser(), ofFormat);
    const { credentialId: foreign } = await issue(await newUser());
    await listed(id);
    const refused = [remove(id, BETA), remove(foreign), remove(randomUUID())];
    for (const { code } of await Promise.all(refused.map(refusal))) expect(code).toBe('NotFound');
    expect((await refusal(remove('no-uuid'))).details).toMatchObject([{ param: 'id', msg: 'must be a UUID' }]);
    await remove(id);
    expect((await changesOf(id)).map(({ type }) => type)).toEqual(['CredentialRecorded', 'CredentialDeleted']);
    expect(await changesOf(foreign)).toHaveLength(1);
  });
});

it('a credential of a deleted user is listed no more, and can still be revoked', async () => {
  const userId = await newUser();
  const { credentialId: id } = await issue(userId);
  expect(await listed(id)).toMatchObject({ userId });
  await call(deleteUser, { params: { id: userId } });
  expect(await listed(id)).toBeUndefined();
  expect(await set(id, { status: 'invalid' })).toEqual({ status: 'invalid' });
  expect(await retrieve(id)).toEqual({ status: 'invalid' });
  expect(await listed(id)).toBeUndefined();
});

it('the lists are rebuilt with the statuses', async () => {
  const userId = await newUser();
  const [one, two] = [await issue(userId), await issue(userId)];
  await set(one.credentialId, { status: 'suspended' });
  await set(one.credentialId, { status: 'invalid' });
  await set(two.credentialId, { status: 'suspended' });
  const all = async () => {
    await users().running.waitForHead(10_000);
    return call<PageOf<TenantCredential>>(listCredentials, { query: { limit: 1000 } });
  };
  const before = await all();
  const statuses = before.data.filter((row) => row.userId === userId).map(({ status }) => status);
  expect(statuses).toEqual(['invalid', 'suspended']);
  await users().running.rebuild();
  expect(await all()).toEqual(before);
});
