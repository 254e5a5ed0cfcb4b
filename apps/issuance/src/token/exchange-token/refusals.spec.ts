import type { AppError, RawRequest } from '@attestry/contracts';
import type { AuthorizedSession, OfferedSession } from '../../sessions/issuance-session/issuance-session.decisions.js';
import { parseAuthorizationDetails } from '../../sessions/authorization-details/authorization-details.js';
import { makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { checkLengths } from '../../reading/raw-request/check-lengths.js';
import { checkAuthorizationCode } from './check-authorization-code.js';
import { checkAuthorizationDetails } from './check-authorization-details.js';
import { checkCode } from './check-code.js';
import { checkContentType } from '../../reading/raw-request/check-content-type.js';
import { checkNoDuplicates } from '../../reading/raw-request/check-no-duplicates.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkTransactionCode } from './check-transaction-code.js';
import { parseTokenRequest } from './parse-token-request.js';

const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
const now = new Date('2026-05-01T10:00:00Z');
const matched = { code: true, transactionCode: true, verifier: true };

/** Code, `error_description` and check of the refusal. */
const refusal = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
};
const raw = (more: Partial<RawRequest>): RawRequest => ({ method: 'POST', url: '/', headers: {}, text: '', ...more });
const facts = {
  id: 's1',
  issuer: 'https://acme.example',
  binding: 'none',
  userId: 'u1',
  entries: [{ credentialConfigurationId: 'c1', scope: 'jwt_vc_json:A' }],
  code: { tokenId: 't1', kind: 'authorizationCode', mac: 'm', keyId: 'p1', expiresAt: '2026-05-01T10:05:00.000Z' },
} as const;
const offered = (transactionCode?: object) =>
  ({
    ...facts,
    status: 'offered',
    origin: { kind: 'preAuthorizedOffer', sealedDocument: '', ...(transactionCode && { transactionCode }) },
    wrongCodes: 0,
  }) as unknown as OfferedSession;
const authorized = {
  ...facts,
  status: 'authorized',
  origin: { kind: 'authorizationRequest', clientId: 'wallet', redirectUri: 'https://wallet.example/back' },
} as unknown as AuthorizedSession;

