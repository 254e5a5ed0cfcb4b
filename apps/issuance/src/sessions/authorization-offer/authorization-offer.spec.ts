import { given, stateAfter } from '@attestry/event-store';
import {
  createAuthorizationOffer,
  currentOffer,
  deleteAuthorizationOffer,
  entriesOfOffer,
} from './authorization-offer.decisions.js';
import type { AuthorizationOfferEvent } from './authorization-offer.events.js';
import { authorizationOffer, type AuthorizationOfferState, type OpenOffer } from './authorization-offer.state.js';

const now = new Date('2026-05-01T10:00:00.000Z');
const end = new Date('2026-05-31T10:00:00.000Z');
const offer = {
  offerId: 'o1',
  configurationIds: ['c1', 'c2'],
  userId: 'u1',
  issuerState: { tokenId: 't1', kind: 'issuerState' as const, mac: 'mac', keyId: 'p1', expiresAt: end.toISOString() },
};
const created: AuthorizationOfferEvent = {
  type: 'AuthorizationOfferCreated',
  data: { ...offer, createdAt: now.toISOString() },
};
const deleted: AuthorizationOfferEvent = {
  type: 'AuthorizationOfferDeleted',
  data: { offerId: 'o1', deletedAt: now.toISOString() },
};
const after = (...events: AuthorizationOfferEvent[]) =>
  given<AuthorizationOfferState, AuthorizationOfferEvent>(authorizationOffer, events);

describe('a stored offer', () => {
  it('is created once', () => {
    after()
      .when((state) => createAuthorizationOffer(state, offer, now))
      .then([created]);
    after(created)
      .when((state) => createAuthorizationOffer(state, offer, now))
      .thenThrows('Conflict');
  });

  it('is deleted once, and not after its end [T278]', () => {
    after(created)
      .when((state) => deleteAuthorizationOffer(state, new Date(end.getTime() - 1)))
      .then([{ ...deleted, data: { offerId: 'o1', deletedAt: '2026-05-31T09:59:59.999Z' } }]);
    for (const [events, at] of [
      [[], now],
      [[created, deleted], now],
      [[created], end],
    ] as const)
      after(...events)
        .when((state) => deleteAuthorizationOffer(state, at))
        .thenThrows('NotFound');
  });

  it('is current until its end', () => {
    const state = stateAfter(authorizationOffer, [created]);
    expect(currentOffer(state, new Date(end.getTime() - 1))).toBe(state);
    expect(currentOffer(state, end)).toBeUndefined();
    expect(currentOffer(stateAfter(authorizationOffer, [created, deleted]), now)).toBeUndefined();
  });
});

describe('an authorization request that names an offer', () => {
  const open = stateAfter(authorizationOffer, [created]) as OpenOffer;
  const entry = (id: string) => ({ credentialConfigurationId: id, scope: `jwt_vc_json:${id}` });

  it('covers the part of its scope that was offered [T275]', () => {
    expect(entriesOfOffer(open, { entries: [entry('c1'), entry('c3')] })).toEqual({
      entries: [entry('c1')],
      offerId: 'o1',
    });
    expect(() => entriesOfOffer(open, { entries: [entry('c3')] })).toThrow(
      expect.objectContaining({
        code: 'invalid_scope',
        message: 'scope must name a credential configuration of the offer that issuer_state names',
      }),
    );
  });

  it('has no details of other configurations [T275]', () => {
    const details = (...ids: string[]) => ids.map((credentialConfigurationId) => ({ credentialConfigurationId }));
    const requested = { entries: [entry('c2'), entry('c3')], detailed: ['c2', 'c3'] };
    expect(entriesOfOffer(open, requested, details('c2'))).toEqual({
      entries: [entry('c2')],
      detailed: ['c2'],
      offerId: 'o1',
    });
    expect(() => entriesOfOffer(open, requested, details('c2', 'c3'))).toThrow(
      expect.objectContaining({
        code: 'invalid_authorization_details',
        message: 'credential_configuration_id must be a credential configuration of the offer that issuer_state names',
      }),
    );
  });
});
