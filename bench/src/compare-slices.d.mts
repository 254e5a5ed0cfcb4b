/** What a version did and cost in one slice. */
export interface Slice {
  credentials: number;
  /** User and system time of all threads. */
  cpuMs: number;
  seconds: number;
}
export type Version = 'base' | 'current';
export interface Spread {
  median: number;
  quartiles: [number, number];
  /** Smallest and largest. */
  range: [number, number];
}
export interface Comparison {
  pairs: number;
  /** CPU per credential, current over base: under 1 is cheaper than the base. */
  cpuRatio: Spread;
  /** The same from the mean of the three cheapest slices of each version. */
  cpuRatioOfCheapest: number;
  rateRatio: Spread;
  cpuMsPerCredential: Record<Version, Spread>;
  credentialsPerSecond: Record<Version, Spread>;
}
export const compareSlices: (pairs: readonly Record<Version, Slice>[]) => Comparison;
/** Which version runs first in a pair, by its number from 0. */
export const orderOf: (pair: number) => [Version, Version];
