import type { IssuingSigner } from '../certificates/issuer-certificates/issuer-signers.js';
import type { Resources } from './format.js';
import { statusSeriesOf } from './status-series.js';

const status = { kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 } as const;
const certified: Resources = { signer: { kind: 'issuerSigner' }, status };
const pinned: Resources = { signer: { kind: 'pinnedKey', algorithms: ['P-256'] }, status };
const issuerKey = {
  did: 'did:web:acme.example',
  verificationMethod: 'did:web:acme.example#k1',
  kmsKeyId: 'key-1',
  algorithm: 'P-256',
} as const;
const issuer = 'https://acme.example';
const revocable = { type: 'org.example.card', content: { revocable: true as const } };

describe('the series of status lists of a configuration', () => {
  it('is signed by the issuer signer where that one signs the credentials', () => {
    const series = { tokenType: 'jwt', size: 131_072, bits: 2, signer: { kind: 'issuerSigner', issuer } };
    expect(statusSeriesOf(certified, revocable, issuer)).toEqual(series);
    // A DID that such a configuration names does not sign.
    expect(statusSeriesOf(certified, { ...revocable, issuerKey }, issuer)).toEqual(series);
  });

  it('is another one for configurations with a DID under another domain, with which they end', () => {
    const at = (did: string) =>
      statusSeriesOf(certified, { ...revocable, issuerKey: { ...issuerKey, did } }, issuer)?.signer;
    expect(at('did:web:brand.example')).toEqual({ kind: 'issuerSigner', issuer, did: 'did:web:brand.example' });
    for (const did of ['did:web:acme.example:x', 'did:key:z6Mk'])
      expect(at(did)).toEqual({ kind: 'issuerSigner', issuer });
  });

  it('is signed by the pinned key of a DID where that one signs the credentials', () =>
    expect(statusSeriesOf(pinned, { ...revocable, issuerKey }, issuer)?.signer).toEqual({
      kind: 'pinnedKey',
      keyId: 'key-1',
      verificationMethod: 'did:web:acme.example#k1',
    }));

  it('is of the kind that the format chooses by the configuration', () => {
    const chosen: Resources = {
      ...pinned,
      status: ({ persist }) => ({ kind: 'listCredential', tokenType: persist ? 'bitstring' : 'jwt', size: 9 }),
    };
    const of = (content: { persist?: true }) =>
      statusSeriesOf(chosen, { type: 'Card', content: { revocable: true, ...content }, issuerKey }, issuer);
    expect([of({ persist: true })?.tokenType, of({})?.tokenType]).toEqual(['bitstring', 'jwt']);
  });

  it('is signed by the status list signer of the IACA, once that is known, where a document signer signs', () => {
    const documents: Resources = { signer: { kind: 'documentSigner' }, status: { ...status, tokenType: 'cose' } };
    expect(statusSeriesOf(documents, revocable, issuer)).toBeUndefined();
    const signer = {
      certificate: { iacaId: 'iaca-1', domains: ['brand.example', 'signer.example'] },
    } as unknown as IssuingSigner;
    expect(statusSeriesOf(documents, revocable, issuer, signer)).toMatchObject({
      tokenType: 'cose',
      signer: {
        kind: 'statusListSigner',
        issuer,
        iacaId: 'iaca-1',
        docType: 'org.example.card',
        domains: ['brand.example', 'signer.example'],
      },
    });
    const unnamed = { certificate: { iacaId: 'iaca-1' } } as IssuingSigner;
    expect(statusSeriesOf(documents, revocable, issuer, unnamed)?.signer).not.toHaveProperty('domains');
  });

  it('does not exist unless the configuration is revocable and the format has a status', () => {
    expect(statusSeriesOf(certified, { ...revocable, content: {} }, issuer)).toBeUndefined();
    expect(statusSeriesOf({ signer: pinned.signer }, { ...revocable, issuerKey }, issuer)).toBeUndefined();
  });
});
