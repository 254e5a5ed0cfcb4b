import { hostsOf, listPath, listSeries, revocationListUri, seriesName } from './list-series.js';

const policy = { kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 } as const;
const ofIssuer = (issuer: string, did?: string) =>
  listSeries(policy, { kind: 'issuerSigner', issuer, ...(did !== undefined && { did }) });
const ofKey = (verificationMethod: string, keyId = 'k1') =>
  listSeries(policy, { kind: 'pinnedKey', keyId, verificationMethod });

const ofIaca = (docType: string, iacaId = 'i1', issuer = 'https://acme.example', domains?: string[]) =>
  listSeries(policy, { kind: 'statusListSigner', issuer, iacaId, docType, ...(domains && { domains }) });

describe('a series of status lists', () => {
  it('has two bits for each credential: valid, invalid and suspended', () =>
    expect(ofIssuer('https://acme.example')).toEqual({
      tokenType: 'jwt',
      signer: { kind: 'issuerSigner', issuer: 'https://acme.example' },
      size: 131_072,
      bits: 2,
    }));

  it('has one bit for each credential where its lists are revocation lists, too, at an address of their own', () => {
    const series = listSeries(
      { ...policy, tokenType: 'cose', revocationLists: 'compact' },
      { kind: 'pinnedKey', keyId: 'k1', verificationMethod: 'did:web:acme.example#k1' },
    );
    expect(series).toMatchObject({ tokenType: 'cose', bits: 1, revocationLists: 'compact' });
    const uri = 'https://acme.example/v2/credentials/status-lists/l1/token';
    expect(revocationListUri({ ...series, uri }, 'l1')).toBe(
      'https://acme.example/v2/credentials/compact/revocation-lists/l1',
    );
    expect(revocationListUri({ ...ofIssuer('https://acme.example'), uri }, 'l1')).toBeUndefined();
    const names = [series, { ...series, revocationLists: 'compact-semantic' as const }].map(seriesName);
    expect(new Set([...names, 'cose did:web:acme.example#k1']).size).toBe(3);
  });

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
      // Signers of one IACA with other names.
      ofIaca('org.example.card', 'i1', 'https://acme.example', ['a.example']),
      ofIaca('org.example.card', 'i1', 'https://acme.example', ['a.example', 'b.example']),
    ].map(seriesName);
    expect(new Set(names).size).toBe(11);
    expect(seriesName(ofIssuer('https://acme.example'))).toBe(names[0]);
    expect(seriesName(ofKey('did:web:acme.example#k1', 'another'))).toBe(names[2]);
  });

  it('of lists that are credentials has one bit for each, and an address of its own', () => {
    const credentials = { ...policy, kind: 'listCredential', tokenType: 'bitstring' } as const;
    const signer = { kind: 'pinnedKey', keyId: 'k1', verificationMethod: 'did:web:acme.example#k1' } as const;
    const series = listSeries(credentials, signer);
    expect(series.bits).toBe(1);
    expect(seriesName(series)).toBe('bitstring did:web:acme.example#k1');
    expect(listPath(series, 'l1')).toBe('/v2/credentials/web-semantic/revocation-lists/l1');
    expect(listPath({ ...series, tokenType: 'revocationList2020' }, 'l1')).toBe(listPath(series, 'l1'));
    expect(listPath(ofIssuer('https://acme.example'), 'l1')).toBe('/v2/credentials/status-lists/l1/token');
  });

  it('has its lists at a path of their own where they are of mobile documents', () => {
    expect(listPath(ofIssuer('https://acme.example'), 'l1')).toBe('/v2/credentials/status-lists/l1/token');
    expect(listPath(ofKey('did:web:acme.example#k1'), 'l1')).toBe('/v2/credentials/status-lists/l1/token');
    const ofCards = ofIaca('org.example.card');
    expect(listPath(ofCards, 'l1')).toBe('/v2/credentials/mobile/status-lists/l1/token');
    const identified = { ...ofCards, tokenType: 'identifierList' as const };
    expect(listPath(identified, 'l1')).toBe('/v2/credentials/mobile/identifier-lists/l1/token');
    expect(seriesName(identified)).not.toBe(seriesName({ ...ofCards, tokenType: 'cose' }));
  });
});

describe('the hosts under which the credentials of a list are issued', () => {
  it.each([
    [ofIssuer('https://acme.example'), ['acme.example']],
    [ofIssuer('https://acme.example', 'did:web:brand.example'), ['acme.example', 'brand.example']],
    [ofKey('did:web:brand.example:issuers:x#k1'), ['brand.example']],
    [ofKey('did:key:z6Mk#z6Mk'), []],
    [ofIaca('org.example.card'), ['acme.example']],
    [
      ofIaca('org.example.card', 'i1', 'https://acme.example', ['acme.example', 'brand.example', 'other.example']),
      ['acme.example', 'brand.example', 'other.example'],
    ],
  ])('%#: are those of its address, its DID and its certificates', ({ signer }, hosts) =>
    expect(hostsOf(signer)).toEqual(hosts),
  );
});
