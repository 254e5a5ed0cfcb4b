import { given, stateAfter } from '@attestry/event-store';
import {
  createOffer,
  deleteOffer,
  grantAuthorization,
  redeemAuthorizationCode,
  redeemCode,
  refuseTransactionCode,
  replayAuthorizationCode,
  revokeTokens,
  scopeOf,
  type AuthorizedSession,
  type NewAuthorization,
  type NewOffer,
  type OfferedSession,
} from './issuance-session.decisions.js';
import type { CredentialIssuedData, Grant, IssuanceSessionEvent } from './issuance-session.events.js';
import { issuanceSession, type IssuanceSessionState, type RedeemedSession } from './issuance-session.state.js';

const now = new Date('2026-05-01T10:00:00.000Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const grant = (kind: Grant['kind'], seconds: number): Grant => ({
  tokenId: `${kind}-id`,
  kind,
  mac: 'mac',
  keyId: 'p1',
  expiresAt: later(seconds).toISOString(),
});

const offer: NewOffer = {
  sessionId: 's1',
  origin: { kind: 'preAuthorizedOffer', sealedDocument: 'sealed' },
  issuer: 'https://acme.example',
  userId: 'u1',
  entries: [
    { credentialConfigurationId: 'c1', scope: 'jwt_vc_json:A' },
    { credentialConfigurationId: 'c2', scope: 'ldp_vc:A' },
  ],
  code: grant('preAuthorizedCode', 300),
};
const created: IssuanceSessionEvent = {
  type: 'PreAuthorizedOfferCreated',
  data: { ...offer, binding: 'none', createdAt: now.toISOString() },
};
const refused: IssuanceSessionEvent = { type: 'TransactionCodeRefused', data: { refusedAt: now.toISOString() } };
const locked: IssuanceSessionEvent = { type: 'SessionLocked', data: { sessionId: 's1', lockedAt: now.toISOString() } };
const redemption = {
  sessionId: 's1',
  tokenId: 'preAuthorizedCode-id',
  accessToken: grant('access', 300),
  scope: 'jwt_vc_json:A ldp_vc:A',
  redeemedAt: now.toISOString(),
};
const redeemed: IssuanceSessionEvent = { type: 'PreAuthorizedCodeRedeemed', data: redemption };
const issuedData = { credentialId: 'x', credentialConfigurationId: 'c1' } as CredentialIssuedData;
const issued: IssuanceSessionEvent = { type: 'CredentialIssued', data: issuedData };
const deleted: IssuanceSessionEvent = {
  type: 'PreAuthorizedOfferDeleted',
  data: { sessionId: 's1', deletedAt: now.toISOString() },
};

const after = (events: IssuanceSessionEvent[]) =>
  given<IssuanceSessionState, IssuanceSessionEvent>(issuanceSession, events);
const offered = (state: IssuanceSessionState) => state as OfferedSession;

