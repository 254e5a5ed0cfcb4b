import { AppError } from '@attestry/contracts';
import { ABANDONED_AFTER_MS, given, readEvent, stateAfter } from '@attestry/event-store';
import type { DidEvent, DidKey } from './did.events.js';
import {
  createDid,
  finishDeletion,
  holdersOf,
  isUnpublished,
  releaseIssuerKey,
  reservedKey,
  reserveIssuerKey,
  seenPublished,
  startDeletion,
} from './did.decisions.js';
import { did, didStream } from './did.state.js';

const DID = 'did:web:acme.example';
const at = new Date('2026-03-01T10:00:00.000Z');
const later = (ms: number) => new Date(at.getTime() + ms);
const p256: DidKey = {
  didDocumentKeyId: `${DID}#p`,
  kmsKeyId: 'kms-p',
  algorithm: 'P-256',
  purposes: ['assertionMethod'],
};
const ed25519: DidKey = {
  didDocumentKeyId: `${DID}#e`,
  kmsKeyId: 'kms-e',
  algorithm: 'Ed25519',
  purposes: ['authentication', 'assertionMethod'],
};
const x25519: DidKey = {
  didDocumentKeyId: `${DID}#x`,
  kmsKeyId: 'kms-x',
  algorithm: 'X25519',
  purposes: ['keyAgreement'],
};
const command = {
  did: DID,
  method: 'web' as const,
  keys: [p256, ed25519, x25519],
  document: { id: DID },
  registrationStatus: 'COMPLETED' as const,
};
/** Keeps the union: a constant of it would be narrowed. */
const event = (of: DidEvent): DidEvent => of;
const created = event({ type: 'DidCreated', data: { ...command, registered: at.getTime() } });
const reserved = (configurationId: string, algorithm: DidKey['algorithm'] = 'P-256', when = at): DidEvent => ({
  type: 'DidReserved',
  data: { configurationId, algorithm, reservedAt: when.toISOString() },
});
const released = (configurationId: string): DidEvent => ({ type: 'DidReleased', data: { configurationId } });
const started = event({ type: 'DidDeletionStarted', data: { did: DID, startedAt: at.toISOString() } });
const deleted = event({ type: 'DidDeleted', data: { did: DID, deletedAt: at.toISOString() } });
const none = { abandoned: new Set<string>() };

