import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { base58 } from '@scure/base';
import { generateBls12381G2 } from './bls12381.js';
import type { PublicJwk } from '../vault/signing-keys.js';
import {
  InvalidKey,
  decodeBls12381G2Multikey,
  decodeDidJwk,
  decodeDidKey,
  decodeMultikey,
  encodeDidJwk,
  encodeDidKey,
  encodeMultikey,
  importPublicJwk,
  jwkThumbprint,
  keyOfDidUrl,
  x25519PrivateOf,
  x25519PublicOf,
} from './jwk.js';

const generated = (crv: 'P-256' | 'Ed25519' | 'X25519'): PublicJwk => {
  const pair =
    crv === 'P-256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : crv === 'Ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('x25519');
  return pair.publicKey.export({ format: 'jwk' }) as PublicJwk;
};
const littleEndian = (n: bigint): string =>
  Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse().toString('base64url');

describe('jwkThumbprint', () => {
  it('returns the RSA value of RFC 7638 §3.1', () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
    expect(jwkThumbprint({ kty: 'RSA', n, e: 'AQAB' })).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
  });

  it('returns the Ed25519 value of RFC 8037 A.3, whatever the order of members', () => {
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(jwkThumbprint({ x, crv: 'Ed25519', kty: 'OKP' })).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });
});

