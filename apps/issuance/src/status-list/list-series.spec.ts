import { issuerOf, listSeries, listsPath, seriesName } from './list-series.js';

const policy = { kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 } as const;
const ofIssuer = (issuer: string, did?: string) =>
  listSeries(policy, { kind: 'issuerSigner', issuer, ...(did !== undefined && { did }) });
const ofKey = (verificationMethod: string, keyId = 'k1') =>
  listSeries(policy, { kind: 'pinnedKey', keyId, verificationMethod });

const ofIaca = (docType: string, iacaId = 'i1', issuer = 'https://acme.example', domain?: string) =>
  listSeries(policy, { kind: 'statusListSigner', issuer, iacaId, docType, ...(domain !== undefined && { domain }) });

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
      ofIaca('org.example.card'),
      ofIaca('org.example.pass'),
      ofIaca('org.example.card', 'i2'),
      ofIaca('org.example.card', 'i1', 'https://id.acme.example'),
    ].map(seriesName);
    expect(new Set(names).size).toBe(9);
    expect(seriesName(ofIssuer('https://acme.example'))).toBe(names[0]);
    expect(seriesName(ofKey('did:web:acme.example#k1', 'another'))).toBe(names[2]);
  });

  it('has its lists at a path of their own where they are of mobile documents', () => {
    expect(listsPath(ofIssuer('https://acme.example').signer)).toBe('/v2/credentials/status-lists');
    expect(listsPath(ofKey('did:web:acme.example#k1').signer)).toBe('/v2/credentials/status-lists');
    expect(listsPath(ofIaca('org.example.card').signer)).toBe('/v2/credentials/mobile/status-lists');
  });
});

describe('the issuer of the credentials of a list', () => {
  it.each([
    [ofIssuer('https://acme.example'), 'https://acme.example'],
    [ofIssuer('https://acme.example', 'did:web:brand.example'), 'did:web:brand.example'],
    [ofKey('did:web:brand.example:issuers:x#k1'), 'did:web:brand.example:issuers:x'],
    [ofKey('did:key:z6Mk#z6Mk'), 'did:key:z6Mk'],
    [ofIaca('org.example.card'), 'https://acme.example'],
    [ofIaca('org.example.card', 'i1', 'https://acme.example', 'brand.example'), 'https://brand.example'],
  ])('%#: is its address or its DID', ({ signer }, issuer) => expect(issuerOf(signer)).toBe(issuer));
});
