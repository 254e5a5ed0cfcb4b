import { createHash } from 'node:crypto';
import { HolderTokenRequest, type AppError, type RawRequest } from '@attestry/contracts';
import type { SecretMac } from '@attestry/keys';
import type { AuthorizedSession, OfferedSession } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { AuthorizationRequestOrigin, Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { parseAuthorizationDetails } from '../../sessions/authorization-details/authorization-details.js';
import { makeBearerValue, parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { checkAuthorizationCode } from './check-authorization-code.js';
import { checkAuthorizationDetails } from './check-authorization-details.js';
import { checkCode } from './check-code.js';
import { checkContentType } from '../../reading/raw-request/check-content-type.js';
import { checkNoDuplicates } from '../../reading/raw-request/check-no-duplicates.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkTransactionCode } from './check-transaction-code.js';
import { matchSecrets } from './match-secrets.js';
import {
  parseTokenRequest,
  type AuthorizationCodeRequest,
  type PreAuthorizedCodeRequest,
} from './parse-token-request.js';

const HOSTILE = [undefined, '', 1, true, null, 'foo', []];
const GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

const raw = (headers: Record<string, string>, url = '/v1/oauth/token'): RawRequest => ({
  method: 'POST',
  url,
  headers,
  text: '',
});

/** Code and check of the refusal, or the result. */
const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, check } = error as AppError;
    return [code, check];
  }
};

describe('check-content-type', () => {
  it.each(['application/x-www-form-urlencoded', 'APPLICATION/x-www-form-urlencoded; charset=UTF-8'])(
    'accepts %s',
    (type) => expect(outcome(() => checkContentType(raw({ 'content-type': type })))).toBeUndefined(),
  );
  it.each(['', 'application/json', 'multipart/form-data', 'application/x-www-form-urlencoded+x', 'foo'])(
    'refuses %j',
    (type) =>
      expect(outcome(() => checkContentType(raw({ 'content-type': type })))).toEqual([
        'invalid_request',
        'check-content-type',
      ]),
  );
  it('refuses a missing content type', () =>
    expect(outcome(() => checkContentType(raw({})))).toEqual(['invalid_request', 'check-content-type']));
});

describe('check-parameters-location', () => {
  it.each(['access_token=x', 'pre-authorized_code=x', 'a=b&tx_code=1', 'grant_type', 'pre%2Dauthorized_code=x'])(
    'refuses ?%s',
    (query) =>
      expect(outcome(() => checkParametersLocation(raw({}, `/v1/oauth/token?${query}`)))).toEqual([
        'invalid_request',
        'check-parameters-location',
      ]),
  );
  it('accepts other queries', () =>
    expect(outcome(() => checkParametersLocation(raw({}, '/v1/oauth/token?trace=1')))).toBeUndefined());
});

describe('check-no-duplicates', () => {
  it.each([
    ['a=1&b=2', undefined],
    ['', undefined],
    ['a=1&a=1', ['invalid_request', 'check-no-duplicates']],
    ['tx_code=1&tx%5Fcode=', ['invalid_request', 'check-no-duplicates']],
  ])('%j', (form, expected) => expect(outcome(() => checkNoDuplicates(new URLSearchParams(form)))).toEqual(expected));
});

describe('parse-token-request', () => {
  const parse = (form: Record<string, string>) => outcome(() => parseTokenRequest(new URLSearchParams(form)));

  it('reads the known parameters and ignores the others', () =>
    expect(parse({ grant_type: GRANT, 'pre-authorized_code': 'c', tx_code: '1', client_id: 'x', other: 'y' })).toEqual({
      grant: 'preAuthorizedCode',
      code: 'c',
      transactionCode: '1',
      clientId: 'x',
    }));

  it('reads an authorization code with its parameters', () => {
    const form = { grant_type: 'authorization_code', code: 'c', client_id: 'w', redirect_uri: 'r', code_verifier: 'v' };
    const read = { grant: 'authorizationCode', code: 'c', clientId: 'w', redirectUri: 'r', codeVerifier: 'v' };
    expect(parse({ ...form, tx_code: '1', other: 'y' })).toEqual(read);
    for (const name of ['code', 'client_id', 'redirect_uri'])
      expect(parse({ ...form, [name]: '' })).toEqual(['invalid_request', 'parse-token-request']);
    expect(parse({ ...form, code_verifier: '' })).toEqual(['invalid_grant', 'parse-token-request']);
  });

  it('treats a parameter without a value as absent', () =>
    expect(parse({ grant_type: GRANT, 'pre-authorized_code': 'c', tx_code: '', authorization_details: '' })).toEqual({
      grant: 'preAuthorizedCode',
      code: 'c',
    }));

  it.each<[Record<string, string>, string[]]>([
    [{}, ['invalid_request', 'check-grant-type']],
    [{ grant_type: '' }, ['invalid_request', 'check-grant-type']],
    [{ grant_type: 'authorization_code', code: 'x' }, ['invalid_request', 'parse-token-request']],
    [{ grant_type: 'refresh_token' }, ['invalid_request', 'parse-token-request']],
    [{ grant_type: 'foo' }, ['unsupported_grant_type', 'check-grant-type']],
    [{ grant_type: GRANT }, ['invalid_request', 'parse-token-request']],
    [{ grant_type: GRANT, 'pre-authorized_code': '' }, ['invalid_request', 'parse-token-request']],
  ])('refuses %j', (form, expected) => expect(parse(form)).toEqual(expected));
});