describe('did:key', () => {
  // From the test vectors of the did:key specification.
  it.each<[string, PublicJwk]>([
    [
      'did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv',
      {
        kty: 'EC',
        crv: 'P-256',
        x: 'igrFmi0whuihKnj9R3Om1SoMph72wUGeFaBbzG2vzns',
        y: 'efsX5b10x8yjyrj4ny3pGfLcY7Xby1KzgqOdqnsrJIM',
      },
    ],
    [
      'did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169',
      {
        kty: 'EC',
        crv: 'P-256',
        x: 'fyNYMN0976ci7xqiSdag3buk-ZCwgXU4kz9XNkBlNUI',
        y: 'hW2ojTNfH7Jbi8--CJUo3OCbH3y5n91g-IMA9MLMbTU',
      },
    ],
    [
      'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',
      { kty: 'OKP', crv: 'Ed25519', x: 'O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik' },
    ],
  ])('%s is read and written', (did, jwk) => {
    expect(decodeDidKey(did)).toEqual(jwk);
    expect(encodeDidKey(jwk)).toBe(did);
  });

  describe('as jwk_jcs-pub', () => {
    // Published by EBSI (did:key method for natural persons).
    const did =
      'did:key:z2dmzD81cgPx8Vki7JbuuMmFYrWPgYoytykUZ3eyqht1j9KbsEYvdrjxMjQ4tpnje9BDBTzuNDP3knn6qLZErzd4bJ5go2CChoPjd5GAH3zpFJP5fuwSk66U5Pq6EhF4nKnHzDnznEP8fX99nZGgwbAh1o7Gj1X52Tdhf7U4KTk66xsA5r';
    const x = 'ngy44T1vxAT6Di4nr-UaM9K3Tlnz9pkoksDokKFkmNc';
    const y = 'QCRfOKlSM31GTkb4JHx3nXB4G_jSPMsbdjzlkT_UpPc';
    const holding = (text: string, prefix = [0xd1, 0xd6, 0x03]) =>
      `did:key:z${base58.encode(Uint8Array.from([...prefix, ...Buffer.from(text)]))}`;
    const canonical = `{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`;

    it('is read for a P-256 key [T636]', () => {
      const publicJwk = { kty: 'EC', crv: 'P-256', x, y };
      expect(holding(canonical)).toBe(did);
      expect(decodeDidKey(did)).toEqual(publicJwk);
      expect(keyOfDidUrl(`${did}#${did.slice('did:key:'.length)}`)).toEqual({ did, publicJwk });
      for (let i = 0; i < 20; i++) {
        const own = generated('P-256');
        expect(decodeDidKey(holding(JSON.stringify(own, ['crv', 'kty', 'x', 'y'])))).toEqual(own);
      }
    });

    const form = 'the did:key must hold the members crv, kty, x and y of a P-256 key in canonical form (RFC 8785)';
    const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: 'O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik' };
    it.each([
      ['members in another order', `{"kty":"EC","crv":"P-256","x":"${x}","y":"${y}"}`, form],
      ['white space', canonical.replace(',', ', '), form],
      ['an escaped character', canonical.replace('P-256', 'P\\u002d256'), form],
      ['another member', canonical.replace('}', ',"z":1}'), form],
      ['a repeated member', canonical.replace('{', '{"y":1,'), form],
      ['text behind it', `${canonical}\n`, form],
      ['a key of another curve', `${JSON.stringify(ed25519, ['crv', 'kty', 'x'])}${' '.repeat(40)}`, form],
      ['a private key', canonical.replace('{', '{"d":"AA",'), 'a public key must not contain the private member d'],
      ['a point off the curve', canonical.replace(y, x), 'the P-256 key is not on its curve'],
      ['text that is no JSON', canonical.replace('{', '['), 'the did:key does not hold JSON'],
    ])('is refused with %s', (_, text, fault) => expect(faultOf(() => decodeDidKey(holding(text)))).toBe(fault));

    it('is refused with another prefix, and when it is too long', () => {
      expect(faultOf(() => decodeDidKey(holding(canonical, [0xd1, 0xd6, 0x04])))).toBe(
        'a multikey of this length must be a P-256 key as jwk_jcs-pub',
      );
      expect(faultOf(() => decodeDidKey(`did:key:z${'2'.repeat(4000)}`))).toMatch(/^a multikey must be z/);
    });
  });

  it('derives the X25519 key of the vector with the zero seed, public and private', () => {
    const ed25519 = decodeDidKey('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp');
    const x25519 = x25519PublicOf(ed25519);
    expect(encodeMultikey(x25519)).toBe('z6LShs9GGnqk85isEBzzshkuVWrVKsRp24GnDuHk8QWkARMW');
    const d = Buffer.from(x25519PrivateOf(new Uint8Array(32))).toString('base64url');
    const privateKey = createPrivateKey({ key: { ...x25519, d } as never, format: 'jwk' });
    expect(createPublicKey(privateKey).export({ format: 'jwk' })).toEqual(x25519);
  });

  // From the test vectors of the did:key specification (ed25519-x25519.json): seed, DID, X25519 key, its private half.
  it.each([
    [
      1,
      'z6MkjchhfUsD6mmvni8mCdXHw216Xrm9bQe2mBH1P5RDjVJG',
      'z6LSrHyXiPBhUbvPUtyUCdf32sniiMGPTAesgHrtEa4FePtr',
      'HBTcN2MrXNRj9xF9oi8QqYyuEPv3JLLjQKuEgW9oxVKP',
    ],
    [
      2,
      'z6MknGc3ocHs3zdPiJbnaaqDi58NGb4pk1Sp9WxWufuXSdxf',
      'z6LSkkqoZRC34AEpbkhZCqLDcHQVAxuLpQ7kC8XCXMVUfvjE',
      'ACa4PPJ1LnPNq1iwS33V3Akh7WtnC71WkKFZ9ccM6sX2',
    ],
    [
      3,
      'z6MkvqoYXQfDDJRv8L4wKzxYeuKyVZBfi9Qo6Ro8MiLH3kDQ',
      'z6LSiUo6AEDat8Ze4nQzDo67SGuHLLwsUGkxndHGUjsywHow',
      'FZrzd1osCnbK6y6MJzMBW1RcVfL524sNKhSbqRwMuwHT',
    ],
    [
      4,
      'z6MkwW6aqMnjgrhJXFUko3NnZPGzVpkNzhYK7yEhnsibmLwL',
      'z6LSrGb3qm4xMCEBjvwkLb2WEcXfTM94Tu1RyGCbT5wbg8i9',
      '8Zybi2bqQ8YB4uPm3iy2rkDCmbB4wkG2Y2ig5YAkgNdg',
    ],
  ])('derives the X25519 key of the vector with the seed %i', (last, multikey, agreement, agreementPrivate) => {
    const seed = new Uint8Array(32);
    seed[31] = last;
    expect(encodeMultikey(x25519PublicOf(decodeDidKey(`did:key:${multikey}`)))).toBe(agreement);
    expect(base58.encode(Uint8Array.from(x25519PrivateOf(seed)))).toBe(agreementPrivate);
  });

  // Another implementation: @digitalbazaar/ed25519-multikey, which brings no types.
  it('agrees with the multikeys and JWKs of Digital Bazaar', async () => {
    const multikeys = (await import('@digitalbazaar/ed25519-multikey' as string)) as {
      generate(options: { seed: Uint8Array }): Promise<{ publicKeyMultibase: string }>;
      from(key: object): Promise<{ publicKeyMultibase: string }>;
      fromJwk(options: { jwk: object }): Promise<{ publicKeyMultibase: string }>;
      toJwk(options: { keyPair: object }): Promise<PublicJwk>;
    };
    // The seed of the zero vector, and the private key of RFC 8037 A.1 with its public half of A.2.
    const zero = await multikeys.generate({ seed: new Uint8Array(32) });
    expect(`did:key:${zero.publicKeyMultibase}`).toBe('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp');
    const seed = Uint8Array.from(Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url'));
    const rfc8037: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
    const theirs = await multikeys.generate({ seed });
    expect(await multikeys.toJwk({ keyPair: theirs })).toEqual(rfc8037);
    expect(theirs.publicKeyMultibase).toBe(encodeMultikey(rfc8037));
    for (let i = 0; i < 20; i++) {
      const jwk = generated('Ed25519');
      expect((await multikeys.fromJwk({ jwk })).publicKeyMultibase).toBe(encodeMultikey(jwk));
      const type = 'Ed25519VerificationKey2018';
      const publicKeyBase58 = base58.encode(Uint8Array.from(Buffer.from(jwk.x, 'base64url')));
      expect((await multikeys.from({ type, publicKeyBase58 })).publicKeyMultibase).toBe(encodeMultikey(jwk));
    }
  });

  it('derives matching X25519 public and private keys for any seed', () => {
    for (let i = 0; i < 50; i++) {
      const ed = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
      const d = Buffer.from(x25519PrivateOf(Buffer.from(ed.d!, 'base64url'))).toString('base64url');
      const expected = x25519PublicOf({ kty: 'OKP', crv: 'Ed25519', x: ed.x! });
      // From PKCS#8 (RFC 8410) OpenSSL computes the public half itself.
      const pkcs8 = Buffer.concat([
        Buffer.from('302e020100300506032b656e04220420', 'hex'),
        Buffer.from(d, 'base64url'),
      ]);
      const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
      expect(createPublicKey(privateKey).export({ format: 'jwk' })).toEqual(expected);
    }
  });

  it('of X25519 accepts every x, also one that is no point of Ed25519', () => {
    const key = { kty: 'OKP', crv: 'X25519', x: Buffer.alloc(32, 2).toString('base64url') };
    expect(importPublicJwk(key).publicJwk).toEqual(key);
    expect(() => importPublicJwk({ ...key, crv: 'Ed25519' })).toThrow('the Ed25519 key is not on its curve');
  });

  it.each(['P-256', 'Ed25519', 'X25519'] as const)('%s keys are unchanged after encoding and decoding', (crv) => {
    for (let i = 0; i < 50; i++) {
      const jwk = generated(crv);
      expect(decodeMultikey(encodeMultikey(jwk))).toEqual(jwk);
    }
  });

  it.each([
    ['another base', 'did:key:u6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'],
    ['a cut key', 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooW'],
    ['a character outside base58', 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooW0'],
    ['secp256k1', 'did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme'],
    ['a fragment', 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp#x'],
    ['another method', 'did:web:example.com'],
  ])('refuses %s', (_, did) => expect(() => decodeDidKey(did)).toThrow(InvalidKey));
});

describe('did:jwk', () => {
  // The example of the did:jwk specification.
  const did =
    'did:jwk:eyJjcnYiOiJQLTI1NiIsImt0eSI6IkVDIiwieCI6ImFjYklRaXVNczNpOF91c3pFakoydHBUdFJNNEVVM3l6OTFQSDZDZEgyVjAiLCJ5IjoiX0tjeUxqOXZXTXB0bm1LdG00NkdxRHo4d2Y3NEk1TEtncmwyR3pIM25TRSJ9';
  const jwk: PublicJwk = {
    kty: 'EC',
    crv: 'P-256',
    x: 'acbIQiuMs3i8_uszEjJ2tpTtRM4EU3yz91PH6CdH2V0',
    y: '_KcyLj9vWMptnmKtm46GqDz8wf74I5LKgrl2GzH3nSE',
  };

  it('is read and written', () => {
    expect(decodeDidJwk(did)).toEqual(jwk);
    expect(encodeDidJwk(jwk)).toBe(did);
  });

  it('reads members in any order and drops those that are not part of the key', () => {
    const other = Buffer.from(JSON.stringify({ alg: 'ES256', ...jwk, use: 'sig' })).toString('base64url');
    expect(decodeDidJwk(`did:jwk:${other}`)).toEqual(jwk);
  });

  it.each([
    ['no JSON', `did:jwk:${Buffer.from('{').toString('base64url')}`],
    ['a private key', `did:jwk:${Buffer.from(JSON.stringify({ ...jwk, d: jwk.x })).toString('base64url')}`],
    ['nothing', 'did:jwk:'],
  ])('refuses %s', (_, bad) => expect(() => decodeDidJwk(bad)).toThrow(InvalidKey));
});

describe('keyOfDidUrl', () => {
  const jwk = generated('Ed25519');
  const key = encodeDidKey(jwk);

  it.each([
    ['did:key', key, key],
    ['did:key with its fragment', `${key}#${key.slice(8)}`, key],
    ['did:jwk', encodeDidJwk(jwk), encodeDidJwk(jwk)],
    ['did:jwk#0', `${encodeDidJwk(jwk)}#0`, encodeDidJwk(jwk)],
  ])('reads %s', (_, url, did) => expect(keyOfDidUrl(url)).toEqual({ did, publicJwk: jwk }));

  it.each([
    ['another fragment of a did:key', `${key}#${encodeMultikey(generated('Ed25519'))}`],
    ['an empty fragment', `${key}#`],
    ['another fragment of a did:jwk', `${encodeDidJwk(jwk)}#1`],
    ['did:web', 'did:web:example.com#key-1'],
  ])('refuses %s', (_, url) => expect(() => keyOfDidUrl(url)).toThrow(InvalidKey));
});

describe('importPublicJwk', () => {
  const ec = generated('P-256');
  const okp = generated('Ed25519');

  it.each([
    ['P-256', ec],
    ['Ed25519', okp],
    ['X25519', generated('X25519')],
  ])('accepts %s and returns its KeyObject', (_, jwk) => {
    const imported = importPublicJwk({ ...jwk, kid: 'k', alg: 'any' });
    expect(imported.publicJwk).toEqual(jwk);
    expect(imported.publicKey.export({ format: 'jwk' })).toEqual(jwk);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a list', [ec]],
    ['a string', 'key'],
    ['a private member', { ...ec, d: ec.x }],
    ['a private member without value', { ...ec, d: undefined }],
    ['a symmetric key', { kty: 'oct', k: 'AAAA' }],
    ['another curve', { ...ec, crv: 'P-384' }],
    ['kty and crv that differ', { ...okp, kty: 'EC' }],
    ['EC without y', { kty: 'EC', crv: 'P-256', x: ec.x }],
    ['OKP with y', { ...okp, y: ec.y }],
    ['a short x', { ...ec, x: ec.x.slice(0, 40) }],
    ['padding', { ...okp, x: `${okp.x}=` }],
    ['x that is no text', { ...okp, x: 5 }],
    ['a P-256 point off the curve', { ...ec, y: ec.x }],
    ['an Ed25519 point off the curve (y = 2)', { ...okp, x: littleEndian(2n) }],
    ['an Ed25519 y of p or more', { ...okp, x: littleEndian(2n ** 255n - 19n + 3n) }],
    ['the neutral Ed25519 point with the sign of x set', { ...okp, x: littleEndian(1n + 2n ** 255n) }],
    ['the neutral Ed25519 point', { ...okp, x: littleEndian(1n) }],
    ['an Ed25519 point of order 2', { ...okp, x: littleEndian(2n ** 255n - 20n) }],
    ['an Ed25519 point of order 4', { ...okp, x: littleEndian(0n) }],
    [
      'an Ed25519 point of order 8',
      {
        ...okp,
        x: Buffer.from('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 'hex').toString('base64url'),
      },
    ],
  ])('refuses %s', (_, jwk) => expect(() => importPublicJwk(jwk)).toThrow(InvalidKey));
});

/** Message of the error. */
const faultOf = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (!(error instanceof InvalidKey)) throw error;
    expect(error.name).toBe('InvalidKey');
    return error.message;
  }
  throw new Error('nothing was thrown');
};
const multikeyOf = (...bytes: number[]) => `z${base58.encode(Uint8Array.from(bytes))}`;
const filled = (length: number, byte: number) => Array.from({ length }, () => byte);

describe('the error', () => {
  const ec = generated('P-256');
  const okp = generated('Ed25519');
  const kind = 'the key must be P-256 (kty EC), Ed25519 or X25519 (kty OKP)';

  // Names of tests have no random keys: a test is found by its name in other processes.
  it.each(
    (
      [
        [null, 'a JWK must be an object'],
        [[ec], 'a JWK must be an object'],
        ['key', 'a JWK must be an object'],
        [{ ...ec, d: ec.x }, 'a public key must not contain the private member d'],
        ...['p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map((member): [unknown, string] => [
          { ...ec, [member]: 'AA' },
          `a public key must not contain the private member ${member}`,
        ]),
        [{ kty: 'oct' }, kind],
        [{ ...ec, crv: 'P-384' }, kind],
        [{ ...ec, kty: 'OKP' }, kind],
        [{ ...okp, kty: 'EC' }, kind],
        [{ ...okp, crv: 'Ed448' }, kind],
        [{ ...ec, x: undefined }, 'x is missing'],
        [{ ...ec, y: undefined }, 'y is missing'],
        [{ ...ec, x: ec.x.slice(0, 40) }, 'x must be 32 bytes in base64url'],
        [{ ...ec, y: `${ec.x}=` }, 'y must be 32 bytes in base64url'],
        [{ ...ec, y: ec.x }, 'the P-256 key is not on its curve'],
        [{ ...okp, x: 5 }, 'x is missing'],
        [{ ...okp, x: 'AA' }, 'x must be 32 bytes in base64url'],
        [{ ...okp, y: ec.y }, 'an Ed25519 key must not have y'],
        [{ ...okp, x: littleEndian(2n) }, 'the Ed25519 key is not on its curve'],
        [{ ...okp, x: littleEndian(1n) }, 'the Ed25519 key is of small order'],
      ] as [unknown, string][]
    ).map(([jwk, fault]) => [fault, jwk] as const),
  )('of a JWK names what is wrong: %s', (fault, jwk) => expect(faultOf(() => importPublicJwk(jwk))).toBe(fault));

  const characters = 'a multikey must be z followed by base58btc characters';
  const types = 'the multikey must be a P-256, Ed25519 or X25519 key';
  const offCurve = [...Buffer.from(littleEndian(2n), 'base64url')];
  it.each([
    ['u6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp', characters],
    [multikeyOf(0xed, 0x02, ...filled(32, 9)), types],
    [multikeyOf(0xee, 0x01, ...filled(32, 9)), types],
    [multikeyOf(0xec, 0x01, ...filled(31, 9)), types],
    [multikeyOf(0xec, 0x01, ...filled(33, 9)), types],
    [multikeyOf(0x80, 0x24, ...filled(32, 2)), types],
    [multikeyOf(0x80, 0x25, 2, ...filled(32, 9)), types],
    [multikeyOf(0x80, 0x24, 4, ...filled(32, 9)), 'the P-256 key must be compressed'],
    [multikeyOf(0x80, 0x24, 2, ...filled(32, 0xff)), 'the P-256 key is not on its curve'],
    [multikeyOf(0xed, 0x01, ...offCurve), 'the Ed25519 key is not on its curve'],
  ])('of the multikey %s names what is wrong', (multikey, fault) =>
    expect(faultOf(() => decodeMultikey(multikey))).toBe(fault),
  );

  it('of what is written as a multikey names the coordinate', () => {
    expect(faultOf(() => encodeMultikey({ ...ec, y: 'AA' }))).toBe('y must be 32 bytes in base64url');
    expect(faultOf(() => encodeMultikey({ ...ec, x: 'AA' }))).toBe('x must be 32 bytes in base64url');
    expect(faultOf(() => encodeMultikey({ kty: 'OKP', crv: 'Bls12381G2', x: okp.x }))).toBe(
      'x must be 96 bytes in base64url',
    );
  });

  const didJwk = encodeDidJwk(ec);
  const didKey = encodeDidKey(okp);
  const fragment = 'the fragment names no verification method of this DID';
  it.each(
    [
      ['did:web:example.com', 'not a did:jwk'],
      ['did:jwk:', 'not a did:jwk'],
      [`x${didJwk}`, 'not a did:jwk'],
      [`${didJwk}!`, 'not a did:jwk'],
      [`${didJwk}/path`, 'not a did:jwk'],
      ['did:jwk:ew', 'the did:jwk does not hold JSON'],
      [`${didJwk}#1`, fragment],
      [`${didKey}#`, fragment],
      [`${didKey}#0`, fragment],
    ].map(([url, fault]) => [fault!, url!] as const),
  )('of a DID URL names what is wrong: %s', (fault, url) => expect(faultOf(() => keyOfDidUrl(url))).toBe(fault));

  it('of a did:key that is none, and of keys that have no X25519 counterpart, names what is wrong', () => {
    expect(faultOf(() => decodeDidKey(encodeDidJwk(okp)))).toBe('not a did:key');
    expect(faultOf(() => x25519PublicOf(ec))).toBe('not an Ed25519 key');
    expect(faultOf(() => x25519PublicOf({ ...okp, x: 'AA' }))).toBe('x must be 32 bytes in base64url');
    expect(faultOf(() => x25519PublicOf({ ...okp, x: littleEndian(1n) }))).toBe('the Ed25519 key is of small order');
    expect(faultOf(() => x25519PrivateOf(new Uint8Array(31)))).toBe('an Ed25519 seed must have 32 bytes');
  });

  it('has the error of the library as its cause', () => {
    const reads = [
      () => importPublicJwk({ ...ec, y: ec.x }),
      () => importPublicJwk({ ...okp, x: littleEndian(2n) }),
      () => decodeMultikey(multikeyOf(0x80, 0x24, 2, ...filled(32, 0xff))),
      () => decodeDidJwk('did:jwk:ew'),
    ];
    for (const read of reads) expect(read).toThrow(expect.objectContaining({ cause: expect.anything() as Error }));
  });
});

describe('a BLS12-381 multikey', () => {
  const { d: _secret, ...jwk } = generateBls12381G2();
  const multikey = encodeMultikey(jwk);
  const bytes = [...base58.decode(multikey.slice(1))];
  const characters = 'a multikey must be z followed by base58btc characters';
  const type = 'the multikey must be a BLS12-381 key in G2';

  it('comes back as it went', () => expect(decodeBls12381G2Multikey(multikey)).toEqual(jwk));

  it.each([
    ['another base', `u${multikey.slice(1)}`, characters],
    ['something before', `x${multikey}`, characters],
    ['a character outside base58', `${multikey}0`, characters],
    ['a cut key', multikey.slice(0, 100), characters],
    ['a longer key', multikey.padEnd(142, '2'), characters],
    ['another type', multikeyOf(0xec, ...bytes.slice(1)), type],
    ['another second byte', multikeyOf(0xeb, 0x02, ...bytes.slice(2)), type],
    ['no point', multikeyOf(0xeb, 0x01, ...filled(96, 9)), type],
  ])('is refused with %s', (_what, text, fault) => expect(faultOf(() => decodeBls12381G2Multikey(text))).toBe(fault));
});
