import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { base32nopad } from '@scure/base';
import { cdeEncodeOptions, decode, encode, Tag } from 'cbor2';
import fc from 'fast-check';
import { ClaimFault } from './claim-fault.js';
import * as cwts from './cwt.js';
import type { CwtClaims, CwtFacts, SemanticCwtClaims } from './cwt.js';
import type { SigningInput } from './signing-input.js';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
type UnsignedCwt = CwtFacts & CwtClaims;
type UnsignedSemanticCwt = CwtFacts & SemanticCwtClaims;
const prepareCwt = (cwt: UnsignedCwt) => cwts.prepareCwt(cwt, cwt);
const prepareSemanticCwt = (cwt: UnsignedSemanticCwt) => cwts.prepareSemanticCwt(cwt, cwt);
const raw = (key: typeof publicKey | typeof privateKey) => ({ key, dsaEncoding: 'ieee-p1363' as const });
const facts = {
  issuer: 'did:web:acme.example',
  keyFragment: 'k1234567',
  subject: 'did:jwk:abc',
  credentialId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
  validity: { signed: new Date('2026-01-31T12:00:00Z'), validFrom: new Date('2026-01-31T12:00:00Z') },
};
const cwt = (changes: Partial<UnsignedCwt> = {}): UnsignedCwt => ({
  ...facts,
  type: 'CourseCredential',
  claims: { name: 'Ada', level: 3, passed: true },
  ...changes,
});
const semantic = (changes: Partial<UnsignedSemanticCwt> = {}): UnsignedSemanticCwt => ({
  ...facts,
  contexts: ['https://acme.example/context'],
  types: ['CourseCredential'],
  credentialSubject: { id: 'did:jwk:abc', name: 'Ada', marks: [{ of: 'x', is: 1.5 }] },
  ...changes,
});
const ISSUED_AT = 1769860800;

const issue = (prepared: SigningInput): string =>
  prepared.assemble(sign('sha256', prepared.toBeSigned, raw(privateKey)));
const parse = (credential: string, prefix: string) => {
  expect(credential.slice(0, prefix.length)).toBe(prefix);
  expect(credential.slice(prefix.length)).toMatch(/^[A-Z2-7]+$/);
  const bytes = base32nopad.decode(credential.slice(prefix.length));
  const message = decode<Tag>(bytes, { ignoreGlobalTags: true });
  expect(message.tag).toBe(18);
  const [header, unprotected, payload, signature] = message.contents as [Uint8Array, object, Uint8Array, Uint8Array];
  const claims = decode<Map<number | string, unknown>>(payload, { ignoreGlobalTags: true, preferMap: true });
  const vc = decode<Record<string, unknown>>(payload, { ignoreGlobalTags: true, preferMap: false });
  return { header, unprotected, payload, signature, claims, vc };
};

