import type { AppError } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import type { Grant, IssuanceSessionEvent } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, type IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { exchangeCode, outcomeOf, type ExchangeFacts } from './exchange-token.decisions.js';
import type { AuthorizationCodeRequest, PreAuthorizedCodeRequest } from './parse-token-request.js';

const now = new Date('2026-05-01T10:00:00.000Z');
const at = now.toISOString();
const grant = (kind: Grant['kind'], expiresAt = '2026-05-01T10:05:00.000Z'): Grant => ({
  ...{ tokenId: `${kind}-id`, kind, mac: 'mac', keyId: 'p1', expiresAt },
});
const facts = (matched: Partial<ExchangeFacts['matched']> = {}): ExchangeFacts => ({
  now,
  matched: { code: true, transactionCode: true, verifier: true, ...matched },
  accessToken: grant('access'),
  identifiers: ['i1', 'i2'],
});

const session = {
  sessionId: 's1',
  issuer: 'https://acme.example',
  binding: 'none' as const,
  userId: 'u1',
  entries: [
    { credentialConfigurationId: 'c1', scope: 'jwt_vc_json:A' },
    { credentialConfigurationId: 'c2', scope: 'ldp_vc:B' },
  ],
};
const created = (origin: object = {}, code = grant('preAuthorizedCode')): IssuanceSessionEvent => ({
  type: 'PreAuthorizedOfferCreated',
  data: { ...session, origin: { kind: 'preAuthorizedOffer', sealedDocument: '', ...origin }, code, createdAt: at },
});
const transactionCode = { inputMode: 'numeric', length: 6, mac: 'mac', keyId: 'p1' };
const granted = (origin: object = {}, code = grant('authorizationCode')): IssuanceSessionEvent => ({
  type: 'AuthorizationGranted',
  data: {
    ...session,
    origin: {
      ...{ kind: 'authorizationRequest', clientId: 'wallet', redirectUri: 'https://wallet.example/back' },
      ...{ codeChallenge: 'challenge', providerId: 'p1', ...origin },
    },
    code,
    grantedAt: at,
  },
});
const redeemed = (
  type: 'PreAuthorizedCodeRedeemed' | 'AuthorizationCodeRedeemed',
  more: object = {},
): IssuanceSessionEvent => ({
  type,
  data: {
    ...{
      sessionId: 's1',
      tokenId: type === 'PreAuthorizedCodeRedeemed' ? 'preAuthorizedCode-id' : 'authorizationCode-id',
    },
    ...{ accessToken: grant('access'), scope: 'jwt_vc_json:A ldp_vc:B', redeemedAt: at, ...more },
  },
});
const bound: IssuanceSessionEvent = {
  type: 'ClaimSetsBound',
  data: {
    sessionId: 's1',
    identifiers: [
      { credentialConfigurationId: 'c1', credentialIdentifiers: ['bachelor', 'master'] },
      { credentialConfigurationId: 'c2', credentialIdentifiers: ['generated'] },
    ],
  },
};
const refused: IssuanceSessionEvent = { type: 'TransactionCodeRefused', data: { refusedAt: at } };
const locked: IssuanceSessionEvent = { type: 'SessionLocked', data: { sessionId: 's1', lockedAt: at } };
const replayed: IssuanceSessionEvent = {
  type: 'AuthorizationCodeReplayed',
  data: { sessionId: 's1', replayedAt: at },
};

const offerCode: PreAuthorizedCodeRequest = { grant: 'preAuthorizedCode', code: 'code' };
const authorizationCode: AuthorizationCodeRequest = {
  ...{ grant: 'authorizationCode', code: 'code', clientId: 'wallet' },
  ...{ redirectUri: 'https://wallet.example/back', codeVerifier: 'verifier' },
};
const details = (...ids: string[]) => ({
  authorizationDetails: ids.map((credentialConfigurationId) => ({ credentialConfigurationId })),
});
const after = (...events: IssuanceSessionEvent[]) =>
  given<IssuanceSessionState, IssuanceSessionEvent>(issuanceSession, events);

