import { issuerMetadata } from './issuer-metadata.js';

const metadata = (brand: object) =>
  issuerMetadata(
    { issuer: 'https://acme.example', baseUrl: 'https://acme.example', brand, profile: 'default' },
    [],
    () => {
      throw new Error('no configuration');
    },
  );

it('has the members for wallets of earlier drafts, but not in the profile haip [T93] [T94] [T714]', () => {
  const issuer = { issuer: 'https://acme.example', baseUrl: 'https://acme.example', brand: {} };
  const [ofDefault, ofHaip] = (['default', 'haip'] as const).map((profile) =>
    Object.keys(issuerMetadata({ ...issuer, profile }, [], () => undefined as never)),
  );
  expect(ofDefault!.filter((name) => !ofHaip!.includes(name)).sort()).toEqual([
    ...['authorization_endpoint', 'code_challenge_methods_supported', 'credentials_supported', 'grant_types_supported'],
    ...['issuer', 'jwks_uri', 'pushed_authorization_request_endpoint', 'response_modes_supported'],
    ...['response_types_supported', 'scopes_supported', 'token_endpoint'],
  ]);
  expect(ofHaip).toContain('mdoc_iacas_uri');
});

describe('the display of a credential issuer', () => {
  it('is the brand of its verified custom domain', () =>
    expect(metadata({ name: 'Acme', logoUrl: 'https://acme.example/logo.png' })).toMatchObject({
      display: [{ name: 'Acme', logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' } }],
    }));

  it('has no logo where the brand has none, and is absent without a brand', () => {
    expect(metadata({ name: 'Acme' })).toMatchObject({ display: [{ name: 'Acme' }] });
    expect(metadata({})).not.toHaveProperty('display');
  });
});
