import { jest } from '@jest/globals';
import fc from 'fast-check';
import { findClaimFault, hasNestedArray, inspectContext } from './canonicalize.worker.js';
import { CREDENTIALS_V1, CREDENTIALS_V2, sharedContexts } from './well-known.js';

const CONTEXT_URL = 'https://contexts.example/v1';
const OWN = 'https://acme.example/context';
const shared = sharedContexts(CONTEXT_URL);

const check = (claims: Record<string, unknown>, own?: object, base = CREDENTIALS_V2) => {
  const document = {
    '@context': [base, CONTEXT_URL, ...(own ? [OWN] : [])],
    type: ['VerifiableCredential'],
    issuer: 'did:example:issuer',
    credentialSubject: { id: 'did:example:holder' },
  };
  const contexts = new Map(own ? [[OWN, JSON.stringify({ '@context': own })]] : []);
  return findClaimFault({ document, claims }, shared, contexts);
};
/** The claim and the code of its fault. */
const faultOf = async (...of: Parameters<typeof check>) => {
  const { claim, fault } = await check(...of);
  return fault && [claim, typeof fault === 'string' ? fault : fault.code];
};

const GRADES = [
  ['math', 1],
  ['physics', 5],
];
const LIST = { '@id': 'urn:grades', '@container': '@list' };
const JSON_LITERAL = { '@id': 'urn:grades', '@type': '@json' };
const SCOPED = { Report: { '@id': 'urn:report', '@context': { grades: LIST } } };

describe('claims in linked data', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['an id that is no IRI', { about: { id: '12345' } }, 'relative @id reference'],
    ['an id that is a number', { about: { id: 12345 } }, 'invalid @id value'],
    ['a type with a space', { about: { type: 'Foo Bar' } }, 'relative @type reference'],
    ['a type in a list', { about: { type: ['Foo', 'Foo Bar'] } }, 'relative @type reference'],
    ['a type that is a number', { about: { type: 5 } }, 'invalid type value'],
    ['a member name with a space', { about: { 'Street Name': 'x' } }, 'invalid property'],
    ['a member name with a space, inside', { about: [{ deep: { 'Street Name': 'x' } }] }, 'invalid property'],
    ['a member name that is a blank node', { about: { '_:b': 'x' } }, 'blank node predicate'],
  ])('have the fault of the first that cannot be expressed: %s', async (_, claims, code) => {
    expect(await faultOf(claims)).toEqual(['about', code]);
    const others = { name: 'Ada', address: { city: 'London' } };
    expect(await faultOf({ ...others, ...claims, later: { id: 'x' } })).toEqual(['about', code]);
  });

  it('have none where they are plain', async () => {
    const claims = { name: 'Ada', address: { city: 'London', lines: ['a', 'b'] }, marks: [{ of: 'x' }, { of: 'y' }] };
    expect(await check({ ...claims, none: [], empty: {}, about: { id: 'urn:x', type: 'Person' } })).toEqual({});
  });

  it.each<[string, Record<string, unknown>, object | undefined]>([
    ['text where the context expects an IRI', { grades: '12345' }, { grades: { '@id': 'urn:grades', '@type': '@id' } }],
    ['text of a term with a graph', { proof: '12345' }, undefined],
  ])('that are %s have a fault', async (_, claims, own) => {
    const [name] = Object.keys(claims);
    expect(await faultOf(claims, own, CREDENTIALS_V1)).toEqual([name, expect.any(String)]);
  });
});

