import { issuerOf, listSeries, seriesName } from './list-series.js';

const policy = { kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 } as const;
const ofIssuer = (issuer: string, did?: string) =>
  listSeries(policy, { kind: 'issuerSigner', issuer, ...(did !== undefined && { did }) });
const ofKey = (verificationMethod: string, keyId = 'k1') =>
  listSeries(policy, { kind: 'pinnedKey', keyId, verificationMethod });

describe('a series of status lists', () => {
  it('has two bits for each credential: valid, invalid and suspended', () =>
    expect(ofIssuer('https://acme.example')).toEqual({
      tokenType: 'jwt',
      signer: { kind: 'issuerSigner', issuer: 'https://acme.example' },
      size: 131_072,
      bits: 2,
    }));

  it('is shared by the credentials of one signer, and by no others', () => {
    const names = [
      ofIssuer('https://acme.example'),
      ofIssuer('https://id.acme.example'),
      ofKey('did:web:acme.example#k1'),
      ofKey('did:web:acme.example#k2'),
      ofIssuer('https://acme.example', 'did:web:brand.example'),
    ].map(seriesName);
    expect(new Set(names).size).toBe(5);
    expect(seriesName(ofIssuer('https://acme.example'))).toBe(names[0]);
    expect(seriesName(ofKey('did:web:acme.example#k1', 'another'))).toBe(names[2]);
  });
});

describe('the issuer of the credentials of a list', () => {
  it.each([
    [ofIssuer('https://acme.example'), 'https://acme.example'],
    [ofIssuer('https://acme.example', 'did:web:brand.example'), 'did:web:brand.example'],
    [ofKey('did:web:brand.example:issuers:x#k1'), 'did:web:brand.example:issuers:x'],
    [ofKey('did:key:z6Mk#z6Mk'), 'did:key:z6Mk'],
  ])('%#: is its address or its DID', ({ signer }, issuer) => expect(issuerOf(signer)).toBe(issuer));
});
