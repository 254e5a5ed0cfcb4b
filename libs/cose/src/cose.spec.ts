import { generateKeyPairSync } from 'node:crypto';
import { encodeCbor } from './cbor.js';
import { coseKey, KeyNotSupported } from './cose-key.js';
import { assembleSign1, encodeSigStructure } from './cose-sign1.js';

describe('COSE_Sign1', () => {
  it('signs the structure of RFC 9052 §4.4', () => {
    const structure = encodeSigStructure(Buffer.from('a10126', 'hex'), Buffer.from('This is the content.'));
    // RFC 9052 Appendix C.2.1 has the same members, with external data.
    expect(Buffer.from(structure).toString('hex')).toBe(
      '846a5369676e61747572653143a101264054546869732069732074686520636f6e74656e742e',
    );
  });

  it('is four members in this order', () => {
    const [header, payload, signature] = [Buffer.of(0xa0), Buffer.of(1), Buffer.alloc(64, 7)];
    expect(assembleSign1(header, new Map(), payload, signature)).toEqual([header, new Map(), payload, signature]);
  });

  it.each([63, 65, 70, 0])('refuses a signature of %i bytes, such as one in DER', (length) => {
    const assemble = () => assembleSign1(Buffer.of(0xa0), new Map(), Buffer.of(1), Buffer.alloc(length));
    expect(assemble).toThrow('an ES256 signature is raw r and s, 64 bytes');
  });
});

describe('COSE_Key', () => {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const key = { kty: 'EC', crv: 'P-256', x: jwk.x!, y: jwk.y! };

  it('has the members of RFC 9053 §7.1.1', () => {
    const [x, y] = [key.x, key.y].map((it) => Buffer.from(it, 'base64url').toString('hex'));
    expect(Buffer.from(encodeCbor(coseKey(key))).toString('hex')).toBe(`a4010220012158${'20'}${x}225820${y}`);
  });

  it.each([
    ['another curve', { ...key, crv: 'P-384' }],
    ['another type', { ...key, kty: 'OKP', crv: 'Ed25519' }],
    ['no y', { kty: 'EC', crv: 'P-256', x: key.x }],
    ['no x', { kty: 'EC', crv: 'P-256', y: key.y }],
    ['a short coordinate', { ...key, x: key.x.slice(1) }],
    ['a long coordinate', { ...key, y: `${key.y}A` }],
    ['bits after the coordinate', { ...key, y: `${key.y.slice(0, 42)}B` }],
    ['characters that base64url has not', { ...key, x: `+${key.x.slice(1)}` }],
  ])('refuses a key with %s', (_, wrong) => {
    expect(() => coseKey(wrong)).toThrow(KeyNotSupported);
    expect(() => coseKey(wrong)).toThrow('the key must be an EC key on P-256 with the coordinates x and y of 32 bytes');
  });
});