describe('a session that binds claim sets', () => {
  const granting = [
    ['offer', created(), offerCode, 'PreAuthorizedCodeRedeemed'],
    ['sign-in', granted(), authorizationCode, 'AuthorizationCodeRedeemed'],
    ['sign-in with details', granted({ detailed: ['c1'] }), authorizationCode, 'AuthorizationCodeRedeemed'],
  ] as const;

  it.each(granting)('returns its own identifiers: %s', (_, first, request, type) =>
    after(first, bound)
      .when((state) => exchangeCode(state, request, facts()))
      .then([redeemed(type, { authorizationDetails: bound.data.identifiers })]),
  );

  it.each(granting)('refuses authorization_details [T80]: %s', (_, first, request) =>
    after(first, bound)
      .when((state) => exchangeCode(state, { ...request, ...details('c1') }, facts()))
      .thenThrows('invalid_authorization_details'),
  );
});

it('says why authorization_details are refused', () => {
  const state = stateAfter(issuanceSession, [created(), bound]);
  expect(() => exchangeCode(state, { ...offerCode, ...details('c1') }, facts())).toThrow(
    'authorization_details must not be sent: the issuer chose the credentials of the offer',
  );
});

describe('a pre-authorized code', () => {
  it('is exchanged for an access token for all offered credentials', () =>
    after(created())
      .when((state) => exchangeCode(state, offerCode, facts()))
      .then([redeemed('PreAuthorizedCodeRedeemed')]));

  it('is exchanged for one for the requested details, each with a separate identifier', () =>
    after(created())
      .when((state) => exchangeCode(state, { ...offerCode, ...details('c2', 'c1') }, facts()))
      .then([
        redeemed('PreAuthorizedCodeRedeemed', {
          authorizationDetails: [
            { credentialConfigurationId: 'c2', credentialIdentifiers: ['i1'] },
            { credentialConfigurationId: 'c1', credentialIdentifiers: ['i2'] },
          ],
        }),
      ]));

  it('with a wrong transaction code is counted, and the third locks the offer', () => {
    const wrong = { ...offerCode, transactionCode: '000000' };
    const decide = (state: IssuanceSessionState) => exchangeCode(state, wrong, facts({ transactionCode: false }));
    after(created({ transactionCode })).when(decide).then([refused]);
    after(created({ transactionCode }), refused, refused).when(decide).then([refused, locked]);
  });

  it('with a transaction code that is missing or not expected changes nothing', () => {
    after(created({ transactionCode }))
      .when((state) => exchangeCode(state, offerCode, facts()))
      .thenThrows('invalid_request');
    after(created())
      .when((state) => exchangeCode(state, { ...offerCode, transactionCode: '1' }, facts()))
      .thenThrows('invalid_request');
  });

  it.each<[string, IssuanceSessionEvent[], ExchangeFacts]>([
    ['of another secret', [created()], facts({ code: false })],
    ['that expired', [created({}, grant('preAuthorizedCode', at))], facts()],
    ['that was redeemed', [created(), redeemed('PreAuthorizedCodeRedeemed')], facts()],
    ['of a locked offer', [created(), refused, locked], facts()],
    ['of a session that began with an authorization request', [granted()], facts()],
  ])('%s is refused', (_what, events, given) =>
    after(...events)
      .when((state) => exchangeCode(state, offerCode, given))
      .thenThrows('invalid_grant'),
  );
});

