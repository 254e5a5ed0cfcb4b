import { exclusionOf } from './provider-requirements.js';

const client = { tokenEndpointAuthMethod: 'client_secret_basic', hasSecret: true } as const;
const document = { jwks_uri: 'https://idp.example/keys' };
const fault = (more: Record<string, unknown>, of = {}) => exclusionOf({ ...document, ...more }, { ...client, ...of });

describe('a discovery document', () => {
  it('may lack every member but jwks_uri [T761]', () => {
    expect(fault({})).toBeUndefined();
    expect(fault({ jwks_uri: undefined })).toBe('the discovery document has no jwks_uri');
  });

  it.each([
    ['code_challenge_methods_supported', ['plain'], ['plain', 'S256']],
    ['id_token_signing_alg_values_supported', ['HS256', 'none'], ['HS256', 'EdDSA']],
    ['response_modes_supported', ['form_post', 'fragment'], ['form_post', 'query']],
    ['token_endpoint_auth_methods_supported', ['private_key_jwt', 'none'], ['client_secret_basic']],
  ])('is refused where %s is %j, and not where it is %j [T761]', (member, wrong, right) => {
    for (const value of [wrong, [], 'S256 RS256 query client_secret_basic', {}, 1])
      expect(fault({ [member]: value })).toMatch(new RegExp(`^${member} in the discovery document must contain `));
    for (const value of [right, null, undefined]) expect(fault({ [member]: value })).toBeUndefined();
  });

  it('may demand no authentication of a client without a secret [T761]', () => {
    const methods = { token_endpoint_auth_methods_supported: ['none'] };
    expect(fault(methods, { hasSecret: false })).toBeUndefined();
    expect(fault(methods)).toBe(
      'token_endpoint_auth_methods_supported in the discovery document must contain client_secret_basic',
    );
  });

  it('must take ES256 where the client authenticates by a key [T761]', () => {
    const of = { tokenEndpointAuthMethod: 'private_key_jwt', hasSecret: false };
    const methods = { token_endpoint_auth_methods_supported: ['private_key_jwt'] };
    const member = 'token_endpoint_auth_signing_alg_values_supported';
    expect(fault({ ...methods, [member]: ['PS256', 'ES256'] }, of)).toBeUndefined();
    expect(fault({ ...methods, [member]: ['PS256'] }, of)).toBe(
      `${member} in the discovery document must contain ES256`,
    );
    expect(fault({ [member]: ['PS256'] })).toBeUndefined();
    expect(fault({ token_endpoint_auth_methods_supported: ['none'] }, of)).toMatch(/must contain private_key_jwt$/);
  });

  it('must not demand signed requests [T761]', () => {
    expect(fault({ require_signed_request_object: true })).toMatch(/^require_signed_request_object /);
    expect(fault({ require_signed_request_object: false })).toBeUndefined();
  });
});
