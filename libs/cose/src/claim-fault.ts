/** A claim that the credential cannot express. The message names the claim, the fault and what is allowed, never the value. */
export class ClaimFault extends Error {
  /**
   * @param claim namespace and element, or the name of the claim
   * @param rule such as `must be a boolean`
   * @param refused what breaks the rule
   */
  constructor(
    readonly claim: readonly string[],
    readonly rule: string,
    ...refused: [value?: unknown]
  ) {
    super(`${claim.join(' ')} ${rule}${refused.length ? `, not ${kindOf(refused[0])}` : ''}`);
    this.name = 'ClaimFault';
  }
}

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return value.isWellFormed() ? 'another string' : 'a string with a lone surrogate';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : 'NaN or infinite';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};