describe('an authorization code', () => {
  it('is exchanged for an access token for all requested credentials', () =>
    after(granted())
      .when((state) => exchangeCode(state, authorizationCode, facts()))
      .then([redeemed('AuthorizationCodeRedeemed')]));

  it('is exchanged for one for the details of the authorization request', () =>
    after(granted({ detailed: ['c2'] }))
      .when((state) => exchangeCode(state, authorizationCode, facts()))
      .then([
        redeemed('AuthorizationCodeRedeemed', {
          scope: 'ldp_vc:B',
          authorizationDetails: [{ credentialConfigurationId: 'c2', credentialIdentifiers: ['i1'] }],
        }),
      ]));

  it('that is used again with its verifier ends the session, by any client and at any time', () => {
    const spent = after(granted(), redeemed('AuthorizationCodeRedeemed'));
    spent.when((state) => exchangeCode(state, authorizationCode, facts())).then([replayed]);
    const late = { ...facts(), now: new Date('2026-05-02T10:00:00.000Z') };
    spent
      .when((state) => exchangeCode(state, { ...authorizationCode, clientId: 'other' }, late))
      .thenState({ status: 'revoked', id: 's1' });
    for (const wrong of [{ code: false }, { verifier: false }])
      spent.when((state) => exchangeCode(state, authorizationCode, facts(wrong))).thenThrows('invalid_grant');
  });

  it.each<[string, IssuanceSessionEvent[], Partial<AuthorizationCodeRequest>, ExchangeFacts]>([
    ['of another secret', [granted()], {}, facts({ code: false })],
    ['that expired', [granted({}, grant('authorizationCode', at))], {}, facts()],
    ['of another client', [granted()], { clientId: 'other' }, facts()],
    ['for another redirect URI', [granted()], { redirectUri: 'https://wallet.example/' }, facts()],
    ['with another verifier', [granted()], {}, facts({ verifier: false })],
    ['after the session was revoked', [granted(), redeemed('AuthorizationCodeRedeemed'), replayed], {}, facts()],
    ['of an offer', [created()], {}, facts()],
  ])('%s is refused', (_what, events, more, given) =>
    after(...events)
      .when((state) => exchangeCode(state, { ...authorizationCode, ...more }, given))
      .thenThrows('invalid_grant'),
  );
});

describe('the checks', () => {
  const refusal = (event: IssuanceSessionEvent, request: Parameters<typeof exchangeCode>[1], given = facts()) => {
    try {
      return exchangeCode(issuanceSession.evolve(issuanceSession.initial, event), request, given);
    } catch (error) {
      return (error as AppError).check;
    }
  };

  it('run in order: the code, the transaction code, the details', () => {
    const wrong = { ...offerCode, ...details('c3') };
    expect(refusal(created({ transactionCode }), wrong, facts({ code: false }))).toBe('check-code');
    expect(refusal(created({ transactionCode }), wrong)).toBe('check-transaction-code');
    expect(refusal(created(), wrong)).toBe('check-authorization-details');
  });

  it('count a wrong transaction code before they read the details', () => {
    const wrong = { ...offerCode, transactionCode: '1', ...details('c3') };
    expect(refusal(created({ transactionCode }), wrong, facts({ transactionCode: false }))).toEqual([refused]);
  });

  it('run in order: the authorization code with its parameters, the details', () => {
    const wrong = { ...authorizationCode, ...details('c1', 'c1') };
    expect(refusal(granted(), wrong, facts({ verifier: false }))).toBe('check-authorization-code');
    expect(refusal(granted(), wrong)).toBe('check-authorization-details');
  });
});

describe('the outcome', () => {
  it('of a redemption is the content of the token', () =>
    expect(outcomeOf([redeemed('PreAuthorizedCodeRedeemed')])).toMatchObject({ scope: 'jwt_vc_json:A ldp_vc:B' }));

  it.each([
    ['a wrong transaction code', [refused], 'check-transaction-code'],
    ['the last wrong transaction code', [refused, locked], 'check-transaction-code'],
    ['a code that comes again', [replayed], 'check-authorization-code'],
  ])('of %s is a refusal', (_what, events, check) =>
    expect(outcomeOf(events)).toMatchObject({ code: 'invalid_grant', check }),
  );
});

describe('the response to the wallet', () => {
  it('is what an authorization code was redeemed for', () =>
    expect(outcomeOf([redeemed('AuthorizationCodeRedeemed')])).toMatchObject({ scope: 'jwt_vc_json:A ldp_vc:B' }));

  it.each([
    ['a wrong transaction code', [refused], 'tx_code is wrong'],
    ['a code that was used before', [replayed], 'the code has already been used'],
    ['no event', [], 'tx_code is wrong'],
  ])('is a refusal that names the reason, for %s', (_what, events: IssuanceSessionEvent[], message) =>
    expect(outcomeOf(events)).toMatchObject({ code: 'invalid_grant', message }),
  );
});
