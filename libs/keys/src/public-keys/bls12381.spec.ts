import { bls12_381 } from '@noble/curves/bls12-381.js';
import { generateBls12381G2, isBls12381G2Point } from './bls12381.js';
import { encodeDidKey, encodeMultikey } from './jwk.js';

/** Another implementation: @digitalbazaar/bls12-381-multikey, which brings no types. */
interface BbsKey {
  publicKeyMultibase: string;
  signer(): { multisign(what: object): Promise<Uint8Array> };
  verifier(): { multiverify(what: object): Promise<boolean> };
  deriveProof(what: object): Promise<Uint8Array>;
}
const multikeys = async () =>
  (await import('@digitalbazaar/bls12-381-multikey' as string)) as {
    fromRaw(key: object): Promise<BbsKey>;
    toJwk(options: { keyPair: BbsKey }): Promise<{ kty: string; crv: string; x: string }>;
  };
const algorithm = 'BBS-BLS12-381-SHA-256';
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

describe('a BLS12-381 key in G2', () => {
  it('is in the subgroup of the generator', () => {
    const generator = bls12_381.G2.Point.BASE.toBytes();
    expect(isBls12381G2Point(generator)).toBe(true);
    // About half of them are on the curve.
    for (let change = 1; change <= 16; change++)
      expect(isBls12381G2Point(generator.map((byte, at) => (at === 95 ? byte ^ change : byte)))).toBe(false);
  });

  it('can be used by the library of Digital Bazaar to sign, derive a proof and verify', async () => {
    const { fromRaw, toJwk } = await multikeys();
    const { d, ...publicJwk } = generateBls12381G2();
    const [secretKey, publicKey] = [bytes(d), bytes(publicJwk.x)];
    const key = await fromRaw({ algorithm, curve: 'Bls12381G2', secretKey, publicKey });
    expect(key.publicKeyMultibase).toBe(encodeMultikey(publicJwk));
    expect(await toJwk({ keyPair: key })).toMatchObject(publicJwk);
    const [header, presentationHeader] = [bytes('aGVhZA'), bytes('cHJlc2VudA')];
    const messages = [bytes('b25l'), bytes('dHdv')];
    const signature = await key.signer().multisign({ header, messages });
    const disclosedMessageIndexes = [1];
    const proof = await key.deriveProof({ signature, header, messages, presentationHeader, disclosedMessageIndexes });
    const result = (second: Uint8Array) => ({ proof, header, presentationHeader, messages: [undefined, second] });
    expect(await key.verifier().multiverify(result(messages[1]!))).toBe(true);
    expect(await key.verifier().multiverify(result(messages[0]!))).toBe(false);
    // A signature of another secret does not fit this public key.
    const other = generateBls12381G2();
    const mixed = await fromRaw({ algorithm, curve: 'Bls12381G2', secretKey: bytes(other.d), publicKey });
    const foreign = await mixed.signer().multisign({ header, messages });
    const bad = { signature: foreign, header, messages, presentationHeader, disclosedMessageIndexes };
    await expect(
      key.deriveProof(bad).then((made) => key.verifier().multiverify({ ...result(messages[1]!), proof: made })),
    ).resolves.toBe(false);
  });

  it('is different each time', () => {
    expect(generateBls12381G2().d).not.toBe(generateBls12381G2().d);
  });

  // Vector of the did:key specification, section BLS 12-381.
  it('has the did:key of the specification', () => {
    const x =
      'tKWJu0SOY7onl4tEyOOH11XBriQN2JgzV-UmjgBMSsNkcAx3_l97SVYViSDBouTVBkBfrLh33C5icDD-4UEDxNO3Wn1ijMHvn2N63DU4pkezA3kGN81jGbwbrsMPpiOF';
    expect(encodeDidKey({ kty: 'OKP', crv: 'Bls12381G2', x })).toBe(
      'did:key:zUC7K4ndUaGZgV7Cp2yJy6JtMoUHY6u7tkcSYUvPrEidqBmLCTLmi6d5WvwnUqejscAkERJ3bfjEiSYtdPkRSE8kSa11hFBr4sTgnbZ95SJj19PN2jdvJjyzpSZgxkyyxNnBNnY',
    );
    expect(isBls12381G2Point(bytes(x))).toBe(true);
  });

  it.each<[string, (point: Uint8Array) => Uint8Array]>([
    ['a byte less', (point) => point.subarray(1)],
    ['another x', (point) => point.map((byte, index) => (index === 40 ? byte ^ 1 : byte))],
    ['the identity', () => Uint8Array.from({ length: 96 }, (_, index) => (index === 0 ? 0xc0 : 0))],
    ['an x that is no field element', () => Uint8Array.from({ length: 96 }, (_, index) => (index === 0 ? 0x9f : 0xff))],
    ['nothing', () => new Uint8Array()],
    ['the uncompressed point', (point) => bls12_381.G2.Point.fromBytes(point).toBytes(false)],
  ])('is not %s', (_, change) => expect(isBls12381G2Point(change(bytes(generateBls12381G2().x)))).toBe(false));
});