describe('a CWT credential', () => {
  it('is a COSE_Sign1 with tag 18 whose signature verifies over the structure of RFC 9052', () => {
    const { header, unprotected, payload, signature } = parse(issue(prepareCwt(cwt())), 'CSC:/1/');
    expect(Buffer.from(header).toString('hex')).toBe(`a20448${Buffer.from('k1234567').toString('hex')}0126`);
    expect(unprotected).toEqual({});
    const structure = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
    expect(verify('sha256', structure, raw(publicKey), signature)).toBe(true);
  });

  it('has the claims of RFC 8392 under integers, its own under text', () => {
    const { claims } = parse(issue(prepareCwt(cwt())), 'CSC:/1/');
    expect(claims).toEqual(
      new Map<number | string, unknown>([
        [1, 'did:web:acme.example'],
        [2, 'did:jwk:abc'],
        [5, ISSUED_AT],
        [6, ISSUED_AT],
        [7, new Uint8Array(Buffer.from('6ba7b8109dad41d180b400c04fd430c8', 'hex'))],
        [-65539, 'CourseCredential'],
        ['name', 'Ada'],
        ['level', 3],
        ['passed', true],
      ]),
    );
  });

  it('has its revocation list in a CWT with the same header, without text around it', () => {
    const bitstring = Buffer.from('compressed');
    const uri = 'https://acme.example/revocation-lists/1';
    const prepared = cwts.prepareRevocationList(facts, {
      ...{ uri, bitstring },
      issuedAt: new Date('2026-01-31T12:00:00.999Z'),
      expiresAt: new Date('2026-01-31T13:00:00Z'),
    });
    const bytes = prepared.assemble(sign('sha256', prepared.toBeSigned, raw(privateKey)));
    const { header, unprotected, claims, payload, signature } = parse(`x${base32nopad.encode(bytes)}`, 'x');
    expect(Buffer.from(header).toString('hex')).toBe(`a20448${Buffer.from('k1234567').toString('hex')}0126`);
    expect(unprotected).toEqual({});
    expect([...claims]).toEqual([
      [1, 'did:web:acme.example'],
      [2, uri],
      [4, ISSUED_AT + 3600],
      [6, ISSUED_AT],
      [-65538, new Uint8Array(bitstring)],
    ]);
    const structure = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
    expect(verify('sha256', structure, raw(publicKey), signature)).toBe(true);
  });

  it('has exp, the status list and the revocation list when they are given', () => {
    const { claims } = parse(
      issue(
        prepareCwt(
          cwt({
            validity: {
              ...facts.validity,
              validFrom: new Date('2026-02-01T00:00:00Z'),
              validUntil: new Date('2027-01-31T00:00:00Z'),
            },
            status: { index: 5, uri: 'https://acme.example/lists/1/token' },
            revocation: { index: 6, uri: 'https://acme.example/revocation-lists/1' },
          }),
        ),
      ),
      'CSC:/1/',
    );
    expect([claims.get(4), claims.get(5), claims.get(6)]).toEqual([1801353600, ISSUED_AT + 43_200, ISSUED_AT]);
    const status = claims.get(65535) as Map<string, Map<string, unknown>>;
    expect([...status.get('status_list')!]).toEqual([
      ['idx', 5],
      ['uri', 'https://acme.example/lists/1/token'],
    ]);
    expect(claims.get(-65537)).toEqual(
      new Map<number, unknown>([
        [2, 6],
        [3, 'https://acme.example/revocation-lists/1'],
      ]),
    );
  });

  it('has claims that are encoded as another library does', () => {
    const value = fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (given) => {
        const claims = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
        const { payload } = parse(issue(prepareCwt(cwt({ claims }))), 'CSC:/1/');
        const decoded = decode(payload, { preferMap: true });
        expect(Buffer.from(encode(decoded, cdeEncodeOptions))).toEqual(Buffer.from(payload));
        for (const name of Object.keys(claims))
          expect((decoded as Map<string, unknown>).get(name)).toEqual(claims[name]);
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, unknown, string]>([
    ['an object', {}, 'address must be a boolean, a string or a number, not an object'],
    ['an array', [], 'address must be a boolean, a string or a number, not an array'],
    ['null', null, 'address must be a boolean, a string or a number, not null'],
    ['NaN', NaN, 'address must be a boolean, a string or a number, not NaN or infinite'],
  ])('refuses a claim that is %s', (_, address, message) => {
    expect(() => prepareCwt(cwt({ claims: { address } }))).toThrow(ClaimFault);
    expect(() => prepareCwt(cwt({ claims: { address } }))).toThrow(new Error(message));
  });
});

describe('a Semantic CWT credential', () => {
  it('has the credential under vc, with the context and type of the data model first', () => {
    const { claims, vc, header } = parse(issue(prepareSemanticCwt(semantic())), 'CSS:/1/');
    expect([...claims.keys()]).toEqual([1, 2, 5, 6, 7, 'vc']);
    expect(Buffer.from(header).toString('hex')).toMatch(/^a20448.{16}0126$/);
    const decoded = vc instanceof Map ? (vc.get('vc') as unknown) : vc['vc'];
    expect(decoded).toEqual({
      version: '1.0.0',
      '@context': ['https://www.w3.org/2018/credentials/v1', 'https://acme.example/context'],
      type: ['VerifiableCredential', 'CourseCredential'],
      credentialSubject: { id: 'did:jwk:abc', name: 'Ada', marks: [{ of: 'x', is: 1.5 }] },
    });
  });

  it('refuses a subject that JSON cannot express', () => {
    const prepare = () => prepareSemanticCwt(semantic({ credentialSubject: { name: ['\ud800'] } }));
    expect(prepare).toThrow(ClaimFault);
    expect(prepare).toThrow(
      'name must consist of JSON values with well-formed text, not a string with a lone surrogate',
    );
  });
});
