import { HeldBytes } from './held-bytes.js';

describe('bytes that deliveries hold', () => {
  it('are bounded; further deliveries wait in their order until enough are released', async () => {
    const held = new HeldBytes(10);
    const [one, two] = [await held.hold(6), await held.hold(4)];
    const begun: string[] = [];
    const large = held.hold(8).then((hold) => (begun.push('large'), hold));
    const small = held.hold(1).then((hold) => (begun.push('small'), hold));
    two.release();
    two.release();
    await Promise.resolve();
    expect(begun).toEqual([]);
    one.shrink(2);
    one.shrink(5);
    await large;
    expect(begun).toEqual(['large']);
    one.release();
    await small;
    expect(begun).toEqual(['large', 'small']);
  });
});
