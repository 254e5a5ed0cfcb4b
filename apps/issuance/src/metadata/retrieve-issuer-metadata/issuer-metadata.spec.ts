import { issuerMetadata, type MetadataIssuer } from './issuer-metadata.js';

const settings = { profile: 'default', advertiseScopes: true } as const;
const metadata = (more: Partial<MetadataIssuer>) =>
  issuerMetadata(
    {
      ...{ issuer: 'https://acme.example', baseUrl: 'https://acme.example', brand: {} },
      ...{ tenantName: undefined, settings, ...more },
    },
    [],
    () => {
      throw new Error('no configuration');
    },
  );

it('has the members for wallets of earlier drafts, but not in the profile haip [T93] [T94] [T714]', () => {
  const [ofDefault, ofHaip] = (['default', 'haip'] as const).map((profile) =>
    Object.keys(metadata({ settings: { ...settings, profile } })),
  );
  expect(ofDefault!.filter((name) => !ofHaip!.includes(name)).sort()).toEqual([
    ...['authorization_endpoint', 'code_challenge_methods_supported', 'credentials_supported', 'grant_types_supported'],
    ...['issuer', 'jwks_uri', 'pushed_authorization_request_endpoint', 'response_modes_supported'],
    ...['response_types_supported', 'scopes_supported', 'token_endpoint'],
  ]);
  expect(ofHaip).toContain('mdoc_iacas_uri');
});

it('has no scopes where the tenant does not advertise them [T747]', () => {
  expect(metadata({})).toHaveProperty('scopes_supported');
  expect(metadata({ settings: { ...settings, advertiseScopes: false } })).not.toHaveProperty('scopes_supported');
});

describe('the display of a credential issuer', () => {
  const logo = { uri: 'https://acme.example/logo.png', alt_text: 'Acme' };
  const brand = { name: 'Acme', logoUrl: logo.uri };

  it('is the brand of its verified custom domain, which may have no logo', () => {
    expect(metadata({ brand })).toMatchObject({ display: [{ name: 'Acme', logo }] });
    expect(metadata({ brand: { name: 'Acme' } })).toMatchObject({ display: [{ name: 'Acme' }] });
  });

  it('has the name that the tenant sets, otherwise that of the brand, otherwise of the tenant [T746]', () => {
    const named = { ...settings, displayName: 'Registry' };
    const all = { brand, tenantName: 'acme', settings: named };
    expect(metadata(all)['display']).toEqual([{ name: 'Registry', logo: { ...logo, alt_text: 'Registry' } }]);
    expect(metadata({ ...all, settings })['display']).toEqual([{ name: 'Acme', logo }]);
    expect(metadata({ tenantName: 'acme' })['display']).toEqual([{ name: 'acme' }]);
    expect(metadata({ tenantName: 'acme', settings: named })['display']).toEqual([{ name: 'Registry' }]);
  });

  it('is absent where no name is known', () => expect(metadata({})).not.toHaveProperty('display'));
});