describe('arrays in arrays', () => {
  it.each<[string, unknown]>([
    ['pairs', GRADES],
    ['one pair', [['math', 1]]],
    ['one value', [['math']]],
    ['nothing', [[]]],
    ['beside values', ['math', [1]]],
    ['in an object', { of: { year: GRADES } }],
    ['in an object of an array', [{ grades: GRADES }]],
    ['in an object of an array in an array', [[{ of: 'x' }]]],
    ['three levels', [[[1]], [[2]]]],
  ])('are a fault without a context that keeps them: %s', async (_, grades) => {
    expect(await faultOf({ name: 'Ada', grades })).toEqual(['grades', 'nestedArrays']);
    const contexts = { other: LIST };
    expect(await faultOf({ name: 'Ada', grades }, contexts)).toEqual(['grades', 'nestedArrays']);
  });

  it.each<[string, unknown, object]>([
    ['a list', GRADES, { grades: LIST }],
    ['a JSON literal', GRADES, { grades: JSON_LITERAL }],
    ['objects in a JSON literal', { of: [{ grades: GRADES }] }, { grades: JSON_LITERAL }],
    ['a list that the type defines', { type: 'Report', grades: GRADES }, SCOPED],
    ['a list inside a list', [[{ grades: GRADES }]], { grades: LIST }],
  ])('are none as %s', async (_, grades, own) => {
    expect(await faultOf({ grades }, own)).toBeUndefined();
  });

  it.each<[string, unknown, object]>([
    ['in an object of a list', [[{ rows: GRADES }]], { grades: LIST }],
    ['beside a list', { grades: GRADES, rows: GRADES }, { grades: LIST }],
    [
      'of another type',
      [
        { type: 'Report', grades: GRADES },
        { type: 'Card', grades: GRADES },
      ],
      SCOPED,
    ],
    ['of a term that is a set', GRADES, { grades: { '@id': 'urn:grades', '@container': '@set' } }],
  ])('are a fault where another array is kept: %s', async (_, grades, own) => {
    expect(await faultOf({ grades }, own)).toEqual(['grades', 'nestedArrays']);
  });

  const ALIASES = {
    list: '@list',
    set: '@set',
    bag: { '@id': 'set' },
    json: '@json',
    at: '@index',
    kind: '@type',
    value: '@value',
  };
  const TERM = { grades: { '@id': 'urn:grades' } };
  it.each<[string, unknown, object]>([
    ['sets in a list of sets', [{ set: ['math', 1] }, { set: ['physics', 5] }], TERM],
    ['a set by the name of a name', [{ bag: ['math', 1] }, { bag: ['physics', 5] }], TERM],
    ['a set with an index', [{ set: ['math', 1], at: 'a' }, 'x'], TERM],
    ['a set of arrays', { set: GRADES }, TERM],
    ['a set in an object', { of: [{ rows: [{ set: ['math', 1] }] }] }, TERM],
    ['a set beside a list', [{ list: ['math', 1] }, { set: ['physics', 5] }], TERM],
    [
      'a set where the term is a set',
      [{ set: ['math', 1] }],
      { grades: { '@id': 'urn:grades', '@container': '@set' } },
    ],
  ])('are a fault by other names of keywords: %s [T677]', async (_, grades, own) => {
    expect(await faultOf({ grades }, { ...ALIASES, ...own })).toEqual(['grades', 'nestedArrays']);
  });

  it.each<[string, unknown, object]>([
    ['lists', { list: GRADES }, TERM],
    ['lists in an array', [{ list: ['math', 1] }, { list: ['physics', 5] }], TERM],
    ['JSON literals', [{ kind: 'json', value: GRADES }], TERM],
    ['sets in a JSON literal', [{ set: ['math', 1] }, { set: ['physics', 5] }], { grades: JSON_LITERAL }],
    ['sets in a list, which are lists of it', [{ set: ['math', 1] }, { set: ['physics', 5] }], { grades: LIST }],
    ['objects whose member is an array', [{ rows: ['math', 1] }, { rows: ['physics', 5] }], TERM],
  ])('are none by other names of keywords: %s [T677]', async (_, grades, own) => {
    expect(await faultOf({ grades }, { ...ALIASES, ...own })).toBeUndefined();
  });

  it('are all found, and no other arrays [T566]', async () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>('x', 1, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
      ),
    }));
    const claims = fc.dictionary(fc.constantFrom('p', 'q', 'r'), value, { minKeys: 1, maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(claims, async (made) => {
        const expected = Object.keys(made).find((name) => hasNestedArray(made[name]));
        expect(await check(made)).toEqual(expected === undefined ? {} : { claim: expected, fault: 'nestedArrays' });
      }),
      { numRuns: 200 },
    );
  });
});

describe('a context document', () => {
  const limits = { values: 20_000, depth: 32 };
  const nested = (open: string, levels: number, close: string) => open.repeat(levels) + close.repeat(levels);
  const inspect = (text: string) => inspectContext(text, limits);

  it.each([
    ['no JSON', '<html>', 'json'],
    ['no object', '5', 'context'],
    ['no context', '{"a":1}', 'context'],
    ['an inherited context', '{"__proto__":{"@context":{}}}', 'context'],
    ['too many levels', `{"@context":${nested('[', 60_000, ']')}}`, 'depth'],
    ['too many values', JSON.stringify({ '@context': {}, pad: Array(20_000).fill(1) }), 'values'],
    ['a text twice in a list', '{"@context":["urn:a","urn:a"]}', 'repeats'],
    ['an object twice in a list', '{"@context":[{"a":{"b":[1]}},{"c":1},{"a":{"b":[1]}}]}', 'repeats'],
    ['a value twice below a term', '{"@context":{"a":{"@context":[{"x":"urn:x"},{"x":"urn:x"}]}}}', 'repeats'],
  ])('is refused: %s', (_, text, fault) => expect(inspect(text)).toEqual({ fault }));

  it.each([
    ['of one term', '{"@context":{"a":"urn:a"}}', 3, []],
    ['in a list', '{"@context":["https://a.example",{"a":1},{"a":"1"},{"b":1}]}', 9, ['https://a.example']],
    ['that repeats values beside the context', '{"@context":{},"pad":[1,1]}', 5, []],
    [
      'with references, each once',
      '{"@context":[{"@import":"i"},{"a":{"@id":"x","@context":["s","i"]},"b":{"@context":"s"}},"c"],"d":{"@context":"e"}}',
      15,
      ['i', 's', 'c'],
    ],
  ])('is measured: %s', (_, text, values, references) => expect(inspect(text)).toEqual({ values, references }));

  it('finds exactly the repeated entries', () => {
    const context = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>('1', 1, true, null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2 }),
      ),
    })).value;
    const repeats = (value: unknown): boolean => {
      if (typeof value !== 'object' || value === null) return false;
      const texts = Array.isArray(value) ? value.map((entry) => JSON.stringify(entry)) : [];
      return new Set(texts).size < texts.length || Object.values(value).some(repeats);
    };
    fc.assert(
      fc.property(context, (made) => {
        const result = inspect(JSON.stringify({ '@context': made }));
        expect('fault' in result).toBe(repeats(made));
      }),
      { numRuns: 500 },
    );
  });

  it('is read in linear time, however it nests [T565]', () => {
    // 1 MiB below 29 lists: text made of each of them again would be 30 MiB.
    const deep = `{"@context":${'['.repeat(29)}"${'x'.repeat(1024 * 1024)}"${']'.repeat(29)}}`;
    const stringify = jest.spyOn(JSON, 'stringify');
    try {
      expect(inspect(deep)).toEqual({ values: 31, references: ['x'.repeat(1024 * 1024)] });
      const made = stringify.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
      expect(made).toBeLessThan(2 * deep.length);
    } finally {
      stringify.mockRestore();
    }
  });
});
