import { AppError, type CredentialStatus } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import { changeStatus, deleteCredential, listedCredential, recordCredential } from './issued-credential.decisions.js';
import type { CredentialRecordedData, IssuedCredentialEvent } from './issued-credential.events.js';
import { issuedCredential, issuedCredentialStream, type IssuedCredentialState } from './issued-credential.state.js';

const facts = {
  credentialId: 'c1',
  sessionId: 's1',
  userId: 'u1',
  credentialConfigurationId: 'g1',
  format: 'dc+sd-jwt',
  profile: 'sd-jwt',
  issuedAt: '2026-03-01T10:00:00.000Z',
} as const;
const data = facts as unknown as CredentialRecordedData;
const document = { keyId: 'k1', sealed: 'v1.k1.x.y' };
const entry = { listId: 'l1', index: 4711 };
const recorded = { type: 'CredentialRecorded', data } as IssuedCredentialEvent;
const withDocument = { type: 'CredentialRecorded', data: { ...data, document } } as IssuedCredentialEvent;
const withStatus = { type: 'CredentialRecorded', data: { ...data, status: entry } } as IssuedCredentialEvent;

const now = new Date('2026-04-01T10:00:00.000Z');
const format = 'dc+sd-jwt';
const changed = (former: CredentialStatus, status: CredentialStatus, reason?: string): IssuedCredentialEvent => {
  const { credentialId, userId, credentialConfigurationId, profile, issuedAt } = facts;
  const about = { credentialId, userId, credentialConfigurationId, format, profile, issuedAt } as const;
  return {
    type: 'CredentialStatusChanged',
    data: { ...about, ...entry, status, former, changedAt: now.toISOString(), ...(reason !== undefined && { reason }) },
  };
};

const after = (events: IssuedCredentialEvent[]) =>
  given<IssuedCredentialState, IssuedCredentialEvent>(issuedCredential, events);

