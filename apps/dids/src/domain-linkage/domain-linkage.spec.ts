import type { DidKey } from '../did/did.events.js';
import { domainLinkage, PERIOD_MS, periodOf } from './domain-linkage.js';

const DID = 'did:web:acme.example';
const ORIGIN = 'https://acme.example';
const key = (algorithm: DidKey['algorithm'], ...purposes: DidKey['purposes']): DidKey => ({
  didDocumentKeyId: `${DID}#${algorithm}`,
  kmsKeyId: `kms-${algorithm}`,
  algorithm,
  purposes,
});
const registered = Date.parse('2026-03-01T10:00:00.750Z');
const period = periodOf(new Date(registered));
const linked = (keys: DidKey[]) => ({ did: DID, registered, keys });

describe('a domain linkage', () => {
  it('names DID and origin, from its registration to the end of the next period [T24]', () => {
    const made = domainLinkage(
      linked([key('P-256', 'assertionMethod'), key('Ed25519', 'assertionMethod')]),
      ORIGIN,
      period,
    );
    expect(made).toEqual({
      kmsKeyId: 'kms-Ed25519',
      suite: 'Ed25519Signature2018',
      verificationMethod: `${DID}#Ed25519`,
      created: '2026-03-01T10:00:00Z',
      credential: {
        '@context': [
          'https://www.w3.org/2018/credentials/v1',
          'https://identity.foundation/.well-known/did-configuration/v1',
        ],
        type: ['VerifiableCredential', 'DomainLinkageCredential'],
        issuer: DID,
        issuanceDate: '2026-03-01T10:00:00Z',
        expirationDate: new Date((period + 2) * PERIOD_MS).toISOString().replace('.000', ''),
        credentialSubject: { id: DID, origin: ORIGIN },
      },
    });
  });

  it('is replaced in the next period, and always valid for at least another period', () => {
    const keys = [key('Ed25519', 'assertionMethod')];
    const start = (period + 1) * PERIOD_MS;
    const next = domainLinkage(linked(keys), ORIGIN, period + 1)!;
    expect(Date.parse(next.created)).toBe(start);
    for (const moment of [registered, start - 1]) {
      expect(periodOf(new Date(moment))).toBe(period);
      const { expirationDate } = domainLinkage(linked(keys), ORIGIN, period)!.credential;
      expect(Date.parse(expirationDate) - moment).toBeGreaterThan(PERIOD_MS);
    }
    expect(periodOf(new Date(start))).toBe(period + 1);
  });

  it.each<[string, DidKey[]]>([
    ['has only a P-256 key', [key('P-256', 'assertionMethod')]],
    ['does not assert with its Ed25519 key', [key('Ed25519', 'authentication'), key('P-256', 'assertionMethod')]],
  ])('is a Data Integrity proof of the P-256 key of a DID that %s, with the context of such proofs [T160]', (_, keys) =>
    expect(domainLinkage(linked(keys), ORIGIN, period)).toMatchObject({
      kmsKeyId: 'kms-P-256',
      suite: 'ecdsa-rdfc-2019',
      verificationMethod: `${DID}#P-256`,
      credential: {
        '@context': [
          'https://www.w3.org/2018/credentials/v1',
          'https://identity.foundation/.well-known/did-configuration/v1',
          'https://w3id.org/security/data-integrity/v2',
        ],
      },
    }),
  );

  it('is a Data Integrity proof by bbs-2023 of a DID with a BLS12-381 key only, and never beside another key that asserts [T25]', () => {
    const bls = key('Bls12381G2', 'assertionMethod');
    expect(domainLinkage(linked([bls]), ORIGIN, period)).toMatchObject({
      kmsKeyId: 'kms-Bls12381G2',
      suite: 'bbs-2023',
      verificationMethod: `${DID}#Bls12381G2`,
      credential: {
        '@context': [
          'https://www.w3.org/2018/credentials/v1',
          'https://identity.foundation/.well-known/did-configuration/v1',
          'https://w3id.org/security/data-integrity/v2',
        ],
      },
    });
    for (const [algorithm, suite] of [
      ['Ed25519', 'Ed25519Signature2018'],
      ['P-256', 'ecdsa-rdfc-2019'],
    ] as const)
      expect(domainLinkage(linked([bls, key(algorithm, 'assertionMethod')]), ORIGIN, period)).toMatchObject({ suite });
  });

  it.each<[string, DidKey[]]>([
    ['a BLS12-381 key that is not an assertion method', [key('Bls12381G2', 'authentication')]],
    ['a P-256 key that is not an assertion method', [key('P-256', 'authentication')]],
    ['an Ed25519 key that is not an assertion method', [key('Ed25519', 'authentication')]],
    ['no key', []],
  ])('is not created with %s', (_, keys) => expect(domainLinkage(linked(keys), ORIGIN, period)).toBeUndefined());
});
