import { linkedDataFault } from './linked-data.decisions.js';

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
/** Claims of so many JSON values; the subject around them, the object of the claims and the array are counted too. */
const claimsOf = (values: number) => ({ many: Array.from({ length: values - 3 }, () => 1) });

describe('the size of linked data', () => {
  const many = 'have more than 20000 JSON values';

  it('is bounded by levels', () => {
    expect(linkedDataFault({ deep: nested(30) })).toBeUndefined();
    expect(linkedDataFault({ deep: nested(31) })).toBe('nest deeper than 32 levels');
  });

  it('is bounded by the values of all credentials of a request together', () => {
    expect(linkedDataFault(claimsOf(20_000))).toBeUndefined();
    expect(linkedDataFault(claimsOf(20_001))).toBe(many);
    expect(linkedDataFault(claimsOf(2000), 10)).toBeUndefined();
    expect(linkedDataFault(claimsOf(2001), 10)).toBe(many);
  });
});
