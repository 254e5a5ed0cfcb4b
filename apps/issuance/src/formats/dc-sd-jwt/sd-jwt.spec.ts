import { createHash, generateKeyPairSync, hash, sign, verify, type KeyObject } from 'node:crypto';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import fc from 'fast-check';
import { pooledBytes, type PublicJwk } from '@attestry/keys';
import { INVALID, packedStatuses, setStatus } from '../../status-lists/status-list/packed-statuses.js';
import {
  STATUS_LIST_JWT_TYPE,
  statusListJwtClaims,
  tokenStatus,
} from '../../status-lists/status-list/token-status-list.js';
import { claimFault, ClaimNotDisclosable } from './claim-fault.js';
import { assembleSdJwt, prepareSdJwt, sdJwtHeader, type SdJwtCredential } from './sd-jwt.js';

interface KeyPair {
  jwk: PublicJwk;
  publicKey: KeyObject;
  sign(data: string): Buffer;
}
const keyPair = (): KeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    jwk: publicKey.export({ format: 'jwk' }) as unknown as PublicJwk,
    publicKey,
    sign: (data) => sign('sha256', Buffer.from(data), { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  };
};
const [issuer, holder, stranger] = [keyPair(), keyPair(), keyPair()];
const verifierOf = (key: KeyObject) => (data: string, signature: string) =>
  verify('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));

const claims = {
  given_name: 'Ada',
  birthdate: '1815-12-10',
  level: 3,
  passed: true,
  remark: null,
  address: { street_address: '12 St James’s Square', country: 'GB', geo: { lat: 51.5, lon: -0.1 } },
  nationalities: ['GB', 'FR'],
  degrees: [{ type: 'BSc', subjects: ['mathematics', 'poetry'] }, []],
  nothing: {},
};
const statusUri = 'https://acme.example/status-lists/1';
const credentialOf = (more: Partial<SdJwtCredential> = {}): SdJwtCredential => ({
  header: sdJwtHeader(['MIIBleaf']),
  iss: 'https://acme.example',
  vct: 'https://acme.example/types/1',
  issuedAt: new Date('2026-01-01T10:00:00Z'),
  validFrom: new Date('2026-01-01T10:00:00Z'),
  validUntil: new Date('2126-01-01T00:00:00Z'),
  holderKey: holder.jwk,
  claims,
  mappedClaims: Object.keys(claims).length,
  ...more,
});
const issue = (credential: SdJwtCredential = credentialOf(), key = issuer): string => {
  const prepared = prepareSdJwt(credential, pooledBytes);
  return assembleSdJwt(prepared, key.sign(prepared.signingInput));
};
const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
const payloadOf = (compact: string) => decoded(compact.split('.')[1]!) as Record<string, unknown> & { _sd?: string[] };
const disclosuresOf = (compact: string): string[] => compact.split('~').slice(1, -1);

/** A wallet and verifier that share nothing with the issuer but the standard. */
const library = (statusList?: string) =>
  new SDJwtVcInstance({
    hasher: (data, algorithm) =>
      createHash(algorithm.replace('-', ''))
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
    hashAlg: 'sha-256',
    saltGenerator: () => 'unused',
    verifier: verifierOf(issuer.publicKey),
    kbSigner: (data) => holder.sign(data).toString('base64url'),
    kbSignAlg: 'ES256',
    kbVerifier: (data, signature, payload) => {
      const { jwk } = (payload as unknown as { cnf: { jwk: PublicJwk } }).cnf;
      expect(jwk).toEqual(holder.jwk);
      return verifierOf(holder.publicKey)(data, signature);
    },
    statusListFetcher: () =>
      statusList === undefined ? Promise.reject(new Error('no list')) : Promise.resolve(statusList),
  });
const present = (compact: string, frame: object) =>
  library().present<Record<string, unknown>>(compact, frame, {
    kb: { payload: { iat: 1767261600, aud: 'https://verifier.example', nonce: 'n1' } },
  });
const verified = async (compact: string, statusList?: string) =>
  (await library(statusList).verify(compact, { keyBindingNonce: 'n1' })).payload as Record<string, unknown>;
const registered = {
  iss: 'https://acme.example',
  iat: 1767261600,
  nbf: 1767261600,
  exp: 4922899200,
  vct: 'https://acme.example/types/1',
  cnf: { jwk: holder.jwk },
};

describe('an SD-JWT VC', () => {
  it('is verified and read in full by an independent library', async () => {
    const { payload, header } = await library().verify(issue());
    expect(payload).toEqual({ ...registered, ...claims });
    expect(header).toEqual({
      alg: 'ES256',
      typ: 'dc+sd-jwt',
      x5c: ['MIIBleaf'],
    });
  });

  it.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['a claim', { given_name: true }, { given_name: 'Ada' }],
    ['a member of a claim', { address: { country: true } }, { address: { country: 'GB' } }],
    ['a member of a member', { address: { geo: { lat: true } } }, { address: { geo: { lat: 51.5 } } }],
    ['an element of an array', { nationalities: { 1: true } }, { nationalities: ['FR'] }],
    [
      'an element within an element',
      { degrees: { 0: { subjects: { 1: true } } } },
      { degrees: [{ subjects: ['poetry'] }] },
    ],
    ['an empty value', { nothing: true, remark: true }, { nothing: {}, remark: null }],
  ])('discloses %s with a key binding', async (_, frame, disclosed) => {
    const presentation = await present(issue(), frame);
    expect(await verified(presentation)).toEqual({ ...registered, ...disclosed });
  });

  it('is refused with a changed disclosure, another signature or another holder', async () => {
    const compact = issue();
    const [jwt, first = '', ...others] = compact.split('~');
    const changed = Buffer.from(JSON.stringify(['salt', 'given_name', 'Eve'])).toString('base64url');
    await expect(library().verify([jwt, changed, ...others].join('~'))).resolves.not.toMatchObject({
      payload: { given_name: 'Eve' },
    });
    expect(first).not.toBe('');
    await expect(library().verify(issue(credentialOf(), stranger))).rejects.toThrow('Invalid JWT Signature');
    const presentation = await present(issue(), { given_name: true });
    const foreign = presentation.slice(0, presentation.lastIndexOf('.') + 1);
    await expect(verified(`${foreign}${stranger.sign('x').toString('base64url')}`)).rejects.toThrow(
      'Invalid JWT Signature',
    );
  });

  it('fails at the independent library once it is revoked', async () => {
    const compact = issue(credentialOf({ status: tokenStatus({ uri: statusUri, index: 77 }) }));
    const listWith = async (index: number) => {
      const statuses = packedStatuses(1024, 2);
      setStatus(statuses, 2, index, INVALID);
      const times = { issuedAt: new Date('2026-01-01'), expiresAt: new Date('2126-01-01'), timeToLive: 300 };
      const encoded = [
        { alg: 'ES256', typ: STATUS_LIST_JWT_TYPE },
        await statusListJwtClaims({ uri: statusUri, bits: 2, statuses, ...times }),
      ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
      return `${encoded.join('.')}.${issuer.sign(encoded.join('.')).toString('base64url')}`;
    };
    await expect(library(await listWith(76)).verify(compact)).resolves.toMatchObject({
      payload: { status: { status_list: { idx: 77, uri: statusUri } } },
    });
    await expect(library(await listWith(77)).verify(compact)).rejects.toThrow('Status is not valid');
  });

  it('has registered claims in plain text and all mapped claims as digests', () => {
    const compact = issue(
      credentialOf({ vctIntegrity: 'sha256-x', status: tokenStatus({ uri: statusUri, index: 1 }) }),
    );
    const { _sd, ...payload } = payloadOf(compact);
    expect(payload).toEqual({
      ...registered,
      'vct#integrity': 'sha256-x',
      status: { status_list: { idx: 1, uri: statusUri } },
      _sd_alg: 'sha-256',
    });
    expect(_sd).toHaveLength(9);
    expect(compact.endsWith('~')).toBe(true);
    const names = disclosuresOf(compact).map((disclosure) => (decoded(disclosure) as unknown[]).at(-2));
    expect(names).not.toEqual(expect.arrayContaining(['iss']));
  });

  it('has the times in whole seconds, and no exp when it does not expire', () => {
    const payload = payloadOf(issue(credentialOf({ validUntil: undefined, issuedAt: new Date(1_700_000_000_999) })));
    expect(payload).toMatchObject({ iat: 1_700_000_000, nbf: 1767261600 });
    expect(payload).not.toHaveProperty('exp');
  });

  it('has only the public members of the holder key', () => {
    const holderKey = { ...holder.jwk, d: 'secret', kid: 'linkable' };
    expect(payloadOf(issue(credentialOf({ holderKey })))['cnf']).toEqual({ jwk: holder.jwk });
    const okp: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x: 'abc' };
    expect(payloadOf(issue(credentialOf({ holderKey: okp })))['cnf']).toEqual({ jwk: okp });
  });

  it('has a new salt of 128 bits in every disclosure', () => {
    const disclosures = [issue(), issue()].flatMap(disclosuresOf);
    const salts = disclosures.map((disclosure) => (decoded(disclosure) as string[])[0]!);
    expect(new Set(salts).size).toBe(2 * 22);
    expect(salts.every((salt) => Buffer.from(salt, 'base64url').length === 16)).toBe(true);
  });

  it('fills up the digests to the number of mapped claims', () => {
    const digests = (of: Record<string, unknown>, mappedClaims: number) =>
      payloadOf(issue(credentialOf({ claims: of, mappedClaims })))._sd;
    for (const some of [{ a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2, c: { d: 1 } }]) {
      const found = digests(some, 3)!;
      expect(found).toHaveLength(3);
      expect(new Set(found).size).toBe(3);
      for (const digest of found) expect(Buffer.from(digest, 'base64url')).toHaveLength(32);
    }
    expect(digests({ a: 1, b: 2 }, 1)).toHaveLength(2);
  });

  it('has no decoys within values', () => {
    const compact = issue(credentialOf({ claims: { a: { b: 1 }, c: [1, 2] }, mappedClaims: 10 }));
    const values = disclosuresOf(compact).map((disclosure) => (decoded(disclosure) as unknown[]).at(-1));
    expect(values.filter((value) => typeof value === 'object')).toEqual([
      { _sd: [expect.any(String)] },
      [{ '...': expect.any(String) as string }, { '...': expect.any(String) as string }],
    ]);
  });

  it('has neither digests nor decoys without claims', () => {
    const compact = issue(credentialOf({ claims: {}, mappedClaims: 5 }));
    expect(payloadOf(compact)).toEqual(registered);
    expect(compact.split('~')).toEqual([expect.any(String), '']);
  });

  it('has its digests in an order without relation to that of the claims', () => {
    const positions = new Map<number, number>();
    for (let run = 0; run < 400; run++) {
      const compact = issue(credentialOf({ claims: { a: 1, b: 2, c: 3, d: 4 }, mappedClaims: 4 }));
      const first = disclosuresOf(compact).find((disclosure) => (decoded(disclosure) as string[])[1] === 'a')!;
      const position = payloadOf(compact)._sd!.indexOf(hash('sha256', first, 'base64url'));
      positions.set(position, (positions.get(position) ?? 0) + 1);
    }
    expect([...positions.keys()].sort()).toEqual([0, 1, 2, 3]);
    // Binomial, mean 100, standard deviation 8.7.
    for (const count of positions.values()) expect(Math.abs(count - 100)).toBeLessThan(50);
  });

  // A name of Object.prototype is an ordinary member here, but not in the library.
  const name = fc.string({ minLength: 1 }).filter((text) => claimFault({ [text]: 1 }) === undefined && !(text in {}));
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: 'grapheme' }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      fc.array(tie('value'), { maxLength: 4 }),
    ),
  })).value;
  it('gives any claims back', () =>
    fc.assert(
      fc.asyncProperty(fc.dictionary(name, json, { maxKeys: 5, noNullPrototype: true }), async (of) => {
        const { payload } = await library().verify(issue(credentialOf({ claims: of })));
        expect(payload).toEqual({ ...registered, ...of });
      }),
      { numRuns: 100 },
    ));
});

