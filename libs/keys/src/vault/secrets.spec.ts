import { base62, newId, pooledBytes, randomDigits, randomSecret, successorId } from './secrets.js';

describe('secrets', () => {
  it('successorId: a UUID that follows from the key, and is another one for each', () => {
    const [first, second] = [newId(), newId()];
    expect(successorId(first)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(successorId(first)).toBe(successorId(first));
    const chain = [first, second, successorId(first), successorId(second), successorId(successorId(first))];
    expect(new Set(chain).size).toBe(chain.length);
  });

  it('randomSecret: 32 bytes by default, as many as asked, never twice the same', () => {
    expect(Buffer.from(randomSecret(), 'base64url')).toHaveLength(32);
    expect(Buffer.from(randomSecret(16), 'base64url')).toHaveLength(16);
    expect(new Set(Array.from({ length: 1000 }, () => randomSecret())).size).toBe(1000);
  });

  it('randomDigits: exactly so many digits, every digit in every place, leading zeros too', () => {
    const codes = Array.from({ length: 2000 }, () => randomDigits(6));
    for (const code of codes) expect(code).toMatch(/^[0-9]{6}$/);
    for (let place = 0; place < 6; place++) expect(new Set(codes.map((code) => code[place])).size).toBe(10);
  });

  it('base62: exactly so many characters, all 62 about equally often', () => {
    expect(base62(32)).toMatch(/^[0-9A-Za-z]{32}$/);
    const counts = new Map<string, number>();
    for (const c of base62(62_000)) counts.set(c, (counts.get(c) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 1000 expected, standard deviation 31: seven of them.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(220);
  });

  it('base62: skips the bytes that would make its first characters likelier', () => {
    expect(base62(2, () => Buffer.from([248, 255, 247, 0]))).toBe('z0');
  });

  it('pooledBytes: as many as requested, each uniform, never handed out twice, in memory of their own', () => {
    const made = [0, 1, 12, 32, 8192, 8193, ...Array.from({ length: 2000 }, () => 16)].map((length) => {
      const bytes = pooledBytes(length);
      expect(bytes).toHaveLength(length);
      return bytes;
    });
    expect(new Set(made.slice(-2000).map((bytes) => bytes.toString('hex'))).size).toBe(2000);
    const [first] = made.slice(-1);
    expect(first!.buffer.byteLength).toBe(16);
    const counts = new Array<number>(256).fill(0);
    for (let i = 0; i < 2000; i++) for (const byte of pooledBytes(32)) counts[byte]!++;
    // 250 expected, standard deviation 16: seven of them.
    for (const count of counts) expect(Math.abs(count - 250)).toBeLessThan(112);
  });

  it('newId: a version 4 UUID', () => {
    expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
