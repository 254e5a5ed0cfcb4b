import { compareSlices, orderOf, type Slice } from './compare-slices.mjs';

/** A slice of 2 s. */
const slice = (credentials: number, cpuMs: number): Slice => ({ credentials, cpuMs, seconds: 2 });

describe('comparison of two versions', () => {
  it('uses the ratio within each pair, so that a slow minute has no effect', () => {
    const pairs = [
      { base: slice(500, 2000), current: slice(500, 1000) },
      // The machine is four times slower for this pair.
      { base: slice(125, 2000), current: slice(125, 1000) },
      { base: slice(500, 2000), current: slice(500, 1000) },
    ];
    const { cpuRatio } = compareSlices(pairs);
    expect(cpuRatio).toEqual({ median: 0.5, quartiles: [0.5, 0.5], range: [0.5, 0.5] });
  });

  it('computes CPU per credential, not per slice', () => {
    const { cpuRatio, rateRatio } = compareSlices([{ base: slice(400, 1600), current: slice(800, 1600) }]);
    expect(cpuRatio.median).toBe(0.5);
    expect(rateRatio.median).toBe(2);
  });

  it('states the spread of the pairs', () => {
    const pairs = [90, 100, 110, 120].map((cost) => ({ base: slice(10, 100), current: slice(10, cost) }));
    expect(compareSlices(pairs).cpuRatio).toEqual({ median: 1.05, quartiles: [1, 1.2], range: [0.9, 1.2] });
  });

  it('compares the three cheapest slices of each version', () => {
    const pairs = [10, 20, 30, 1000].map((cost) => ({ base: slice(1, 2 * cost), current: slice(1, cost) }));
    expect(compareSlices(pairs).cpuRatioOfCheapest).toBe(0.5);
  });

  it('alternates the order', () => {
    expect([0, 1, 2].map(orderOf)).toEqual([
      ['base', 'current'],
      ['current', 'base'],
      ['base', 'current'],
    ]);
  });
});
