import type { AppError } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import {
  approveDeferral,
  completeDeferral,
  countDeferred,
  deferIssuance,
  denyDeferral,
  isOfDeferral,
} from './deferred-issuance.decisions.js';
import { deleteOffer, hasRights, isOpenDeferral } from './issuance-session.decisions.js';
import type {
  CredentialIssuedData,
  Grant,
  IssuanceDeferredData,
  IssuanceSessionEvent,
} from './issuance-session.events.js';
import { issuanceSession, type IssuanceSessionState, type RedeemedSession } from './issuance-session.state.js';

const now = new Date('2026-05-01T10:00:00.000Z');
const DAY = 86_400;
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const at = (seconds: number) => later(seconds).toISOString();
const grant = (kind: Grant['kind'], seconds: number): Grant => ({
  ...{ tokenId: `${kind}-id`, kind, mac: 'mac', keyId: 'p1' },
  expiresAt: at(seconds),
});
const begun: IssuanceSessionEvent[] = [
  {
    type: 'PreAuthorizedOfferCreated',
    data: {
      sessionId: 's1',
      origin: { kind: 'preAuthorizedOffer', sealedDocument: 'sealed' },
      ...{ issuer: 'https://acme.example', binding: 'none', userId: 'u1', createdAt: at(0) },
      entries: [{ credentialConfigurationId: 'c1', scope: 'jwt_vc_json:A' }],
      code: grant('preAuthorizedCode', 300),
    },
  },
  {
    type: 'PreAuthorizedCodeRedeemed',
    data: {
      ...{ sessionId: 's1', tokenId: 'preAuthorizedCode-id', scope: 'jwt_vc_json:A', redeemedAt: at(0) },
      accessToken: grant('access', 300),
    },
  },
];
const deferral = (id: string, days = 30, more: Partial<IssuanceDeferredData> = {}) => ({
  ...{ deferralId: id, sessionId: 's1', offerId: 's1', userId: 'u1', transaction: grant('transaction', days * DAY) },
  ...{ credentialConfigurationId: 'c1', configurationVersion: 1, tokenId: 'access-id', needsApproval: true },
  holders: [{ did: 'did:jwk:x', publicJwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' } as never }],
  deferredAt: at(0),
  ...more,
});
const deferred = (id: string, days = 30, openDays = days, more: Partial<IssuanceDeferredData> = {}) =>
  ({
    type: 'IssuanceDeferred',
    data: { ...deferral(id, days, more), openUntil: at(openDays * DAY) },
  }) satisfies IssuanceSessionEvent;
const approved = (id: string): IssuanceSessionEvent => ({
  type: 'DeferredIssuanceApproved',
  data: { deferralId: id, approvedAt: at(0) },
});
const denied = (id: string, openUntil?: string): IssuanceSessionEvent => ({
  type: 'DeferredIssuanceDenied',
  data: { deferralId: id, deniedAt: at(0), ...(openUntil !== undefined && { openUntil }) },
});
const completed = (id: string, openUntil?: string): IssuanceSessionEvent => ({
  type: 'DeferredIssuanceCompleted',
  data: { deferralId: id, answerId: `answer-${id}`, completedAt: at(0), ...(openUntil !== undefined && { openUntil }) },
});
const issued: IssuanceSessionEvent = {
  type: 'CredentialIssued',
  data: { credentialId: 'x', credentialConfigurationId: 'c1' } as CredentialIssuedData,
};
const deleted: IssuanceSessionEvent = {
  type: 'PreAuthorizedOfferDeleted',
  data: { sessionId: 's1', deletedAt: at(0) },
};

const after = (...events: IssuanceSessionEvent[]) =>
  given<IssuanceSessionState, IssuanceSessionEvent>(issuanceSession, [...begun, ...events]);
const sessionAfter = (...events: IssuanceSessionEvent[]) =>
  stateAfter(issuanceSession, [...begun, ...events]) as RedeemedSession;
const complete =
  (id: string, when = now) =>
  (state: IssuanceSessionState) =>
    completeDeferral(state, { deferralId: id, answerId: `answer-${id}` }, when);

describe('a deferred issuance', () => {
  it('names the latest end of the open ones, by which claims are kept [T393]', () => {
    after()
      .when((state) => deferIssuance(state as RedeemedSession, deferral('d1', 2), now))
      .then([deferred('d1', 2)]);
    after(deferred('d1', 30))
      .when((state) => deferIssuance(state as RedeemedSession, deferral('d2', 2), now))
      .then([deferred('d2', 2, 30)]);
    after(deferred('d1', 2))
      .when((state) => deferIssuance(state as RedeemedSession, deferral('d2', 30), now))
      .then([deferred('d2', 30)]);
    after(deferred('d1', 30), deferred('d2', 5, 30), deferred('d3', 2, 30))
      .when((state) => denyDeferral(state, 'd1', now))
      .then([denied('d1', at(5 * DAY))]);
    after(deferred('d1', 30), deferred('d2', 2, 30))
      .when((state) => denyDeferral(state, 'd1', now))
      .then([denied('d1', at(2 * DAY))]);
    after(deferred('d1', 30), deferred('d2', 2, 30), denied('d1', at(2 * DAY)))
      .when((state) => denyDeferral(state, 'd2', now))
      .then([denied('d2')]);
    after(deferred('d1', 30), deferred('d2', 2, 30), approved('d1'))
      .when(complete('d1'))
      .then([completed('d1', at(2 * DAY))]);
  });

  it('is one of at most 20 open ones [T388]', () => {
    const many = Array.from({ length: 20 }, (_, n) => deferred(`d${n}`));
    after(...many)
      .when((state) => deferIssuance(state as RedeemedSession, deferral('more'), now))
      .thenThrows('credential_request_denied');
    after(...many, denied('d3'))
      .when((state) => deferIssuance(state as RedeemedSession, deferral('more'), now))
      .then([deferred('more')]);
  });

  it('is known after its end until 100 later ones have ended, so that the state does not grow [T500]', () => {
    const end = (n: number) => (n % 2 ? [approved(`d${n}`), issued, completed(`d${n}`)] : [denied(`d${n}`)]);
    const many = Array.from({ length: 300 }, (_, n) => [deferred(`d${n}`), ...end(n)]).flat();
    const open = deferred('open');
    const { deferrals } = stateAfter(issuanceSession, [...begun, open, ...many, deferred('last')]) as RedeemedSession;
    const kept = Array.from({ length: 100 }, (_, n) => `d${n + 200}`);
    expect(Object.keys(deferrals!)).toEqual(['open', ...kept, 'last']);
    expect(isOpenDeferral(deferrals!['open']!, now)).toBe(true);
    // One that was not collected in time has ended.
    const short = Array.from({ length: 120 }, (_, n) => deferred(`d${n}`, 1));
    const after30Days = deferred('last', 60, 60, { deferredAt: at(30 * DAY) });
    const session = stateAfter(issuanceSession, [...begun, ...short, after30Days]) as RedeemedSession;
    expect(Object.keys(session.deferrals!)).toHaveLength(101);
  });

  it('is approved once, unless it was denied or has ended [T387]', () => {
    const approve =
      (id = 'd1', when = now) =>
      (state: IssuanceSessionState) =>
        approveDeferral(state, id, when);
    after(deferred('d1'))
      .when(approve())
      .then([approved('d1')]);
    after(deferred('d1'), approved('d1')).when(approve()).then([]);
    after(deferred('d1'), approved('d1'), issued, completed('d1')).when(approve()).then([]);
    after(deferred('d1', 30, 30, { needsApproval: false }))
      .when(approve())
      .then([]);
    after(deferred('d1'), denied('d1')).when(approve()).thenThrows('Conflict');
    after(deferred('d1')).when(approve('d2')).thenThrows('NotFound');
    after(deferred('d1')).when(approve('toString')).thenThrows('NotFound');
    after(deferred('d1'))
      .when(approve('d1', later(30 * DAY)))
      .thenThrows('NotFound');
    after(deferred('d1'), deleted).when(approve()).thenThrows('NotFound');
    after().when(approve()).thenThrows('NotFound');
  });

  it('is denied until the credentials are issued [T387]', () => {
    const deny = (state: IssuanceSessionState) => denyDeferral(state, 'd1', now);
    after(deferred('d1'))
      .when(deny)
      .then([denied('d1')]);
    after(deferred('d1'), approved('d1'))
      .when(deny)
      .then([denied('d1')]);
    after(deferred('d1'), denied('d1')).when(deny).then([]);
    after(deferred('d1'), approved('d1'), issued, completed('d1')).when(deny).thenThrows('Conflict');
    after(deleted).when(deny).thenThrows('NotFound');
  });

  it('is completed once, after the approval if it needs one [T386]', () => {
    after(deferred('d1')).when(complete('d1')).thenThrows('invalid_transaction_id');
    after(deferred('d1'), denied('d1')).when(complete('d1')).thenThrows('invalid_transaction_id');
    after(deferred('d1'), approved('d1'), completed('d1')).when(complete('d1')).thenThrows('invalid_transaction_id');
    after(deferred('d1'), approved('d1'), deleted).when(complete('d1')).thenThrows('invalid_transaction_id');
    after(deferred('d1', 30, 30, { needsApproval: false }))
      .when(complete('d1'))
      .then([completed('d1')]);
  });

  it('is refused with the reason [T387, T388]', () => {
    const refusal = (decide: (state: IssuanceSessionState) => unknown, ...events: IssuanceSessionEvent[]) => {
      try {
        return decide(sessionAfter(...events));
      } catch (error) {
        const { message, check } = error as AppError;
        return [message, check];
      }
    };
    const many = Array.from({ length: 20 }, (_, n) => deferred(`d${n}`));
    const defer = (state: IssuanceSessionState) => deferIssuance(state as RedeemedSession, deferral('more'), now);
    expect(refusal(defer, ...many)).toEqual(['at most 20 deferred requests may be open', 'deferred-issuance']);
    expect(refusal(complete('d1'))).toEqual([
      'transaction_id is unknown, has expired or was used',
      'deferred-issuance',
    ]);
    const approve = (state: IssuanceSessionState) => approveDeferral(state, 'd1', now);
    expect(refusal(approve, deferred('d1'), denied('d1'))).toEqual(['The issuance was denied', undefined]);
    const deny = (state: IssuanceSessionState) => denyDeferral(state, 'd1', now);
    const ended = [deferred('d1'), approved('d1'), completed('d1')];
    expect(refusal(deny, ...ended)).toEqual(['The credentials were issued', undefined]);
  });

  it('counts against the limit of its configuration while it is open [T388]', () => {
    const two = { holders: [deferral('').holders[0]!, deferral('').holders[0]!] };
    const session = sessionAfter(
      deferred('d1', 30, 30, two),
      deferred('d2'),
      deferred('d3', 30, 30, { credentialConfigurationId: 'c2' }),
      deferred('d4'),
      denied('d4'),
      deferred('d5'),
      approved('d5'),
      completed('d5'),
    );
    expect(countDeferred(session, 'c1', now)).toBe(3);
    expect(countDeferred(session, 'c1', now, 'd1')).toBe(1);
    expect(countDeferred(session, 'c1', later(30 * DAY))).toBe(0);
    expect(countDeferred(sessionAfter(), 'c1', now)).toBe(0);
  });

  it('keeps the rights of its session, and the offer deletable, until it ends [T392]', () => {
    const session = sessionAfter(deferred('d1'));
    expect([hasRights(session, later(300)), hasRights(session, later(30 * DAY))]).toEqual([true, false]);
    expect(hasRights(sessionAfter(deferred('d1'), denied('d1')), later(300))).toBe(false);
    expect(hasRights(sessionAfter(), later(300))).toBe(false);
    after(deferred('d1'))
      .when((state) => deleteOffer(state, later(DAY)))
      .then([{ type: 'PreAuthorizedOfferDeleted', data: { sessionId: 's1', deletedAt: at(DAY) } }]);
    after(deferred('d1'))
      .when((state) => deleteOffer(state, later(30 * DAY)))
      .thenThrows('NotFound');
  });

  it('lets its answer be notified until it would have ended [T397]', () => {
    const session = sessionAfter(deferred('d1'), approved('d1'), completed('d1'), deferred('d2'));
    expect(isOfDeferral(session, 'answer-d1', later(DAY))).toBe(true);
    expect(isOfDeferral(session, 'answer-d1', later(30 * DAY))).toBe(false);
    expect(isOfDeferral(session, 'answer-d2', now)).toBe(false);
  });
});
