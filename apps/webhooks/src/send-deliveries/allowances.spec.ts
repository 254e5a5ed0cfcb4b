import { Allowances } from './allowances.js';

const after = (...quick: boolean[]) => {
  const allowances = new Allowances({ least: 4, most: 8 });
  for (const it of quick) allowances.adjust('a', it);
  return allowances;
};

describe('allowances', () => {
  it('start low and grow with each quick success up to the maximum', () => {
    expect(after().limitOf('a')).toBe(4);
    expect(after(true).limitOf('a')).toBe(5);
    expect(after(...Array<boolean>(99).fill(true)).limitOf('a')).toBe(8);
  });

  it('are halved by any other outcome, down to the minimum', () => {
    const full = Array<boolean>(4).fill(true);
    expect(after(...full, false).limitOf('a')).toBe(4);
    expect(after(...full, false, true).limitOf('a')).toBe(5);
    expect(after(false, false).limitOf('a')).toBe(4);
  });

  it('are kept per name', () => expect(after(true, true).limitOf('b')).toBe(4));
});
