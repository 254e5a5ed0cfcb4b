import { authenticationParameters } from './authentication-parameters.js';

const settings = {
  scope: ['openid', 'email'],
  staticRequestParameters: { ui_locales: 'fr', max_age: 60, claims: { id_token: { email: null } } },
  forwardedRequestParameters: ['login_hint', 'ui_locales', 'acr_values'],
};
const request = (parameters: Record<string, string>) => ({
  redirectUrl: 'https://acme.example/v1/oauth/authentication/callback',
  ...{ state: 's', nonce: 'n', codeChallenge: 'c', query: new URLSearchParams(parameters).toString() },
});
const sent = (parameters: Record<string, string>, more: Partial<typeof settings> = {}) =>
  Object.fromEntries(authenticationParameters({ ...settings, ...more }, request(parameters)));
const core = {
  response_type: 'code',
  redirect_uri: 'https://acme.example/v1/oauth/authentication/callback',
  scope: 'openid email',
  ...{ state: 's', nonce: 'n', code_challenge: 'c', code_challenge_method: 'S256' },
};
const fixed = { ui_locales: 'fr', max_age: '60', claims: '{"id_token":{"email":null}}' };

describe('an authentication request', () => {
  it('always has the static parameters, as strings [T44]', () => expect(sent({})).toEqual({ ...core, ...fixed }));

  it('forwards the named parameters of the wallet, and no others [T44]', () =>
    expect(sent({ login_hint: 'zoe', prompt: 'none', client_id: 'wallet' })).toEqual({
      ...core,
      ...fixed,
      login_hint: 'zoe',
    }));

  it('does not let a wallet replace static parameters, nor those that the platform sends [T44]', () => {
    expect(sent({ ui_locales: 'de' })).toEqual({ ...core, ...fixed });
    const hostile = { staticRequestParameters: { state: 'x' }, forwardedRequestParameters: ['nonce', 'scope'] };
    expect(sent({ nonce: 'x', scope: 'x' }, hostile as never)).toEqual(core);
  });

  it('forwards values of 1 to 1000 characters, and no names that objects inherit', () => {
    expect(sent({ login_hint: '' })).toEqual({ ...core, ...fixed });
    expect(sent({ login_hint: 'x'.repeat(1001) })).toEqual({ ...core, ...fixed });
    expect(sent({ login_hint: 'x'.repeat(1000) })).toHaveProperty('login_hint');
    expect(sent({}, { forwardedRequestParameters: ['constructor', 'toString'] })).toEqual({ ...core, ...fixed });
  });
});
