/** @engines embedded */
import { randomUUID } from 'node:crypto';
import { expectStatus, RedirectBrowser } from '@attestry/testing';
import {
  atWallet,
  BACK,
  begin,
  BOUND,
  detailsOf,
  DISABLED,
  ENDED,
  NONE,
  onPage,
  openAuthorization,
  PAR,
  post,
  provider,
  PUBLIC,
  received,
  refused,
  SCOPE,
  shown,
  startRefusals,
  strict,
  strictWallet,
  tenant,
  wallet,
} from './wallet-refusals.js';

startRefusals('authorization');

describe('an authorization request', () => {
  type Change = (form: URLSearchParams) => unknown;
  const formWith = (change: Change, by = wallet) => {
    const form = new URLSearchParams(by.parameters(SCOPE) as Record<string, string>);
    change(form);
    return form;
  };

  it('is accepted without these faults', async () => {
    const form = formWith(() => undefined);
    const { status, headers } = await openAuthorization(form);
    expect([status, new URL(headers.get('location')!).origin]).toEqual([302, provider.issuer]);
    expect((await post(PAR, form)).status).toBe(201);
  });

  it.each<[string, Change, string, string]>([
    [
      'no client_id',
      (form) => form.delete('client_id'),
      'invalid_request',
      'client_id must be sent once, with a value',
    ],
    [
      'no redirect_uri',
      (form) => form.delete('redirect_uri'),
      'invalid_request',
      'redirect_uri must be sent once, with a value',
    ],
    [
      'two redirect_uri',
      (form) => form.append('redirect_uri', BACK),
      'invalid_request',
      'redirect_uri must be sent once, with a value',
    ],
    [
      'a redirect_uri that is not registered',
      (form) => form.set('redirect_uri', `${PUBLIC}/other`),
      'invalid_request',
      'redirect_uri must be one of the redirect URIs that are registered for the wallet',
    ],
    [
      'a redirect_uri that is a script',
      (form) => form.set('redirect_uri', 'javascript:alert(1)'),
      'invalid_request',
      'redirect_uri must be an https URL, an http URL of a loopback host, or a URL with a private-use scheme of the wallet, without a fragment',
    ],
    [
      'the client_id of a disabled wallet',
      (form) => {
        form.set('client_id', DISABLED);
        form.set('redirect_uri', `${DISABLED}/back`);
      },
      'unauthorized_client',
      'this issuer has disabled the wallet',
    ],
  ])('with %s is a page, and JSON where it is pushed [T75] [T290] [T473]', async (_, change, error, description) => {
    expect(await shown(await openAuthorization(formWith(change)))).toEqual(onPage(error, description));
    expect(received(await post(PAR, formWith(change)))).toEqual(refused(400, error, description));
  });

  it('of an unknown client is a page, and JSON where it is pushed [T214] [T473]', async () => {
    const form = formWith((one) => one.set('client_id', 'unknown'), strictWallet);
    const fault = [
      'unauthorized_client',
      'client_id must be the one of a wallet that is registered with this issuer',
    ] as const;
    expect(await shown(await openAuthorization(form, strict))).toEqual(onPage(...fault));
    expect(received(await post(PAR, form, strict))).toEqual(refused(400, ...fault));
  });

  it.each<[string, Change, string, string]>([
    ['no response_type', (form) => form.delete('response_type'), 'invalid_request', 'response_type is missing'],
    [
      'another response_type',
      (form) => form.set('response_type', 'token'),
      'unsupported_response_type',
      'response_type must be code',
    ],
    [
      'another response_mode',
      (form) => form.set('response_mode', 'fragment'),
      'invalid_request',
      'response_mode must be query',
    ],
    ['no code_challenge', (form) => form.delete('code_challenge'), 'invalid_request', 'code_challenge is missing'],
    [
      'a code_challenge that is no digest',
      (form) => form.set('code_challenge', 'x'),
      'invalid_request',
      'code_challenge must be a SHA-256 digest in base64url',
    ],
    [
      'no code_challenge_method',
      (form) => form.delete('code_challenge_method'),
      'invalid_request',
      'code_challenge_method must be S256',
    ],
    [
      'plain PKCE',
      (form) => form.set('code_challenge_method', 'plain'),
      'invalid_request',
      'code_challenge_method must be S256',
    ],
    [
      'a repeated parameter',
      (form) => form.append('scope', SCOPE),
      'invalid_request',
      'a parameter must not be sent more than once',
    ],
    [
      'no scope',
      (form) => form.delete('scope'),
      'invalid_scope',
      'scope must name a credential configuration of this issuer',
    ],
    [
      'an unknown scope',
      (form) => form.set('scope', 'openid jwt_vc_json:None'),
      'invalid_scope',
      'scope must name a credential configuration of this issuer',
    ],
    [
      'authorization_details that are no JSON',
      (form) => form.set('authorization_details', '{'),
      'invalid_authorization_details',
      'authorization_details must be JSON: it ends too early, at line 1, column 2',
    ],
    [
      'authorization_details of another type',
      (form) => form.set('authorization_details', '[{"type":"payment"}]'),
      'invalid_authorization_details',
      'type must be openid_credential',
    ],
    [
      'an unknown credential_configuration_id',
      (form) => form.set('authorization_details', detailsOf(randomUUID())),
      'invalid_authorization_details',
      'credential_configuration_id must be a credential configuration of this issuer',
    ],
    [
      'another resource',
      (form) => form.set('resource', 'https://other.example'),
      'invalid_target',
      'resource must be TENANT, not https://other.example',
    ],
    [
      'a request object',
      (form) => form.set('request', 'a.b.c'),
      'request_not_supported',
      'request objects are not supported',
    ],
    [
      'a dpop_jkt that is no thumbprint',
      (form) => form.set('dpop_jkt', 'x'),
      'invalid_request',
      'dpop_jkt must be the SHA-256 thumbprint of a key in base64url',
    ],
    [
      'the issuer_state of no offer',
      (form) => form.set('issuer_state', 'x'),
      'invalid_request',
      'issuer_state names no current offer of this issuer',
    ],
  ])(
    'with %s is returned to the wallet, and JSON where it is pushed [T75] [T290] [T473]',
    async (_, change, error, description) => {
      const form = formWith(change);
      const expected = description.replace('TENANT', tenant.url);
      expect(await shown(await openAuthorization(form))).toEqual(atWallet(error, expected, form.get('state')));
      expect(received(await post(PAR, form))).toEqual(refused(400, error, expected));
    },
  );

  it('that is pushed with a request_uri is JSON [T290]', async () => {
    const form = formWith((one) => one.set('request_uri', 'urn:x'));
    expect(received(await post(PAR, form))).toEqual(refused(400, 'invalid_request', 'request_uri must not be pushed'));
  });

  it('is returned to the wallet where it must be pushed, and where no provider is configured [T294] [T473]', async () => {
    const form = formWith(() => undefined, strictWallet);
    const unpushed = 'the authorization request must be pushed to /v1/oauth/par first (RFC 9126)';
    expect(await shown(await openAuthorization(form, strict))).toEqual(
      atWallet('invalid_request', unpushed, form.get('state'), strict),
    );
    const { request_uri } = expectStatus(await post(PAR, form, strict), 201) as unknown as {
      request_uri: string;
    };
    expect(
      await shown(await openAuthorization(new URLSearchParams({ client_id: PUBLIC, request_uri }), strict)),
    ).toEqual(atWallet('server_error', 'no authentication provider is configured', form.get('state'), strict));
  });

  it('with a request_uri that cannot be opened is a page [T292] [T293] [T473]', async () => {
    const push = async () => expectStatus(await wallet.push(wallet.parameters(SCOPE), NONE), 201).request_uri;
    const pageOf = async (request_uri: string, client_id = PUBLIC) =>
      shown(await openAuthorization(new URLSearchParams({ client_id, request_uri })));
    const ended = 'request_uri is unknown, has expired or was already used; start again in the wallet';
    const current = await push();
    expect(await pageOf(current, BOUND)).toEqual(
      onPage('invalid_request', 'client_id must be the one of the pushed request'),
    );
    expect(await pageOf('https://wallet.example/request.jwt')).toEqual(
      onPage('invalid_request_uri', 'request_uri must be one that this issuer returned for a pushed request'),
    );
    expect(await pageOf(`${current.slice(0, -43)}${'A'.repeat(43)}`)).toEqual(onPage('invalid_request_uri', ended));
    expect((await wallet.authorize(current)).searchParams.has('code')).toBe(true);
    expect(await pageOf(current)).toEqual(onPage('invalid_request_uri', ended));
  });
});