const refusal = (run: () => unknown): AppError => {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

describe('the stream of a DID', () => {
  it('is of category did, whatever dashes and percent signs follow', () => {
    const stream = didStream('t-1', 'did:web:a-b.example%3A8443:c');
    expect(stream).toBe('did-t-1+did:web:a-b.example%3A8443:c');
    expect(stream.slice(0, stream.indexOf('-'))).toBe(did.category);
  });

  it('is not read beyond an event of a newer release', () => {
    const stored = { stream: 'did-t+x', type: 'DidRotated', schemaVersion: 1, data: {} };
    expect(() => readEvent(did, stored)).toThrow('does not know');
  });
});

describe('creating', () => {
  const decide = (state: Parameters<typeof createDid>[0]) => createDid(state, command, at);

  it('records what was created and when', () => given(did, []).when(decide).then([created]));
  it('is refused while the tenant has the DID', () => {
    given(did, [created]).when(decide).thenThrows('BadRequest');
    expect(refusal(() => decide(stateAfter(did, [created]))).details).toEqual([
      { msg: 'is already the address of a DID of this tenant', param: 'options.url', location: 'body' },
    ]);
  });
  it('is refused while the DID is being deleted', () =>
    given(did, [created, started]).when(decide).thenThrows('BadRequest'));
  it('is possible again after its deletion, without the old reservations', () =>
    given(did, [created, reserved('c'), released('c'), started, deleted])
      .when(decide)
      .thenState({
        ...{ status: 'active', ...command, registered: at.getTime(), reservations: new Map() },
        areMultikeysPublished: false,
      }));
});

describe('finding the published document', () => {
  const foreign = event({
    type: 'DidCreated',
    data: { ...command, registrationStatus: 'PROCESSING', registered: at.getTime() },
  });
  const seen = event({ type: 'DidPublicationSeen', data: { seenAt: at.toISOString() } });
  const see = (state: Parameters<typeof createDid>[0]) =>
    seenPublished(state, { isPublished: true, hasMultikeys: false }, at);

  it('completes the registration, once', () => {
    given(did, [foreign]).when(see).then([seen]);
    given(did, [foreign, seen]).when(see).then([]);
    given(did, [created]).when(see).then([]);
    expect(stateAfter(did, [foreign, seen])).toMatchObject({ status: 'active', registrationStatus: 'COMPLETED' });
  });
  it('changes nothing for a DID that was deleted meanwhile', () => {
    given(did, [foreign, started]).when(see).thenThrows('NotFound');
    expect(stateAfter(did, [foreign, started, seen])).toMatchObject({ status: 'deleting' });
  });
});

describe('reserving', () => {
  const reserve =
    (...algorithms: DidKey['algorithm'][]) =>
    (state: Parameters<typeof createDid>[0]) =>
      reserveIssuerKey(state, { did: DID, configurationId: 'c', algorithms, member: 'issuerDid', isLinked: false }, at);

  it('selects the best available algorithm', () => {
    given(did, [created])
      .when(reserve('P-256', 'Ed25519'))
      .then([reserved('c')]);
    given(did, [created])
      .when(reserve('Ed25519', 'P-256'))
      .then([reserved('c', 'Ed25519')]);
    const onlyEd25519 = event({
      type: 'DidCreated',
      data: { ...command, keys: [ed25519], registered: at.getTime() },
    });
    given(did, [onlyEd25519])
      .when(reserve('P-256', 'Ed25519'))
      .then([reserved('c', 'Ed25519')]);
  });
  it('waits until its document was found, except on the verified domain of the tenant [T621]', () => {
    const unpublished = event({
      type: 'DidCreated',
      data: { ...command, registrationStatus: 'PROCESSING', registered: at.getTime() },
    });
    const seen = event({ type: 'DidPublicationSeen', data: { seenAt: at.toISOString() } });
    const facts = { did: DID, configurationId: 'c', algorithms: ['P-256'] as const, member: 'issuer' as const };
    const on = (isLinked: boolean) => (state: Parameters<typeof createDid>[0]) =>
      reserveIssuerKey(state, { ...facts, isLinked }, at);
    expect(refusal(() => on(false)(stateAfter(did, [unpublished]))).details).toEqual([
      {
        value: DID,
        msg: 'must have the registrationStatus COMPLETED: its initialDidDocument was not found, unchanged, where the DID names it',
        param: 'issuer',
        location: 'body',
      },
    ]);
    given(did, [unpublished])
      .when(on(true))
      .then([reserved('c')]);
    given(did, [unpublished, seen])
      .when(on(false))
      .then([reserved('c')]);
    // Reserved before this rule, or by an earlier attempt of the call.
    given(did, [unpublished, reserved('c')])
      .when(on(false))
      .then([]);
    expect(isUnpublished(stateAfter(did, [unpublished, reserved('c')]), 'other')).toBe(true);
    expect(reservedKey(stateAfter(did, [unpublished, reserved('c')]), 'c')).toMatchObject({ isUnpublished: true });
    expect(reservedKey(stateAfter(did, [unpublished, reserved('c'), seen]), 'c')).not.toHaveProperty('isUnpublished');
  });
  it('appends nothing the second time', () =>
    given(did, [created, reserved('c', 'Ed25519')])
      .when(reserve('P-256', 'Ed25519'))
      .then([]));
  it('chooses again when the first choice is no longer suitable', () =>
    given(did, [created, reserved('c', 'Ed25519')])
      .when(reserve('P-256'))
      .then([reserved('c')]));
  it.each<[string, DidEvent[], DidKey['algorithm'][]]>([
    ['an unknown DID', [], ['P-256']],
    ['a DID being deleted', [created, started], ['P-256']],
    ['a deleted DID', [created, started, deleted], ['P-256']],
    ['a key for key agreement only', [created], ['X25519']],
    ['an empty list of algorithms', [created], []],
  ])('is refused for %s', (_, events, algorithms) => {
    const refused = refusal(() => reserve(...algorithms)(stateAfter(did, events)));
    expect(refused).toMatchObject({ kind: 'invalid', details: [{ param: 'issuerDid', location: 'body', value: DID }] });
  });
  it('returns the selected key', () => {
    const state = stateAfter(did, [created, reserved('c', 'Ed25519')]);
    expect(reservedKey(state, 'c')).toEqual({
      did: DID,
      verificationMethod: `${DID}#e`,
      kmsKeyId: 'kms-e',
      algorithm: 'Ed25519',
    });
    expect(refusal(() => reservedKey(state, 'other')).kind).toBe('notFound');
  });
});

describe('releasing', () => {
  const release = (state: Parameters<typeof createDid>[0]) => releaseIssuerKey(state, 'c');

  it('ends the reservation of this configuration only', () =>
    given(did, [created, reserved('c'), reserved('d')])
      .when(release)
      .then([released('c')]));
  it.each<[string, DidEvent[]]>([
    ['a DID without reservations', [created]],
    ['an unknown DID', []],
    ['a deleted DID', [created, started, deleted]],
  ])('appends nothing for %s', (_, events) => given(did, events).when(release).then([]));
});

describe('deleting', () => {
  it('starts when no configuration uses the DID', () =>
    given(did, [created, reserved('c'), released('c')])
      .when((state) => startDeletion(state, none, at))
      .then([started]));
  it('releases abandoned reservations in the same step', () =>
    given(did, [created, reserved('c')])
      .when((state) => startDeletion(state, { abandoned: new Set(['c']) }, at))
      .then([released('c'), started]));
  it('is refused while a configuration uses the DID, and names it', () => {
    const state = stateAfter(did, [created, reserved('c'), reserved('d')]);
    expect(refusal(() => startDeletion(state, { abandoned: new Set(['c']) }, at))).toMatchObject({
      kind: 'invalid',
      details: [
        {
          value: DID,
          msg: 'the DID is the issuer of a credential configuration, which must be deleted first',
          param: 'id',
          location: 'params',
        },
      ],
    });
    expect(refusal(() => startDeletion(state, none, at)).details![0]!.msg).toContain('2 credential configurations');
  });
  it('is a 404 for an unknown DID', () => {
    given(did, [])
      .when((state) => startDeletion(state, none, at))
      .thenThrows('NotFound');
    given(did, [created, started, deleted])
      .when((state) => startDeletion(state, none, at))
      .thenThrows('NotFound');
  });
  it('continues after an interruption, and completes once', () => {
    given(did, [created, started])
      .when((state) => startDeletion(state, none, at))
      .then([]);
    given(did, [created, started])
      .when((state) => finishDeletion(state, at))
      .then([deleted]);
    given(did, [created, started, deleted])
      .when((state) => finishDeletion(state, at))
      .then([]);
    given(did, [created])
      .when((state) => finishDeletion(state, at))
      .then([]);
  });
  it('stores the key ids until the keys are destroyed', () =>
    given(did, [created, started]).thenState({ status: 'deleting', did: DID, keys: [p256, ed25519, x25519] }));
  it('queries only reservations older than a minute', () => {
    const state = stateAfter(did, [created, reserved('old'), reserved('new', 'P-256', later(2))]);
    expect(holdersOf(state, later(ABANDONED_AFTER_MS))).toEqual({ settled: [], young: ['old', 'new'] });
    expect(holdersOf(state, later(ABANDONED_AFTER_MS + 1))).toEqual({ settled: ['old'], young: ['new'] });
    expect(holdersOf(stateAfter(did, []), at)).toEqual({ settled: [], young: [] });
  });
});

describe('refusals of a DID', () => {
  const detailsOf = (run: () => unknown) => refusal(run).details;
  const reservation = { did: DID, configurationId: 'c', member: 'issuerDid' as const, isLinked: false };
  const reserve = (events: DidEvent[], ...algorithms: DidKey['algorithm'][]) =>
    detailsOf(() => reserveIssuerKey(stateAfter(did, events), { ...reservation, algorithms }, at));

  it('say that it is being deleted', () =>
    expect(detailsOf(() => createDid(stateAfter(did, [created, started]), command, at))).toEqual([
      {
        msg: 'is the address of a DID that is being deleted; try again in a moment',
        param: 'options.url',
        location: 'body',
      },
    ]));

  it('say why it cannot issue', () => {
    expect(reserve([], 'P-256')).toEqual([
      { value: DID, msg: 'must be a DID of this tenant', param: 'issuerDid', location: 'body' },
    ]);
    expect(reserve([created], 'X25519', 'Bls12381G2')).toEqual([
      {
        value: DID,
        msg: 'must have an assertion key of type X25519 or Bls12381G2',
        param: 'issuerDid',
        location: 'body',
      },
    ]);
  });
});