describe('check-lengths', () => {
  const maxLengths = maxLengthsOf(HolderTokenRequest);
  const check = (parameters: [string, string][]) =>
    outcome(() => checkLengths(maxLengths, new URLSearchParams(parameters)));

  it('has a maximum for every declared parameter', () =>
    expect([...maxLengths].sort()).toEqual([
      ['authorization_details', 16_384],
      ['client_id', 1024],
      ['code', 1024],
      ['code_verifier', 128],
      ['pre-authorized_code', 1024],
      ['redirect_uri', 2048],
      ['refresh_token', 1024],
      ['resource', 2048],
      ['scope', 8192],
      ['tx_code', 64],
    ]));

  it.each([...maxLengths])('accepts %s with at most %i characters', (name, most) => {
    expect(check([[name, 'x'.repeat(most)]])).toBeUndefined();
    expect(check([[name, 'x'.repeat(most + 1)]])).toEqual(['invalid_request', 'check-lengths']);
  });

  it('accepts a hundred parameters and no more', () => {
    const parameters = Array.from({ length: 100 }, (_, at): [string, string] => [`p${at}`, '']);
    expect(check(parameters)).toBeUndefined();
    expect(check([...parameters, ['one', 'more']])).toEqual(['invalid_request', 'check-lengths']);
  });
});

describe('authorization-details', () => {
  const refused = ['invalid_authorization_details', 'authorization-details'];
  const detail = (more: Record<string, unknown>) =>
    outcome(() =>
      parseAuthorizationDetails(
        JSON.stringify([{ type: 'openid_credential', credential_configuration_id: 'c1', ...more }]),
      ),
    );

  it('reads the configurations', () => {
    expect(detail({})).toEqual([{ credentialConfigurationId: 'c1' }]);
    expect(detail({ claims: [{ path: ['x'] }], locations: ['https://x'] })).toEqual([
      { credentialConfigurationId: 'c1', locations: ['https://x'] },
    ]);
    expect(detail({ locations: [] })).toEqual([{ credentialConfigurationId: 'c1' }]);
  });
  it.each(['{', 'foo', '[]', '{}', '1', 'null', 'true', '""', '[1]', '[null]', '[[]]', '["x"]'])('refuses %s', (text) =>
    expect(outcome(() => parseAuthorizationDetails(text))).toEqual(refused),
  );
  it.each(HOSTILE)('refuses type %j', (type) => expect(detail({ type })).toEqual(refused));
  it.each(HOSTILE.filter((value) => value !== 'foo'))('refuses credential_configuration_id %j', (id) =>
    expect(detail({ credential_configuration_id: id })).toEqual(refused),
  );
  it.each(['', 1, true, null, 'foo', {}])('refuses claims %j', (claims) => expect(detail({ claims })).toEqual(refused));
  it('refuses unknown members', () => expect(detail({ format: 'jwt_vc_json' })).toEqual(refused));
});

// --- checks on a session

const now = new Date('2026-05-01T10:00:00Z');
const SESSION = '11111111-1111-4111-8111-111111111111';
/** Replaces the port: a MAC is its secret and context, separated by a bar. */
const macs = {
  mac: (secret: string, context?: string): SecretMac => ({ pepper: 'p1', mac: `${secret}|${context}` }),
  verifyMac: (secret: string, expected: SecretMac, context?: string) => expected.mac === `${secret}|${context}`,
};
const code = makeBearerValue(SESSION, '22222222-2222-4222-8222-222222222222');
const offered = (more: Partial<OfferedSession> = {}): OfferedSession => ({
  status: 'offered',
  id: SESSION,
  origin: { kind: 'preAuthorizedOffer', sealedDocument: '' },
  issuer: 'https://acme.example',
  binding: 'none',
  userId: 'u1',
  entries: [{ credentialConfigurationId: 'c1', scope: 'jwt_vc_json:A' }],
  code: {
    tokenId: code.tokenId,
    kind: 'preAuthorizedCode',
    mac: `${code.value}|preAuthorizedCode:t1+${SESSION}`,
    keyId: 'p1',
    expiresAt: '2026-05-01T10:05:00.000Z',
  },
  wrongCodes: 0,
  ...more,
});

