import { AppError } from '@attestry/contracts';
import { signInCookies } from './pending-authorizations.js';
import { consentCookies } from './pending-consents.js';
import { redirectToClient } from './redirect.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { checkPushed } from '../../wallets/wallet-clients/check-pushed.js';
import { parseAuthorizationRequest, parseClient } from './parse-authorization-request.js';
import { requestedEntries } from './requested-entries.js';

const ISSUER = 'https://acme.example';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return (error as AppError).code;
  }
};
const query = (more: Record<string, string> = {}) =>
  new URLSearchParams({
    ...{ response_type: 'code', code_challenge: CHALLENGE, code_challenge_method: 'S256', scope: 'a b' },
    ...more,
  });

/** The refusal as the client or the page shows it. */
const refusal = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
};

describe('parse-client', () => {
  const client = (redirect: string, id = 'wallet') =>
    outcome(() => parseClient(new URLSearchParams({ client_id: id, redirect_uri: redirect })));

  it.each(['', 'é', 'a\nb', 'x'.repeat(1025)])('refuses the client %j', (id) =>
    expect(client('https://wallet.example/', id)).toBe('invalid_request'),
  );
  it('stores a state that can be returned, and no other', () => {
    const stateOf = (state: string) =>
      parseClient(new URLSearchParams(`client_id=w&redirect_uri=https://wallet.example/&${state}`)).state;
    expect(stateOf('state=x')).toBe('x');
    for (const state of ['', 'state=', 'state=a&state=b', `state=${'x'.repeat(4097)}`])
      expect(stateOf(state)).toBeUndefined();
  });
  it('names the invalid parameter, and the reason', () => {
    const says = (text: string) => refusal(() => parseClient(new URLSearchParams(text)));
    const at = 'parse-authorization-request';
    const once = (name: string) => ['invalid_request', `${name} must be sent once, with a value`, at];
    expect(says('redirect_uri=https://wallet.example/')).toEqual(once('client_id'));
    expect(says('client_id=&redirect_uri=https://wallet.example/')).toEqual(once('client_id'));
    expect(says('client_id=w')).toEqual(once('redirect_uri'));
    expect(says('client_id=w&redirect_uri=')).toEqual(once('redirect_uri'));
    const ascii = 'client_id must be at most 1024 printable ASCII characters (RFC 6749 A.1)';
    for (const id of ['%C3%A9x', 'x%C3%A9', 'x'.repeat(1025)])
      expect(says(`client_id=${id}&redirect_uri=https://wallet.example/`)).toEqual(['invalid_request', ascii, at]);
    const longest = 'x'.repeat(1024);
    expect(says(`client_id=${longest}&redirect_uri=https://wallet.example/`)).toMatchObject({ clientId: longest });
  });
  it('returns a state of the longest length', () =>
    expect(
      parseClient(
        new URLSearchParams({ client_id: 'w', redirect_uri: 'https://wallet.example/', state: 'x'.repeat(4096) }),
      ),
    ).toEqual({ clientId: 'w', redirectUri: 'https://wallet.example/', state: 'x'.repeat(4096) }));
  it('refuses repeated parameters', () => {
    for (const name of ['client_id', 'redirect_uri']) {
      const twice = new URLSearchParams({ client_id: 'w', redirect_uri: 'https://wallet.example/' });
      twice.append(name, twice.get(name)!);
      expect(outcome(() => parseClient(twice))).toBe('invalid_request');
    }
  });
});

