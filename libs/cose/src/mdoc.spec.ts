import { createHash, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { cdeEncodeOptions, decode, encode, Tag } from 'cbor2';
import { ClaimFault } from './claim-fault.js';
import { KeyNotSupported, type EcPublicJwk } from './cose-key.js';
import { prepareMdoc, type MdocElement, type UnsignedMdoc } from './mdoc.js';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const deviceKey = { kty: 'EC', crv: 'P-256', x: jwk.x!, y: jwk.y! };
const documentSigner = randomBytes(300);
const raw = (key: typeof publicKey | typeof privateKey) => ({ key, dsaEncoding: 'ieee-p1363' as const });

const element = (value: unknown, type: MdocElement['type'] = 'string'): MdocElement => ({ value, type });
const mdoc = (changes: Partial<UnsignedMdoc> = {}): UnsignedMdoc => ({
  docType: 'org.example.card',
  namespaces: {
    'org.example.1': {
      name: element('Ada'),
      birth_date: element('1990-12-10', 'date'),
      portrait: element('AQID', 'binary'),
    },
    'org.example.2': { level: element(3, 'number') },
  },
  deviceKey,
  validity: {
    signed: new Date('2026-01-31T12:00:00Z'),
    validFrom: new Date('2026-02-01T00:00:00Z'),
    validUntil: new Date('2027-01-31T00:00:00Z'),
  },
  documentSigner,
  random: randomBytes,
  ...changes,
});
const issue = (unsigned: UnsignedMdoc): string => {
  const prepared = prepareMdoc(unsigned);
  return prepared.assemble(sign('sha256', prepared.toBeSigned, raw(privateKey)));
};

// A Buffer would be decoded to Buffers, which the library encodes as objects.
const read = <T>(bytes: Uint8Array): T => decode<T>(new Uint8Array(bytes), { ignoreGlobalTags: true });
interface Item {
  digestID: number;
  random: Uint8Array;
  elementIdentifier: string;
  elementValue: unknown;
}
const parse = (credential: string) => {
  const { nameSpaces, issuerAuth } = read<{
    nameSpaces: Record<string, Tag[]>;
    issuerAuth: [Uint8Array, Map<number, Uint8Array>, Uint8Array, Uint8Array];
  }>(Buffer.from(credential, 'base64url'));
  const [header, unprotected, payload, signature] = issuerAuth;
  const wrapped = read<Tag>(payload);
  const security = read<Record<string, unknown>>(wrapped.contents as Uint8Array);
  const items = Object.entries(nameSpaces).flatMap(([namespace, tags]) =>
    tags.map((tag) => ({
      namespace,
      encoded: encode(tag, cdeEncodeOptions),
      bytes: tag.contents as Uint8Array,
      item: read<Item>(tag.contents as Uint8Array),
    })),
  );
  return { header, unprotected, payload, signature, wrapped, security, items };
};

describe('an IssuerSigned of ISO/IEC 18013-5', () => {
  it('is unpadded base64url with nothing but name spaces and issuerAuth', () => {
    const credential = issue(mdoc());
    expect(credential).toMatch(/^[\w-]+$/);
    expect(Object.keys(read<object>(Buffer.from(credential, 'base64url')))).toEqual(['issuerAuth', 'nameSpaces']);
  });

  it('has a mobile security object of version 1.0 inside of tag 24', () => {
    const { security, wrapped } = parse(issue(mdoc()));
    expect(wrapped.tag).toBe(24);
    expect(security).toEqual({
      version: '1.0',
      digestAlgorithm: 'SHA-256',
      docType: 'org.example.card',
      valueDigests: expect.anything() as unknown,
      deviceKeyInfo: {
        deviceKey: new Map<number, unknown>([
          [1, 2],
          [-1, 1],
          [-2, new Uint8Array(Buffer.from(deviceKey.x, 'base64url'))],
          [-3, new Uint8Array(Buffer.from(deviceKey.y, 'base64url'))],
        ]),
      },
      validityInfo: {
        signed: new Tag(0, '2026-01-31T12:00:00Z'),
        validFrom: new Tag(0, '2026-02-01T00:00:00Z'),
        validUntil: new Tag(0, '2027-01-31T00:00:00Z'),
      },
    });
  });

  it('has the digest of each item with its tag, under its digest id', () => {
    const { security, items } = parse(issue(mdoc()));
    const valueDigests = security['valueDigests'] as Record<string, Map<number, Uint8Array>>;
    expect(items.map(({ namespace, item }) => [namespace, item.elementIdentifier])).toEqual([
      ['org.example.1', 'name'],
      ['org.example.1', 'birth_date'],
      ['org.example.1', 'portrait'],
      ['org.example.2', 'level'],
    ]);
    for (const { namespace, encoded, item } of items) {
      const digest = createHash('sha256').update(encoded).digest();
      expect(Buffer.from(valueDigests[namespace]!.get(item.digestID)!)).toEqual(digest);
    }
    expect(Object.values(valueDigests).map(({ size }) => size)).toEqual([3, 1]);
  });

  it('is prepared with its digests by element, and the hash of its mobile security object', () => {
    const prepared = prepareMdoc(mdoc());
    const { payload, items } = parse(prepared.assemble(sign('sha256', prepared.toBeSigned, raw(privateKey))));
    expect(Buffer.from(prepared.msoHash)).toEqual(createHash('sha256').update(payload).digest());
    for (const { namespace, encoded, item } of items)
      expect(prepared.digests.get(namespace)!.get(item.elementIdentifier)).toEqual({
        digestID: item.digestID,
        digest: createHash('sha256').update(encoded).digest(),
      });
    expect([...prepared.digests.values()].map(({ size }) => size)).toEqual([3, 1]);
  });

  it('has a salt of 32 bytes for each item, and digest ids in random order', () => {
    const parsed = Array.from({ length: 40 }, () => parse(issue(mdoc())).items.map(({ item }) => item));
    const salts = parsed.flat().map(({ random }) => Buffer.from(random).toString('hex'));
    expect(new Set(salts).size).toBe(160);
    expect(new Set(salts.map(({ length }) => length))).toEqual(new Set([64]));
    const orders = parsed.map((items) => items.slice(0, 3).map(({ digestID }) => digestID));
    for (const order of orders) expect(order.toSorted()).toEqual([0, 1, 2]);
    expect(new Set(orders.map((order) => order.join())).size).toBeGreaterThan(2);
  });

  it('is signed with ES256, which is protected, and shows only the certificate of the signer, which is not', () => {
    const { header, unprotected, payload, signature } = parse(issue(mdoc()));
    expect(Buffer.from(header).toString('hex')).toBe('a10126');
    expect(unprotected).toEqual(new Map([[33, new Uint8Array(documentSigner)]]));
    const structure = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
    expect(verify('sha256', structure, raw(publicKey), signature)).toBe(true);
  });

  it('is deterministic at each level: another library encodes the same bytes', () => {
    const credential = issue(mdoc({ status: { index: 70_000, uri: 'https://acme.example/lists/1/token' } }));
    const again = (bytes: Uint8Array) => Buffer.from(encode(read(bytes), cdeEncodeOptions)).toString('hex');
    const { wrapped, items } = parse(credential);
    for (const bytes of [
      Buffer.from(credential, 'base64url'),
      wrapped.contents as Uint8Array,
      ...items.map(({ bytes }) => bytes),
    ])
      expect(again(bytes)).toBe(Buffer.from(bytes).toString('hex'));
  });

  it('refers to its identifier list when it has one', () => {
    const [id, uri] = [new Uint8Array(16).fill(7), 'https://acme.example/lists/1/token'];
    const { security } = parse(issue(mdoc({ status: { id, uri } })));
    expect(security['status']).toEqual({ identifier_list: { id, uri } });
  });

  it('refers to its status list when it has one', () => {
    const { security } = parse(issue(mdoc({ status: { index: 5, uri: 'https://acme.example/lists/1/token' } })));
    expect(security['status']).toEqual({ status_list: { idx: 5, uri: 'https://acme.example/lists/1/token' } });
  });

  it('has no namespace without elements', () => {
    const { security, items } = parse(issue(mdoc({ namespaces: { a: {}, b: { name: element('Ada') } } })));
    expect(Object.keys(security['valueDigests'] as object)).toEqual(['b']);
    expect(items.map(({ namespace }) => namespace)).toEqual(['b']);
  });

  it('has full-dates in the driving privileges of an mDL, and only there', () => {
    const privileges = [{ vehicle_category_code: 'B', issue_date: '2020-01-31', expiry_date: 'unlimited' }, 'A'];
    const namespaces = {
      'org.iso.18013.5.1': { driving_privileges: element(privileges, 'array') },
      'org.example.1': { driving_privileges: element(privileges, 'array') },
    };
    const { items } = parse(issue(mdoc({ namespaces })));
    expect(Object.fromEntries(items.map(({ namespace, item }) => [namespace, item.elementValue]))).toEqual({
      'org.iso.18013.5.1': [{ ...(privileges[0] as object), issue_date: new Tag(1004, '2020-01-31') }, 'A'],
      'org.example.1': privileges,
    });
  });

  it.each<[string, Partial<UnsignedMdoc>, string]>([
    ['no element', { namespaces: { a: {} } }, 'namespaces must have at least one element with a value'],
    ['no namespace', { namespaces: {} }, 'namespaces must have at least one element with a value'],
    ['a value of another type', { namespaces: { a: { b: element(1) } } }, 'a b must be a string, not a number'],
    [
      'a namespace that UTF-8 has not',
      { namespaces: { '\ud800': { b: element('x') } } },
      'namespaces must be well-formed text, not a string with a lone surrogate',
    ],
    [
      'an identifier that UTF-8 has not',
      { namespaces: { a: { '\ud800': element('x') } } },
      'a must have element identifiers of well-formed text, not a string with a lone surrogate',
    ],
  ])('is refused with %s', (_, changes, message) => {
    expect(() => prepareMdoc(mdoc(changes))).toThrow(ClaimFault);
    expect(() => prepareMdoc(mdoc(changes))).toThrow(new Error(message));
  });

  it('is refused for a device key that is not on P-256', () => {
    const ed25519: EcPublicJwk = { kty: 'OKP', crv: 'Ed25519', x: deviceKey.x };
    expect(() => prepareMdoc(mdoc({ deviceKey: ed25519 }))).toThrow(KeyNotSupported);
  });
});
