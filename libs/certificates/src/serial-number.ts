/**
 * Hex of 16 octets with 126 random bits: positive and of constant length. RFC 5280 §4.1.2.2 allows at most 20 octets, ISO/IEC 18013-5
 * Annex B asks for at least 63 random bits.
 */
export const serialNumber = (random: (length: number) => Uint8Array): string => {
  const octets = Buffer.from(random(16));
  octets[0] = (octets[0]! & 0x3f) | 0x40;
  return octets.toString('hex');
};
