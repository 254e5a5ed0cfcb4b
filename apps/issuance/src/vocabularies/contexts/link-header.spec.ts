import { alternateOf } from './link-header.js';

const TYPE = 'application/ld+json';

describe('the Link header', () => {
  it.each<[string, string, string | undefined]>([
    [
      'of schema.org',
      '</docs/jsonldcontext.jsonld>; rel="alternate"; type="application/ld+json"',
      '/docs/jsonldcontext.jsonld',
    ],
    ['without quotes', '<a>;rel=alternate;type=application/ld+json', 'a'],
    ['in another order and case', '<a>; TYPE="Application/LD+JSON" ; Rel="next Alternate"', 'a'],
    [
      'the second of two links',
      '<a,b>; rel="stylesheet"; title="a, \\"b\\"; c", <c>; rel="alternate"; type="application/ld+json"',
      'c',
    ],
    ['the first alternate of that type', `<a>; rel=alternate; type="${TYPE}", <b>; rel=alternate; type="${TYPE}"`, 'a'],
    ['after empty elements', `, ,<a>; rel=alternate; type="${TYPE}"`, 'a'],
    ['a parameter without a value', `<a>; crossorigin; rel=alternate; type="${TYPE}"`, 'a'],
    ['of another relation', `<a>; rel="http://www.w3.org/ns/json-ld#context"; type="${TYPE}"`, undefined],
    ['of another type', '<a>; rel="alternate"; type="text/turtle"', undefined],
    ['the first type counts', `<a>; rel="alternate"; type="text/turtle"; type="${TYPE}"`, undefined],
    ['without a type', '<a>; rel="alternate"', undefined],
    ['malformed', `a; rel=alternate; type="${TYPE}"`, undefined],
    ['with an open quote', `<a>; rel="alternate; type=${TYPE}`, undefined],
    ['empty', '', undefined],
  ])('names an alternate: %s', (_, header, target) => {
    expect(alternateOf(header, TYPE)).toBe(target);
  });

  it('names none where it is absent', () => expect(alternateOf(undefined, TYPE)).toBeUndefined());

  it.each([';', ',', '<', '<a>;', '<a>;b', '<a>;b="', '<a>, ', '\\"', ' '])(
    'is read in linear time: %j repeated',
    (part) => {
      const header = `<a>${part.repeat(100_000)}`;
      const started = process.cpuUsage();
      alternateOf(header, TYPE);
      expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
    },
  );
});