const refusal = (decide: () => unknown): AppError => {
  try {
    decide();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('not refused');
};

describe('an issued credential', () => {
  it('is recorded once, in a stream of its own', () => {
    after([])
      .when((state) => recordCredential(state, data))
      .then([recorded]);
    after([recorded])
      .when((state) => recordCredential(state, data))
      .thenThrows('Conflict');
    expect(issuedCredentialStream('t1', 'c1')).toBe('credential-t1+c1');
  });

  it('keeps its facts in its state, and of its document the key', () => {
    after([recorded])
      .when(() => [])
      .thenState({ ...data, status: 'recorded' });
    after([withDocument])
      .when(() => [])
      .thenState({ ...data, status: 'recorded', documentKeyId: 'k1' });
  });

  it('is valid when it is issued with a status', () =>
    after([withStatus])
      .when(() => [])
      .thenState({ ...data, status: 'recorded', listed: { ...entry, status: 'valid' } }));
});

describe('a deleted credential', () => {
  const issued = { credentialId: 'c1', userId: 'u1', issuedAt: facts.issuedAt };
  const deleted: IssuedCredentialEvent = {
    type: 'CredentialDeleted',
    data: { ...issued, deletedAt: now.toISOString() },
  };

  it('is deleted once, also where a crash left it without a stream', () => {
    for (const history of [[recorded], []]) {
      given(issuedCredential, history)
        .when((state) => deleteCredential(state, issued, now, true))
        .then([deleted]);
      given(issuedCredential, [...history, deleted])
        .when((state) => deleteCredential(state, issued, now, true))
        .thenThrows('NotFound');
    }
  });

  it('with a status is revoked for good where revocation is reversible, unless it is invalid already', () => {
    const remove = (state: IssuedCredentialState) => deleteCredential(state, issued, now, true);
    const suspended = [withStatus, changed('valid', 'suspended')];
    after(suspended)
      .when(remove)
      .then([changed('suspended', 'invalid'), deleted]);
    after([withStatus, changed('valid', 'invalid')])
      .when(remove)
      .then([deleted]);
  });

  it('is revoked for good if it has a status and revocation is reversible', () => {
    const revoked = changed('valid', 'invalid');
    for (const [history, events] of [
      [[withStatus], [revoked, deleted]],
      [[withStatus, revoked], [deleted]],
      [
        [withStatus, revoked, changed('invalid', 'valid')],
        [revoked, deleted],
      ],
    ])
      after(history!)
        .when((state) => deleteCredential(state, issued, now, true))
        .then(events!);
    after([withStatus])
      .when((state) => deleteCredential(state, issued, now, false))
      .then([deleted]);
    const state = stateAfter(issuedCredential, [withStatus, revoked, deleted]);
    for (const status of ['valid', 'invalid'] as const)
      expect(refusal(() => changeStatus(state, { format, status, isReversible: true }, now)).code).toBe('NotFound');
  });

  it('does not exist any more, and cannot be recorded again', () => {
    const state = stateAfter(issuedCredential, [withStatus, deleted]);
    expect(state).toEqual({ status: 'deleted' });
    expect(refusal(() => changeStatus(state, { format, status: 'invalid' }, now)).code).toBe('NotFound');
    given(issuedCredential, [recorded, deleted])
      .when((current) => recordCredential(current, data))
      .thenThrows('Conflict');
  });
});

describe('the status of a credential', () => {
  it.each<[CredentialStatus[], CredentialStatus]>([
    [['valid'], 'suspended'],
    [['valid'], 'invalid'],
    [['valid', 'suspended'], 'valid'],
    [['valid', 'suspended'], 'invalid'],
    [['valid', 'suspended', 'valid'], 'suspended'],
  ])('changes from the last of %j to %s', (before, status) => {
    const history = before.slice(1).map((next, at) => changed(before[at]!, next));
    after([withStatus, ...history])
      .when((state) => changeStatus(state, { format, status }, now))
      .then([changed(before.at(-1)!, status)]);
    after([withStatus, ...history, changed(before.at(-1)!, status)]).thenState({
      ...data,
      status: 'recorded',
      listed: { ...entry, status },
    });
  });

  it('changes with a reason', () =>
    after([withStatus])
      .when((state) => changeStatus(state, { format, status: 'invalid', reason: 'lost phone' }, now))
      .then([changed('valid', 'invalid', 'lost phone')]));

  it.each<CredentialStatus>(['valid', 'suspended', 'invalid'])('%s is not set twice', (status) =>
    after([withStatus, ...(status === 'valid' ? [] : [changed('valid', status)])])
      .when((state) => changeStatus(state, { format, status, reason: 'another' }, now))
      .then([]),
  );

  it.each<CredentialStatus>(['valid', 'suspended'])('invalid is final: %s is refused', (status) => {
    const state = stateAfter<IssuedCredentialState, IssuedCredentialEvent>(issuedCredential, [
      withStatus,
      changed('valid', 'invalid'),
    ]);
    const error = refusal(() => changeStatus(state, { format, status }, now));
    expect([error.kind, error.details]).toEqual([
      'invalid',
      [
        {
          value: status,
          param: 'status',
          location: 'body',
          msg: 'must be invalid: the credential is invalid, which is final',
        },
      ],
    ]);
  });

  it('invalid is final only where revocation is not reversible', () => {
    const revoked = stateAfter<IssuedCredentialState, IssuedCredentialEvent>(issuedCredential, [
      withStatus,
      changed('valid', 'invalid'),
    ]);
    expect(changeStatus(revoked, { format, status: 'valid', isReversible: true }, now)).toEqual([
      changed('invalid', 'valid'),
    ]);
    expect(changeStatus(revoked, { format, status: 'invalid', isReversible: true }, now)).toEqual([]);
  });

  it('exists only under the path of its format, and only where the credential was issued with one', () => {
    for (const [events, asked] of [
      [[], format],
      [[withStatus], 'jwt_vc_json'],
      [[recorded], 'jwt_vc_json'],
    ] as const) {
      const state = stateAfter<IssuedCredentialState, IssuedCredentialEvent>(issuedCredential, events);
      expect(refusal(() => changeStatus(state, { format: asked, status: 'invalid' }, now)).code).toBe('NotFound');
      expect(refusal(() => listedCredential(state, asked)).code).toBe('NotFound');
    }
    const state = stateAfter<IssuedCredentialState, IssuedCredentialEvent>(issuedCredential, [recorded]);
    const msg = 'must be a credential with a status: its configuration was not revocable when it was issued';
    const details = [{ value: 'c1', param: 'id', location: 'params', msg }];
    expect(refusal(() => changeStatus(state, { format, status: 'valid' }, now)).details).toEqual(details);
    expect(refusal(() => listedCredential(state, format)).details).toEqual(details);
    expect(
      listedCredential(stateAfter<IssuedCredentialState, IssuedCredentialEvent>(issuedCredential, [withStatus]), format)
        .listed.status,
    ).toBe('valid');
  });

  it('of a credential that was not recorded does not change', () =>
    after([recorded, changed('valid', 'invalid')]).thenState({ ...data, status: 'recorded' }));
});