describe('check-code', () => {
  const check = (state: IssuanceSessionState, at = now, value = code.value, tenant = 't1') =>
    outcome(() => {
      const request = { grant: 'preAuthorizedCode', code: value } as const;
      return checkCode(state, matchSecrets(state, request, tenant, macs), at);
    });
  const refused = ['invalid_grant', 'check-code'];

  it('accepts the code of an open offer', () => expect(check(offered())).toEqual(offered()));
  it('refuses another secret, another tenant, an expired one', () => {
    expect(check(offered(), now, makeBearerValue(SESSION, code.tokenId).value)).toEqual(refused);
    expect(check(offered(), now, code.value, 't2')).toEqual(refused);
    expect(check(offered(), new Date('2026-05-01T10:05:00.000Z'))).toEqual(refused);
  });
  it.each<IssuanceSessionState>([
    { status: 'absent' },
    { status: 'locked', id: SESSION },
    { status: 'deleted', id: SESSION },
    (({ code: _, wrongCodes: __, ...facts }) => ({
      ...facts,
      status: 'redeemed' as const,
      accessToken: offered().code,
      issued: {},
    }))(offered()),
  ])('refuses $status', (state) => expect(check(state)).toEqual(refused));
});

describe('check-authorization-code', () => {
  const verifier = 'a-verifier-of-the-wallet-with-43-characters';
  const request: AuthorizationCodeRequest = {
    grant: 'authorizationCode',
    code: code.value,
    clientId: 'wallet',
    redirectUri: 'https://wallet.example/back',
    codeVerifier: verifier,
  };
  const { wrongCodes: _, status: __, code: ___, origin: ____, ...facts } = offered();
  const grant: Grant = {
    ...offered().code,
    kind: 'authorizationCode',
    mac: `${code.value}|authorizationCode:t1+${SESSION}`,
  };
  const origin: AuthorizationRequestOrigin = {
    kind: 'authorizationRequest',
    clientId: 'wallet',
    redirectUri: request.redirectUri,
    codeChallenge: createHash('sha256').update(verifier).digest('base64url'),
    providerId: 'p',
  };
  const authorized: AuthorizedSession = { ...facts, status: 'authorized', code: grant, origin };
  const redeemed: IssuanceSessionState = {
    ...facts,
    ...{ status: 'redeemed', spentCode: grant, accessToken: grant, issued: {}, origin },
  };
  const check = (state: IssuanceSessionState, more: Partial<AuthorizationCodeRequest> = {}, at = now, tenant = 't1') =>
    outcome(() => {
      const sent = { ...request, ...more };
      return checkAuthorizationCode(state, sent, matchSecrets(state, sent, tenant, macs), at);
    });
  const refused = ['invalid_grant', 'check-authorization-code'];

  it('accepts the code from the client that requested it', () =>
    expect(check(authorized)).toEqual({ fresh: authorized }));
  it.each<[string, Partial<AuthorizationCodeRequest>]>([
    ['another secret', { code: makeBearerValue(SESSION, code.tokenId).value }],
    ['another client', { clientId: 'other' }],
    ['another address', { redirectUri: 'https://wallet.example/back/' }],
    ['another verifier', { codeVerifier: `${verifier.slice(0, -1)}S` }],
    ['a verifier that is none', { codeVerifier: 'short' }],
    ['the challenge for a verifier', { codeVerifier: origin.codeChallenge }],
  ])('refuses %s', (_what, more) => expect(check(authorized, more)).toEqual(refused));
  it('refuses the verifier of a challenge that is spelled otherwise (RFC 7636 §4.6)', () => {
    // 32 bytes are 43 characters: the last two bits of the last one mean nothing to a decoder.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const { codeChallenge } = origin;
    const respelt = codeChallenge.slice(0, -1) + alphabet[alphabet.indexOf(codeChallenge.at(-1)!) ^ 1]!;
    expect(check({ ...authorized, origin: { ...origin, codeChallenge: respelt } })).toEqual(refused);
  });
  it('refuses an expired one, and that of another tenant', () => {
    expect(check(authorized, {}, new Date(grant.expiresAt))).toEqual(refused);
    expect(check(authorized, {}, now, 't2')).toEqual(refused);
  });
  it('recognizes a spent one by value and verifier, from any client and at any time [T484]', () => {
    expect(check(redeemed)).toEqual({ spent: redeemed });
    expect(check(redeemed, { clientId: 'other' }, new Date(grant.expiresAt))).toEqual({ spent: redeemed });
    expect(check(redeemed, { codeVerifier: `${verifier.slice(0, -1)}S` })).toEqual(refused);
    expect(check(redeemed, { code: makeBearerValue(SESSION, code.tokenId).value })).toEqual(refused);
  });
  it.each<IssuanceSessionState>([
    { status: 'absent' },
    { status: 'revoked', id: SESSION },
    { status: 'deleted', id: SESSION },
    offered(),
  ])('refuses $status', (state) => expect(check(state)).toEqual(refused));
  it('cannot be redeemed as a pre-authorized code', () => {
    const sent = { grant: 'preAuthorizedCode', code: code.value } as const;
    expect(matchSecrets(authorized, sent, 't1', macs)).toEqual({
      code: false,
      transactionCode: false,
      verifier: false,
    });
    const matched = { code: true, transactionCode: true, verifier: true };
    expect(outcome(() => checkCode(authorized, matched, now))).toEqual(['invalid_grant', 'check-code']);
  });
});