describe('an issuance session', () => {
  it('starts with an offer, once', () => {
    after([])
      .when((state) => createOffer(state, offer, now))
      .then([created]);
    after([created])
      .when((state) => createOffer(state, offer, now))
      .thenThrows('Conflict');
  });

  it('keeps the identifiers of claim sets that it was started with, in every state', () => {
    const identifiers = [{ credentialConfigurationId: 'c1', credentialIdentifiers: ['one', 'two'] }];
    const bound: IssuanceSessionEvent = { type: 'ClaimSetsBound', data: { sessionId: 's1', identifiers } };
    after([])
      .when((state) => createOffer(state, { ...offer, identifiers }, now))
      .then([created, bound]);
    expect(stateAfter(issuanceSession, [created, bound])).toMatchObject({ status: 'offered', identifiers });
    expect(stateAfter(issuanceSession, [created, bound, redeemed])).toMatchObject({ status: 'redeemed', identifiers });
    after([deleted, bound]).thenState({ status: 'deleted', id: 's1' });
  });

  it('keeps the issuer it was started with', () =>
    after([created, redeemed])
      .when(() => [])
      .thenState({
        status: 'redeemed',
        id: 's1',
        origin: offer.origin,
        issuer: 'https://acme.example',
        binding: 'none',
        userId: 'u1',
        entries: offer.entries,
        accessToken: grant('access', 300),
        issued: {},
      }));

  it('counts wrong transaction codes and locks at the third', () => {
    after([created])
      .when((state) => refuseTransactionCode(offered(state), now))
      .then([refused]);
    after([created, refused, refused])
      .when((state) => refuseTransactionCode(offered(state), now))
      .then([refused, locked]);
    after([created, refused, refused, refused, locked]).thenState({ status: 'locked', id: 's1' });
  });

  it('remains locked', () => after([created, locked, redeemed, issued]).thenState({ status: 'locked', id: 's1' }));

  it('redeems the code for all its credentials', () =>
    after([created])
      .when((state) => redeemCode(offered(state), { accessToken: grant('access', 300) }, now))
      .then([redeemed]));

  it('redeems the code for the requested details', () => {
    const authorizationDetails = [{ credentialConfigurationId: 'c2', credentialIdentifiers: ['i1'] }];
    after([created])
      .when((state) => redeemCode(offered(state), { accessToken: grant('access', 300), authorizationDetails }, now))
      .then([
        {
          type: 'PreAuthorizedCodeRedeemed',
          data: { ...redemption, scope: 'ldp_vc:A', authorizationDetails },
        },
      ]);
  });

  describe('of an authorization request', () => {
    it('binds claim sets with the grant', () => {
      const identifiers = [{ credentialConfigurationId: 'c1', credentialIdentifiers: ['one'] }];
      after([])
        .when((state) => grantAuthorization(state, { ...authorization, identifiers }, now))
        .then([granted, { type: 'ClaimSetsBound', data: { sessionId: 's1', identifiers } }]);
    });

    const authorization: NewAuthorization = {
      ...offer,
      origin: {
        kind: 'authorizationRequest',
        clientId: 'wallet',
        redirectUri: 'https://wallet.example/back',
        codeChallenge: 'challenge',
        providerId: 'p1',
      },
      code: grant('authorizationCode', 60),
    };
    const granted: IssuanceSessionEvent = {
      type: 'AuthorizationGranted',
      data: { ...authorization, binding: 'none', grantedAt: now.toISOString() },
    };
    const exchanged: IssuanceSessionEvent = {
      type: 'AuthorizationCodeRedeemed',
      data: { ...redemption, tokenId: 'authorizationCode-id' },
    };
    const replayed: IssuanceSessionEvent = {
      type: 'AuthorizationCodeReplayed',
      data: { sessionId: 's1', replayedAt: now.toISOString() },
    };
    const authorized = (state: IssuanceSessionState) => state as AuthorizedSession;

    it('starts when a person has signed in, once', () => {
      after([])
        .when((state) => grantAuthorization(state, authorization, now))
        .then([granted]);
      after([granted])
        .when((state) => grantAuthorization(state, authorization, now))
        .thenThrows('Conflict');
    });

    it('spends its code for a token, and stores which code it was', () => {
      after([granted])
        .when((state) => redeemAuthorizationCode(authorized(state), { accessToken: grant('access', 300) }, now))
        .then([exchanged]);
      expect([granted, exchanged].reduce(issuanceSession.evolve, issuanceSession.initial)).toMatchObject({
        ...{ status: 'redeemed', spentCode: authorization.code, issued: {} },
        accessToken: grant('access', 300),
      });
    });

    it('ends with its tokens when the code is used again', () => {
      const events = [granted, exchanged, issued];
      after(events)
        .when((state) => replayAuthorizationCode(state as RedeemedSession, now))
        .then([replayed]);
      after(events)
        .when((state) => replayAuthorizationCode(state as RedeemedSession, now))
        .thenState({ status: 'revoked', id: 's1' });
    });

    it('ends with its tokens when one of them is revoked, once [T361]', () => {
      const revoked: IssuanceSessionEvent = {
        type: 'TokensRevoked',
        data: { sessionId: 's1', revokedAt: now.toISOString() },
      };
      after([granted, exchanged, issued])
        .when((state) => revokeTokens(state, now))
        .then([revoked]);
      for (const events of [[], [granted], [granted, exchanged, revoked], [granted, exchanged, replayed]])
        after(events)
          .when((state) => revokeTokens(state, now))
          .then([]);
      expect(stateAfter(issuanceSession, [granted, exchanged, revoked, issued])).toEqual({
        status: 'revoked',
        id: 's1',
      });
    });

    it('names the family of its refresh token [T350]', () => {
      const tokenFamily = { id: 'f1', expiresAt: later(1000).toISOString() };
      const redemption = { accessToken: grant('access', 300), tokenFamily };
      const session = stateAfter(issuanceSession, [granted]) as AuthorizedSession;
      expect(
        stateAfter(issuanceSession, [granted, ...redeemAuthorizationCode(session, redemption, now)]),
      ).toMatchObject({
        ...{ status: 'redeemed', tokenFamily },
      });
    });

    it('cannot be deleted as an offer', () => {
      for (const events of [[granted], [granted, exchanged]])
        after(events)
          .when((state) => deleteOffer(state, now))
          .thenThrows('NotFound');
    });
  });

  it('names each scope once', () =>
    expect(scopeOf([...offer.entries, { credentialConfigurationId: 'c3', scope: 'ldp_vc:A' }])).toBe(
      'jwt_vc_json:A ldp_vc:A',
    ));

  it('counts issued credentials by configuration', () => {
    const state = [created, redeemed, issued, issued].reduce(issuanceSession.evolve, issuanceSession.initial);
    expect(state).toMatchObject({ issued: { c1: 2 } });
  });

  it('knows the user who begins with it', () => {
    const begins: IssuanceSessionEvent = {
      type: 'PreAuthorizedOfferCreated',
      data: { ...created.data, newUser: true } as never,
    };
    expect(stateAfter(issuanceSession, [begins, redeemed])).toMatchObject({ status: 'redeemed', newUser: true });
    after([])
      .when((state) => createOffer(state, { ...offer, newUser: true }, now))
      .then([begins]);
    expect(stateAfter(issuanceSession, [created, redeemed])).not.toHaveProperty('newUser');
  });

  it.each<[string, IssuanceSessionEvent[], Date, boolean]>([
    ['an open offer', [created], later(299), true],
    ['a redeemed one that nobody claimed', [created, redeemed], later(299), true],
    ['an expired offer', [created], later(300), false],
    ['a redeemed one whose token has expired', [created, redeemed], later(300), false],
    ['a claimed one', [created, redeemed, issued], now, false],
    ['a locked one', [created, locked], now, false],
    ['a deleted one', [created, deleted], now, false],
    ['none', [], now, false],
  ])('deletes: %s', (_, events, at, possible) => {
    const outcome = after(events).when((state) => deleteOffer(state, at));
    if (possible)
      outcome.then([{ type: 'PreAuthorizedOfferDeleted', data: { sessionId: 's1', deletedAt: at.toISOString() } }]);
    else outcome.thenThrows('NotFound');
  });
});

describe('refusals of an issuance session', () => {
  it('say what exists already', () => {
    const state = stateAfter(issuanceSession, [created]);
    expect(() => createOffer(state, offer, now)).toThrow('The offer exists already');
    expect(() => grantAuthorization(state, offer as unknown as NewAuthorization, now)).toThrow(
      'The session exists already',
    );
  });
});

describe('a redeemed offer', () => {
  it('can be deleted while its current access token is valid', () => {
    const state = stateAfter(issuanceSession, [created, redeemed]) as RedeemedSession;
    const accessToken = grant('access', 600);
    expect(deleteOffer({ ...state, accessToken }, later(599))).toHaveLength(1);
    expect(() => deleteOffer({ ...state, accessToken }, later(600))).toThrow(
      expect.objectContaining({ kind: 'notFound' }),
    );
  });

  it('keeps the token of its code, whatever follows in its stream', () =>
    after([created, redeemed, { type: 'PreAuthorizedCodeRedeemed', data: { ...redemption, tokenId: 'x' } }, issued])
      .when(() => [])
      .thenState({ ...stateAfter(issuanceSession, [created, redeemed]), issued: { c1: 1 } } as RedeemedSession));
});