describe('parse-authorization-request', () => {
  const parse = (more: Record<string, string> = {}) => outcome(() => parseAuthorizationRequest(query(more)));

  it('reads the known parameters and ignores the others', () =>
    expect(parse({ login_hint: 'zoe', __proto__x: '1', prompt: '', state: '' })).toEqual({
      codeChallenge: CHALLENGE,
      scopes: ['a', 'b'],
    }));
  it('reads the thumbprint of the DPoP key', () =>
    expect(parse({ dpop_jkt: CHALLENGE })).toMatchObject({ dpopJkt: CHALLENGE }));
  it('reads the resource, also twice', () => {
    const twice = query({ resource: ISSUER });
    twice.append('resource', ISSUER);
    expect(outcome(() => parseAuthorizationRequest(twice))).toMatchObject({ resources: [ISSUER, ISSUER] });
  });
  it.each<[Record<string, string>, string]>([
    [{ response_type: '' }, 'invalid_request'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ code_challenge: `${CHALLENGE}=` }, 'invalid_request'],
    [{ code_challenge_method: '' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ dpop_jkt: 'x' }, 'invalid_request'],
    [{ state: 'x'.repeat(4097) }, 'invalid_request'],
    [{ request: 'x' }, 'request_not_supported'],
    [{ request_uri: 'urn:x' }, 'invalid_request'],
    [{ authorization_details: '[]' }, 'invalid_authorization_details'],
  ])('refuses %j', (more, code) => expect(parse(more)).toBe(code));
  it.each<[Record<string, string>, string]>([
    [{ request: 'x' }, 'request objects are not supported'],
    [{ request_uri: 'urn:x' }, 'request_uri must not be pushed'],
    [{ response_type: '' }, 'response_type is missing'],
    [{ response_type: 'token' }, 'response_type must be code'],
    [{ response_mode: 'form_post' }, 'response_mode must be query'],
    [{ code_challenge: '' }, 'code_challenge is missing'],
    [{ code_challenge_method: 'plain' }, 'code_challenge_method must be S256'],
    [{ code_challenge: `${CHALLENGE.slice(1)}=` }, 'code_challenge must be a SHA-256 digest in base64url'],
    [{ code_challenge: CHALLENGE.slice(1) }, 'code_challenge must be a SHA-256 digest in base64url'],
    [{ dpop_jkt: 'x' }, 'dpop_jkt must be the SHA-256 thumbprint of a key in base64url'],
  ])('names the fault in %j', (more, message) =>
    expect(refusal(() => parseAuthorizationRequest(query(more)))).toEqual([
      expect.any(String),
      message,
      'parse-authorization-request',
    ]),
  );
  it('accepts response_mode query, an empty resource, a scope surrounded by spaces, and no scope', () => {
    expect(parse({ response_mode: 'query', resource: '' })).toMatchObject({ scopes: ['a', 'b'] });
    expect(parse({ scope: ' a  b ' })).toEqual({ codeChallenge: CHALLENGE, scopes: ['a', 'b'] });
    expect(parse({ scope: '' })).toEqual({ codeChallenge: CHALLENGE, scopes: [] });
    expect(parse({ scope: '', issuer_state: 'of the offer' })).toMatchObject({ issuerState: 'of the offer' });
    expect(parse({ scope: '', issuer_state: '' })).not.toHaveProperty('issuerState');
  });
  it('refuses a code challenge that is no digest as an invalid request', () =>
    expect(refusal(() => parseAuthorizationRequest(query({ code_challenge: CHALLENGE.slice(1) })))).toEqual([
      'invalid_request',
      'code_challenge must be a SHA-256 digest in base64url',
      'parse-authorization-request',
    ]));
  it('names a repeated parameter', () => {
    const twice = query();
    twice.append('scope', 'c');
    expect(refusal(() => parseAuthorizationRequest(twice))).toEqual([
      'invalid_request',
      'a parameter must not be sent more than once',
      'parse-authorization-request',
    ]);
  });
  it('refuses repeated parameters', () => {
    const twice = query();
    twice.append('scope', 'c');
    expect(outcome(() => parseAuthorizationRequest(twice))).toBe('invalid_request');
  });
});

describe('check-pushed', () => {
  it('refuses a request that was not pushed, where the tenant requires it [T294]', () => {
    expect(refusal(() => checkPushed(false, { requirePushedAuthorizationRequests: true }))).toEqual([
      'invalid_request',
      'the authorization request must be pushed to /v1/oauth/par first (RFC 9126)',
      'check-pushed',
    ]);
    for (const [isPushed, settings] of [
      [true, { requirePushedAuthorizationRequests: true }],
      [false, { requirePushedAuthorizationRequests: false }],
    ] as const)
      expect(refusal(() => checkPushed(isPushed, settings))).toBeUndefined();
  });
});

