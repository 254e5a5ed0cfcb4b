import { issuerMetadata } from './issuer-metadata.js';

const metadata = (brand: object) =>
  issuerMetadata(
    { issuer: 'https://acme.example', baseUrl: 'https://acme.example', brand, profile: 'default' },
    [],
    () => {
      throw new Error('no configuration');
    },
  );

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