describe('claims that cannot be selectively disclosed', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
  it.each<[string, Record<string, unknown>]>([
    ...[
      'iss',
      'aud',
      'iat',
      'nbf',
      'exp',
      'cnf',
      'vct',
      'vct#integrity',
      'aka_vcts',
      'status',
      '_sd',
      '...',
      '_sd_alg',
    ].map((claim): [string, Record<string, unknown>] => [
      `${claim} is a reserved name: ${claim} ${/^[_.]/.test(claim) ? 'has a meaning of its own in an SD-JWT' : 'is set by the platform, and never selectively disclosable'}`,
      { given_name: 'Ada', [claim]: 1 },
    ]),
    [
      'address must not have a member with the reserved name _sd, which has a meaning of its own in an SD-JWT',
      { address: { _sd: [] } },
    ],
    [
      'address must not have a member with the reserved name ..., which has a meaning of its own in an SD-JWT',
      { address: [1, { a: { '...': 'x' } }] },
    ],
    [
      'address must not have a member with the reserved name _sd_alg, which has a meaning of its own in an SD-JWT',
      { a: 1, address: { b: [{ _sd_alg: 'sha-256' }] } },
    ],
    [
      'list must not make claims of more than 1000 values in total',
      { a: new Array(500).fill(0), list: new Array(499).fill(0) },
    ],
    ['a must not nest deeper than 32 levels', { a: deep(32) }],
  ])('are refused: %s', (message, of) => {
    expect(() => issue(credentialOf({ claims: of }))).toThrow(ClaimNotDisclosable);
    expect(() => issue(credentialOf({ claims: of }))).toThrow(message);
    const fault = claimFault(of)!;
    expect(`${fault.claim} ${fault.msg}`).toBe(message);
    expect(new ClaimNotDisclosable(fault).fault).toBe(fault);
  });

  it.each<[string, Record<string, unknown>]>([
    ['the largest number of values', { a: new Array(499).fill(0), list: new Array(499).fill(0) }],
    ['the deepest claim', { a: deep(31) }],
    ['registered names within a claim, and sub', { sub: 'x', owner: { iss: 'x', exp: 1, status: 'active' } }],
    ['a text that reads like a digest', { a: '_sd', b: ['...'] }],
  ])('do not include %s', async (_, of) => {
    expect(claimFault(of)).toBeUndefined();
    expect((await library().verify(issue(credentialOf({ claims: of })))).payload).toMatchObject(of);
  });
});
