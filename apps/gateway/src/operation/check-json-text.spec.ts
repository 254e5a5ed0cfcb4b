import type { AppError } from '@attestry/contracts';
import { checkJsonText, MAX_DEPTH, MAX_VALUES } from './check-json-text.js';

const faultOf = (text: string): unknown => {
  try {
    checkJsonText(text);
    return undefined;
  } catch (error) {
    return (error as AppError).details?.[0]?.msg;
  }
};
const list = (entries: number) => `[${Array.from({ length: entries }, () => '1').join(',')}]`;
const nested = (depth: number) => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2);

describe('the text of a JSON body', () => {
  it('may contain the maximum number of members and entries, and no more', () => {
    expect(faultOf(list(MAX_VALUES))).toBeUndefined();
    expect(faultOf(list(MAX_VALUES + 1))).toBe('must have at most 25000 members and entries');
    const object = Array.from({ length: MAX_VALUES + 1 }, (_, index) => `"x${index}":{}`).join(',');
    expect(faultOf(`{${object}}`)).toBe('must have at most 25000 members and entries');
  });

  it('may nest to the maximum depth, and no deeper', () => {
    expect(faultOf(nested(MAX_DEPTH))).toBeUndefined();
    expect(faultOf(nested(MAX_DEPTH + 2))).toBe('must not nest deeper than 64 levels');
    expect(faultOf('[]'.repeat(500))).toBeUndefined();
  });

  it('is not counted within strings, whatever is escaped there', () => {
    const hostile = ['[{,'.repeat(20_000), '"[,'.repeat(20_000), '\\"[,'.repeat(20_000), '\\'.repeat(20_001), '\u2028'];
    for (const text of hostile) {
      expect(faultOf(JSON.stringify({ [text]: text, a: [text] }))).toBeUndefined();
      expect(faultOf(`${JSON.stringify([text]).slice(0, -1)},${list(MAX_VALUES)}]`)).toMatch(/25000/);
    }
  });

  it('is left to the parser when it is malformed', () => {
    for (const text of ['', '"', '"\\', '{', ']]]]', '"a\\"', ',']) expect(faultOf(text)).toBeUndefined();
  });
});
