import { generateKeyPairSync, sign } from 'node:crypto';
import { jest } from '@jest/globals';
import { BbsProofNotMade, type KeyAlgorithm, type SigningKeys } from '@attestry/keys';
import { Canonicalization, WELL_KNOWN_CONTEXTS } from '@attestry/linked-data';
import { createLogger } from '@attestry/service-kit';
import { LinkageCredentials } from './linkage-credentials.js';

const ORIGIN = 'https://acme.example';
const clock = { now: () => new Date('2026-03-01T10:00:00Z') };
const { privateKey } = generateKeyPairSync('ed25519');

const did = (name: string, algorithm: KeyAlgorithm) => ({
  did: `did:example:${name}`,
  registered: 0,
  keys: [
    { didDocumentKeyId: `did:example:${name}#0`, kmsKeyId: name, algorithm, purposes: ['assertionMethod' as const] },
  ],
});
const DIDS = [did('one', 'Bls12381G2'), did('two', 'Bls12381G2'), did('ed', 'Ed25519')];

describe('domain linkage credentials by BBS', () => {
  const canonicalization = new Canonicalization({ shared: WELL_KNOWN_CONTEXTS });
  afterAll(() => canonicalization.close());
  afterEach(() => void jest.restoreAllMocks());

  /** Issuers in the document, by the name of their DID. */
  const reader = (proveBbs: SigningKeys['proveBbs'], dids = DIDS, beforeLoad = () => {}) => {
    const loadSigner = async () => {
      beforeLoad();
      return { sign: (data: Uint8Array) => sign(null, data, privateKey) };
    };
    const signingKeys = { loadSigner, proveBbs } as unknown as SigningKeys;
    const linkage = new LinkageCredentials(signingKeys, canonicalization, clock, createLogger('silent'));
    return async () =>
      (await linkage.entries('tenant', dids, [ORIGIN])).map(({ issuer }) => issuer.replace('did:example:', ''));
  };

  it('are left out while their proof cannot be made, and the others are not [T25]', async () => {
    let isBusy = true;
    const read = reader(async (_tenant, keyId) => {
      if (isBusy && keyId === 'one') throw new BbsProofNotMade('no BBS proof was made');
      return Buffer.from('proof');
    });
    expect(await read()).toEqual(['two', 'ed']);
    isBusy = false;
    expect(await read()).toEqual(['one', 'two', 'ed']);
  });

  it('are not asked of an overloaded thread one after the other', async () => {
    let asked = 0;
    const read = reader(async () => {
      asked++;
      throw new BbsProofNotMade('no BBS proof was made');
    }, [...Array.from({ length: 50 }, (_, n) => did(`${n}`, 'Bls12381G2')), did('ed', 'Ed25519')]);
    expect(await read()).toEqual(['ed']);
    expect(asked).toBe(10);
  });

  it('are proven once, however many requests wait for them', async () => {
    const proven: string[] = [];
    const read = reader(async (_tenant, keyId) => {
      proven.push(keyId);
      return Buffer.from('proof');
    });
    const all = await Promise.all(Array.from({ length: 5 }, read));
    expect(all).toEqual(all.map(() => ['one', 'two', 'ed']));
    expect(proven).toEqual(['one', 'two']);
  });

  it('that a request has no time to start are made by the next one, and the others are not delayed [T25]', async () => {
    let time = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => time);
    const read = reader(async () => {
      time += 3001;
      return Buffer.from('proof');
    });
    expect(await read()).toEqual(['one', 'ed']);
    expect(await read()).toEqual(['one', 'two', 'ed']);
  });

  it('are made however long the others took before [T25]', async () => {
    let time = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => time);
    const slow = () => void (time += 3001);
    const read = reader(async () => Buffer.from('proof'), [did('ed', 'Ed25519'), did('one', 'Bls12381G2')], slow);
    expect(await read()).toEqual(['ed', 'one']);
  });
});