describe('the response of the provider', () => {
  it.each([
    ['access_denied', 'access_denied', 'the authentication provider did not sign the user in'],
    ['login_required', 'access_denied', 'the authentication provider did not sign the user in'],
    ['temporarily_unavailable', 'temporarily_unavailable', 'the authentication provider is not available'],
    ['server_error', 'server_error', 'the authentication provider returned server_error'],
    ['invalid_scope', 'server_error', 'the authentication provider returned invalid_scope'],
  ])('%s is returned to the wallet as %s [T75] [T473] [T475]', async (given, error, description) => {
    const { browser, callback, state } = await begin({ login_hint: undefined });
    expect(callback.searchParams.get('error')).toBe('access_denied');
    callback.searchParams.set('error', given);
    expect(await shown(await browser.openUrl(callback.href))).toEqual(atWallet(error, description, state));
  });

  it('to a sign-in that has ended, or of another browser, is a page [T473]', async () => {
    const { browser, callback } = await begin();
    const page = onPage('invalid_request', ENDED);
    expect(await shown(await new RedirectBrowser().openUrl(callback.href))).toEqual(page);
    expect(await shown(await browser.openUrl(callback.href))).toMatchObject({ status: 302, to: BACK });
    expect(await shown(await browser.openUrl(callback.href))).toEqual(page);
  });
});
