import { usableClaims } from './usable-claims.js';

describe('claims of a foreign text [T608]', () => {
  it('with half of a surrogate pair are unusable, whole pairs are not', () => {
    const text = String.raw`{"a":"\ud83d\ude00","b":"\ud800","c":[{"d":"\uDFFF@x.org"}],"e":{"\ud800":1},"f":"x"}`;
    const claims = JSON.parse(text) as Record<string, unknown>;
    expect(usableClaims(claims, text)).toEqual({
      claims: { a: '😀', b: null, c: null, e: null, f: 'x' },
      unusable: ['b', 'c', 'e'],
    });
    const nested = `{"claims":${text}}`;
    expect(usableClaims(claims, nested, ['claims']).unusable).toEqual(['b', 'c', 'e']);
  });

  it('that have an inexact number have no value, and are named', () => {
    const text =
      '{"claims":{"id":12345678901234567891,"toString":{"x":[1e400]},"ok":1},"id":1,"ok":12345678901234567891}';
    const { claims } = JSON.parse(text) as { claims: Record<string, unknown> };
    expect(usableClaims(claims, text, ['claims'])).toEqual({
      claims: { id: null, toString: null, ok: 1 },
      unusable: ['id', 'toString'],
    });
    const same = { a: 1 };
    expect(usableClaims(same, '{"a":1}').claims).toBe(same);
  });
});
