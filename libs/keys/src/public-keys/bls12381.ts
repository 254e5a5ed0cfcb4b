import { bls12_381 } from '@noble/curves/bls12-381.js';
import type { PublicJwk } from '../vault/signing-keys.js';

const { Fr } = bls12_381.fields;
const { Point } = bls12_381.G2;

/**
 * The generator with a small separate table: with the library's table the first key would block the thread for a second instead of a
 * tenth, and later ones are no faster.
 */
let generator: InstanceType<typeof Point> | undefined;
const base = () => (generator ??= Point.fromAffine(Point.BASE.toAffine()).precompute(4));

/**
 * A new BLS12-381 key with its public half in G2, as BBS signatures use it (SkToPk of draft-irtf-cfrg-bbs-signatures):
 * `d` 32 bytes big-endian, `x` the compressed point of 96 bytes.
 */
export const generateBls12381G2 = (): PublicJwk & { d: string } => {
  const secret = bls12_381.utils.randomSecretKey();
  const point = base().multiply(Fr.fromBytes(secret));
  return {
    kty: 'OKP',
    crv: 'Bls12381G2',
    x: Buffer.from(point.toBytes()).toString('base64url'),
    d: Buffer.from(secret).toString('base64url'),
  };
};

/** True for a compressed point of G2 that generates the whole group: on the curve, in the subgroup, not the identity. */
export const isBls12381G2Point = (bytes: Uint8Array): boolean => {
  try {
    // Refuses what is not on the curve or not in the subgroup.
    const point = Point.fromBytes(Uint8Array.from(bytes));
    return bytes.length === 96 && !point.is0();
  } catch {
    return false;
  }
};
