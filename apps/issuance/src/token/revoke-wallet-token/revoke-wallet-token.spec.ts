import type { AppError } from '@attestry/contracts';
import type { SessionOrigin } from '../../sessions/issuance-session/issuance-session.events.js';
import { checkTokenOwner } from './check-token-owner.js';
import { parseRevocationRequest } from './parse-revocation-request.js';

const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
};
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const parse = (text: string, url = '/v1/oauth/revoke', headers: Record<string, string> = FORM) =>
  outcome(() => parseRevocationRequest({ method: 'POST', url, headers, text }));
const refused = (description: string, check = 'parse-revocation-request') => ['invalid_request', description, check];

describe('a revocation request [T362]', () => {
  it('has a token, and at most a client and a hint, which is ignored', () => {
    expect(parse('token=x')).toEqual({ token: 'x' });
    expect(parse('token=x&token_type_hint=nonsense&client_id=wallet&other=y')).toEqual({
      token: 'x',
      clientId: 'wallet',
    });
    expect(parse('token=x&client_id=')).toEqual({ token: 'x' });
  });

  it('may name the client by its attestation alone', () => {
    const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
    const attestation = `${part({})}.${part({ sub: 'attested' })}.c2lnbmF0dXJl`;
    const headers = { ...FORM, 'oauth-client-attestation': attestation };
    expect(parse('token=x', '/', headers)).toEqual({ token: 'x', clientId: 'attested' });
    expect(parse('token=x&client_id=named', '/', headers)).toEqual({ token: 'x', clientId: 'named' });
  });

  it.each([
    ['', refused('token is missing')],
    ['token=', refused('token is missing')],
    ['token=x&token=x', refused('a parameter must not be sent more than once', 'check-no-duplicates')],
    [`token=${'x'.repeat(16_385)}`, refused('token must have at most 16384 characters', 'check-lengths')],
    [
      `token=x&token_type_hint=${'x'.repeat(257)}`,
      refused('token_type_hint must have at most 256 characters', 'check-lengths'),
    ],
    [`token=x&client_id=${'x'.repeat(1025)}`, refused('client_id must have at most 1024 characters', 'check-lengths')],
  ])('is refused as %s', (text, expected) => expect(parse(text)).toEqual(expected));

  it.each(['token', 'token_type_hint', 'client_id'])('is refused with %s in the query', (name) =>
    expect(parse('token=x', `/v1/oauth/revoke?${name}=y`)).toEqual(refused(`${name} must not be in the query string`)),
  );

  it('is a form', () =>
    expect(parse('{}', '/', { 'content-type': 'application/json' })).toEqual([
      'invalid_request',
      expect.stringContaining('application/x-www-form-urlencoded'),
      'check-content-type',
    ]));
});

describe('the owner of a token [T362]', () => {
  const ofCode = { kind: 'authorizationRequest', clientId: 'wallet' } as SessionOrigin;
  const ofOffer = { kind: 'preAuthorizedOffer' } as SessionOrigin;

  it('is the client of the authorization request; any client exchanges a pre-authorized code', () => {
    for (const [origin, clientId] of [
      [ofCode, 'wallet'],
      [ofOffer, undefined],
      [ofOffer, 'any'],
    ] as const)
      expect(outcome(() => checkTokenOwner(origin, clientId))).toBeUndefined();
    expect(outcome(() => checkTokenOwner(ofCode, undefined))).toEqual(
      refused('client_id is missing', 'check-token-owner'),
    );
    expect(outcome(() => checkTokenOwner(ofCode, 'other'))).toEqual([
      'invalid_grant',
      'the token was issued to another client',
      'check-token-owner',
    ]);
  });
});