describe('refusals of the token endpoint', () => {
  it('name the content type', () =>
    expect(refusal(() => checkContentType(raw({})))).toEqual([
      'invalid_request',
      'the content type must be application/x-www-form-urlencoded',
      'check-content-type',
    ]));

  it.each([
    'grant_type',
    'pre-authorized_code',
    'tx_code',
    'authorization_details',
    'access_token',
    'code',
    'code_verifier',
  ])('name %s in the query string', (name) =>
    expect(refusal(() => checkParametersLocation(raw({ url: `/v1/oauth/token?${name}=x` })))).toEqual([
      'invalid_request',
      `${name} must not be in the query string`,
      'check-parameters-location',
    ]),
  );

  it('name the rule of a repeated parameter', () =>
    expect(refusal(() => checkNoDuplicates(new URLSearchParams('a=1&a=2')))).toEqual([
      'invalid_request',
      'a parameter must not be sent more than once',
      'check-no-duplicates',
    ]));

  it('name the parameter that is too long, and the number of parameters', () => {
    const check = (query: string) => refusal(() => checkLengths(new Map([['code', 3]]), new URLSearchParams(query)));
    expect(check('code=1234')).toEqual(['invalid_request', 'code must have at most 3 characters', 'check-lengths']);
    expect(check('&a=1'.repeat(101))).toEqual([
      'invalid_request',
      'there must be at most 100 parameters',
      'check-lengths',
    ]);
  });

  it.each<[Record<string, string>, string[]]>([
    [{}, ['invalid_request', 'grant_type is missing', 'check-grant-type']],
    [
      { grant_type: 'password' },
      [
        'unsupported_grant_type',
        `grant_type must be one of ${PRE_AUTHORIZED}, authorization_code, refresh_token`,
        'check-grant-type',
      ],
    ],
    [{ grant_type: PRE_AUTHORIZED }, ['invalid_request', 'pre-authorized_code is missing', 'parse-token-request']],
    [
      { grant_type: 'authorization_code', code: 'c', client_id: 'w' },
      ['invalid_request', 'redirect_uri is missing', 'parse-token-request'],
    ],
    [
      { grant_type: 'authorization_code', code: 'c', client_id: 'w', redirect_uri: 'r' },
      ['invalid_grant', 'code_verifier is missing', 'parse-token-request'],
    ],
  ])('name what the form %j lacks', (form, expected) =>
    expect(refusal(() => parseTokenRequest(new URLSearchParams(form)))).toEqual(expected),
  );

  it.each<[string, string]>([
    ['{', 'authorization_details must be JSON: it ends too early, at line 1, column 2'],
    ['{}', 'authorization_details must be an array of 1 to 20 objects'],
    ['[]', 'authorization_details must be an array of 1 to 20 objects'],
    ['[1]', 'every entry of authorization_details must be an object'],
    ['[{"type":"other"}]', 'type must be openid_credential'],
    [
      '[{"type":"openid_credential","format":"x"}]',
      'an authorization details object must have no members except type, credential_configuration_id, claims, locations',
    ],
    ['[{"type":"openid_credential"}]', 'credential_configuration_id must be a string'],
    ['[{"type":"openid_credential","credential_configuration_id":"c","claims":{}}]', 'claims must be an array'],
    ['[{"type":"openid_credential","credential_configuration_id":"c","locations":"l"}]', 'locations must be an array'],
    [
      '[{"type":"openid_credential","credential_configuration_id":"c","locations":[1]}]',
      'locations must contain only strings',
    ],
  ])('name the fault of authorization_details %s', (text, description) =>
    expect(refusal(() => parseAuthorizationDetails(text))).toEqual([
      'invalid_authorization_details',
      description,
      'authorization-details',
    ]),
  );

  it('allow 20 authorization details and no more', () => {
    const parse = (length: number) =>
      refusal(() =>
        parseAuthorizationDetails(
          JSON.stringify(
            Array.from({ length }, () => ({ type: 'openid_credential', credential_configuration_id: 'c' })),
          ),
        ),
      );
    expect(parse(20)).toHaveLength(20);
    expect(parse(21)).toEqual([
      'invalid_authorization_details',
      'authorization_details must be an array of 1 to 20 objects',
      'authorization-details',
    ]);
  });

  it('name the reason for which a pre-authorized code or its transaction code is refused', () => {
    expect(refusal(() => checkCode({ status: 'absent' }, matched, now))).toEqual([
      'invalid_grant',
      'the code is not valid',
      'check-code',
    ]);
    expect(refusal(() => checkTransactionCode(offered(), '1', matched))).toEqual([
      'invalid_request',
      'tx_code must not be sent: the offer has no transaction code',
      'check-transaction-code',
    ]);
    expect(refusal(() => checkTransactionCode(offered({}), undefined, matched))).toEqual([
      'invalid_request',
      'tx_code is missing',
      'check-transaction-code',
    ]);
  });

  it('name the reason for which an authorization code is refused', () => {
    const request = {
      grant: 'authorizationCode',
      code: makeBearerValue('s1', 't1').value,
      clientId: 'wallet',
      redirectUri: 'https://wallet.example/back',
      codeVerifier: 'v',
    } as const;
    const check = (more: object, of = matched) =>
      refusal(() => checkAuthorizationCode(authorized, { ...request, ...more }, of, now));
    const at = 'check-authorization-code';
    expect(check({}, { ...matched, code: false })).toEqual(['invalid_grant', 'the code is not valid', at]);
    expect(check({ clientId: 'other' })).toEqual(['invalid_grant', 'the code was issued to another client', at]);
    expect(check({ redirectUri: 'other' })).toEqual([
      'invalid_grant',
      'redirect_uri must be the one of the authorization request',
      at,
    ]);
    expect(check({}, { ...matched, verifier: false })).toEqual([
      'invalid_grant',
      'code_verifier does not match code_challenge',
      at,
    ]);
  });

  it('name the fault of the requested details', () => {
    const check = (...ids: string[]) =>
      refusal(() =>
        checkAuthorizationDetails(
          offered(),
          ids.map((credentialConfigurationId) => ({ credentialConfigurationId })),
          ['i1', 'i2'],
        ),
      );
    const at = 'check-authorization-details';
    expect(check('c2')).toEqual([
      'invalid_authorization_details',
      'credential_configuration_id was neither offered nor requested',
      at,
    ]);
    expect(check('c1', 'c1')).toEqual([
      'invalid_authorization_details',
      'credential_configuration_id must not be repeated',
      at,
    ]);
  });
});

describe('a token request without a transaction code', () => {
  it('has no such member', () =>
    expect(
      parseTokenRequest(new URLSearchParams({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': 'c' })),
    ).toStrictEqual({ grant: 'preAuthorizedCode', code: 'c' }));
});