describe('requested-entries', () => {
  const [A, B] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  const configurations = [
    { id: A, format: 'ldp_vc', type: 'Course' },
    { id: B, format: 'jwt_vc_json', type: 'Course' },
  ] as ActiveConfiguration[];
  const request = (scopes: string[], ...ids: string[]) =>
    outcome(() =>
      requestedEntries(
        { scopes, ...(ids.length && { details: ids.map((id) => ({ credentialConfigurationId: id })) }) },
        configurations,
      ),
    );
  const [course, pass] = [
    { credentialConfigurationId: A, scope: 'ldp_vc:Course' },
    { credentialConfigurationId: B, scope: 'jwt_vc_json:Course' },
  ];

  it('are those named by scopes; other scopes are ignored', () => {
    expect(request(['openid', 'ldp_vc:Course', 'ldp_vc:Other'])).toEqual({ entries: [course] });
    expect(request(['jwt_vc_json:Course', 'ldp_vc:Course'])).toEqual({ entries: [course, pass] });
  });
  it('are returned as identifiers when details name one', () => {
    expect(request([], B!)).toEqual({ entries: [pass], detailed: [B] });
    expect(request(['ldp_vc:Course'], B!)).toEqual({ entries: [course, pass], detailed: [B, A] });
  });
  it('must exist and be known', () => {
    expect(request([])).toBe('invalid_scope');
    expect(request(['ldp_vc:Other'])).toBe('invalid_scope');
    for (const id of ['x', '33333333-3333-4333-8333-333333333333'])
      expect(request(['ldp_vc:Course'], id)).toBe('invalid_authorization_details');
  });
});

describe('a redirection to the wallet', () => {
  const locationOf = (redirectUri: string, parameters: Record<string, string>, state?: string) =>
    redirectToClient({ redirectUri, issuer: ISSUER, ...(state !== undefined && { state }) }, parameters).$http.headers![
      'location'
    ];

  const ISS = 'iss=https%3A%2F%2Facme.example';
  it.each([
    ['https://wallet.example/back?a=1&code=theirs', `https://wallet.example/back?a=1&code=ours&state=x+y&${ISS}`],
    [
      'https://wallet.example/b%20ck?q=a%20b&flag&x=',
      `https://wallet.example/b%20ck?q=a%20b&flag&x=&code=ours&state=x+y&${ISS}`,
    ],
    ['HTTPS://Wallet.example:443/a/../b', `HTTPS://Wallet.example:443/a/../b?code=ours&state=x+y&${ISS}`],
    ['https://wallet.example', `https://wallet.example?code=ours&state=x+y&${ISS}`],
    ['https://wallet.example/?', `https://wallet.example/?code=ours&state=x+y&${ISS}`],
    ['https://wallet.example/?a&', `https://wallet.example/?a&code=ours&state=x+y&${ISS}`],
    ['https://wallet.example/?a?b=%zz', `https://wallet.example/?a?b=%zz&code=ours&state=x+y&${ISS}`],
    [
      'https://wallet.example/?c%6fde=1&st%61te&iss=x&error=e&error_description=d&error_uri=u&codes=1',
      `https://wallet.example/?codes=1&code=ours&state=x+y&${ISS}`,
    ],
    ['org.example.wallet:/back', `org.example.wallet:/back?code=ours&state=x+y&${ISS}`],
  ])('keeps the address byte for byte, without parameters of a response: %s [T605]', (redirectUri, location) =>
    expect(locationOf(redirectUri, { code: 'ours' }, 'x y')).toBe(location),
  );

  it('never has parameters of a response that the address brought', () =>
    expect(locationOf('org.example.wallet:/back?code=a&state=b', { error: 'access_denied' })).toBe(
      `org.example.wallet:/back?error=access_denied&${ISS}`,
    ));
});

describe('the cookie', () => {
  const binding = { id: '11111111-1111-4111-8111-111111111111', secret: 'abc' };
  it('is sent only to the callback, and only over https when it is used', () => {
    expect(signInCookies.set(binding, ISSUER)).toBe(
      `attestry-sign-in-${binding.id}=abc; Path=/v1/oauth/authentication; Max-Age=1200; HttpOnly; SameSite=Lax; Secure`,
    );
    expect(signInCookies.drop(binding.id, 'http://acme.localhost')).toBe(
      `attestry-sign-in-${binding.id}=; Path=/v1/oauth/authentication; Max-Age=0; HttpOnly; SameSite=Lax`,
    );
  });
  it('of a consent is sent only to its form, and never with requests of other sites', () =>
    expect(consentCookies.set(binding, ISSUER)).toBe(
      `attestry-consent-${binding.id}=abc; Path=/v1/oauth/authorize/consent; Max-Age=600; HttpOnly; SameSite=Strict; Secure`,
    ));
  it('is found among others', () => {
    expect(signInCookies.find(`a=b; attestry-sign-in-${binding.id}=abc;c=d`, binding.id)).toBe('abc');
    for (const header of [undefined, '', 'a=b', `x-attestry-sign-in-${binding.id}=abc`])
      expect(signInCookies.find(header, binding.id)).toBeUndefined();
  });
});