describe('check-transaction-code', () => {
  const withCode = (inputMode: 'numeric' | 'text', mac: string) =>
    offered({
      origin: {
        kind: 'preAuthorizedOffer',
        sealedDocument: '',
        transactionCode: { inputMode, length: 6, mac, keyId: 'p1' },
      },
    });
  const check = (session: OfferedSession, given?: string) =>
    outcome(() => {
      const request: PreAuthorizedCodeRequest = {
        ...{ grant: 'preAuthorizedCode', code: code.value },
        ...(given !== undefined && { transactionCode: given }),
      };
      return checkTransactionCode(session, given, matchSecrets(session, request, 't1', macs));
    });
  const numeric = withCode('numeric', `012345|${SESSION}`);

  it('compares the code including leading zeros', () => {
    expect(check(numeric, '012345')).toBe(true);
    for (const wrong of ['12345', '0123456', ' 012345', 'foo']) expect(check(numeric, wrong)).toBe(false);
  });
  it('compares letters without case', () => expect(check(withCode('text', `ABC234|${SESSION}`), 'abc234')).toBe(true));
  it('refuses a missing and an unexpected one with invalid_request', () => {
    expect(check(numeric)).toEqual(['invalid_request', 'check-transaction-code']);
    expect(check(offered(), '012345')).toEqual(['invalid_request', 'check-transaction-code']);
  });
});

describe('check-authorization-details', () => {
  const check = (...ids: string[]) =>
    outcome(() =>
      checkAuthorizationDetails(
        offered(),
        ids.map((credentialConfigurationId) => ({ credentialConfigurationId })),
        ['next'],
      ),
    );
  it('grants the offered credentials', () => {
    expect(check('c1')).toEqual([{ credentialConfigurationId: 'c1', credentialIdentifiers: ['next'] }]);
    expect(checkAuthorizationDetails(offered(), undefined, ['next'])).toBeUndefined();
  });
  it('grants the details of the authorization request, also when they are not repeated', () => {
    const origin = {
      kind: 'authorizationRequest',
      clientId: 'w',
      redirectUri: 'r',
      codeChallenge: 'c',
      providerId: 'p',
    } as const;
    const { wrongCodes: _, ...facts } = offered();
    const session = (detailed?: string[]): AuthorizedSession => ({
      ...facts,
      status: 'authorized',
      origin: { ...origin, ...(detailed && { detailed }) },
    });
    expect(checkAuthorizationDetails(session(['c1']), undefined, ['next'])).toEqual([
      { credentialConfigurationId: 'c1', credentialIdentifiers: ['next'] },
    ]);
    expect(checkAuthorizationDetails(session(), undefined, ['next'])).toBeUndefined();
  });
  it.each([[['c2']], [['c1', 'c2']], [['c1', 'c1']], [['']]])('refuses %j', (ids) =>
    expect(check(...ids)).toEqual(['invalid_authorization_details', 'check-authorization-details']),
  );
});

describe('a bearer value', () => {
  it('names its session and token', () => expect(parseBearerValue(code.value)).toEqual(code));
  it.each([
    ...HOSTILE,
    code.value.slice(1),
    `${code.value}A`,
    `${code.value.slice(0, -1)}=`,
    `${code.value.slice(0, -1)}+`,
  ])('is not %j', (value) => expect(parseBearerValue(value)).toBeUndefined());
  it('has one spelling', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(code.value.at(-1)!);
    expect(parseBearerValue(code.value.slice(0, -1) + alphabet[last ^ 1]!)).toBeUndefined();
  });
});
