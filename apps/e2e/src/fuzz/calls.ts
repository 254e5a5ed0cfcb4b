import fc, { type Arbitrary } from 'fast-check';
import type { JsonSchema, OpenApiDocument } from '@attestry/contracts';
import type { Parameter, DescribedOperation } from './described-operations.js';

/** Something that earlier calls made: the `pick`th of them, counted around. */
export interface Pick {
  pick: number;
}
export const isPick = (value: unknown): value is Pick => typeof value === 'object' && value !== null && 'pick' in value;

/** A request that is still to be given the ids of things that exist. */
export interface Call {
  method: string;
  /** By name; encoded when it is sent. */
  params: Record<string, string | Pick>;
  query: readonly (readonly [string, string])[];
  credentials: 'right' | 'none' | 'nonsense' | 'foreign' | 'basic';
  /** Key for an operation that accepts `Idempotency-Key`. */
  key?: string | undefined;
  contentType?: string;
  /** Literal text, or a value that is sent in the operation's media type. */
  body?: { text: string } | { value: unknown };
  /** Appended to the path unchanged. */
  tail: string;
}

/** For members with ids of existing resources: the collection of these resources. */
const NAMED_THINGS: Record<string, string> = {
  environmentId: '/v1/environments',
  userId: '/v1/users',
  issuerDid: '/v1/dids',
  credentials: '/v2/credentials/jwt-vc/configurations',
};
export const thingsNamedBy = (member: string): string | undefined => NAMED_THINGS[member];
const pick: Arbitrary<Pick> = fc.record({ pick: fc.nat(1000) });

/** Strings that have broken servers. */
const HOSTILE = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e\u0000\ufffe',
  '__proto__',
  'constructor',
  'undefined',
  'null',
  '-1',
  '1e400',
  '../../etc/passwd',
  "' OR 1=1 --",
  '{{7*7}}',
  '%00%ff',
  'http://169.254.169.254/',
  'did:web:',
  'x'.repeat(9000),
  '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'.repeat(40),
];
const hostileText = fc.constantFrom(...HOSTILE);
const hostileValue: Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e308, Number.MAX_SAFE_INTEGER + 2, [], {}, [[]], [null], {
    a: { b: [] },
  }),
  fc.constantFrom<unknown>(
    JSON.parse('{"__proto__":{"x":1}}'),
    { constructor: { prototype: {} } },
    { toString: 1, $http: { status: 200 } },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Strings that match a pattern; look-aheads are handled by a filter. Groups are repeated once or twice: longer texts would exceed `maxLength`. */
const matching = (source: string): Arbitrary<string> => {
  const pattern = new RegExp(source);
  const short = source
    .replaceAll(/\(\?!.*?\)/g, '')
    .replaceAll(')*', ')?')
    .replaceAll(')+', '){1,2}');
  return fc.stringMatching(new RegExp(short), { size: 'small' }).filter((text) => pattern.test(text));
};

/** Values that are valid for a schema. */
export class Values {
  private readonly matching = new Map<string, Arbitrary<string>>();

  constructor(private readonly document: OpenApiDocument) {}

  resolve(schema: JsonSchema): JsonSchema {
    return schema.$ref ? this.document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
  }

  arbitraryOf(given: JsonSchema, depth = 0): Arbitrary<unknown> {
    const schema = this.resolve(given);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => this.arbitraryOf(one, depth)));
    if (Array.isArray(schema.type))
      return fc.oneof(...schema.type.map((type) => this.arbitraryOf({ ...schema, type }, depth)));
    switch (schema.type) {
      case 'string':
        return this.text(schema);
      case 'integer':
      case 'number':
        return fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 1000 });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return this.list(schema, depth);
      case 'object':
        return this.object(schema, depth);
      default:
        return fc.jsonValue({ maxDepth: 1 });
    }
  }

  private text({ format, pattern, minLength = 0, maxLength = Infinity }: JsonSchema): Arbitrary<string> {
    if (format === 'uuid') return fc.uuid({ version: [1, 4, 5] });
    if (format === 'date-time')
      return fc
        .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
        .map((it) => it.toISOString());
    if (pattern !== undefined) {
      const key = `${pattern} ${minLength} ${maxLength}`;
      let known = this.matching.get(key);
      if (!known) {
        known = matching(pattern).filter(({ length }) => length >= minLength && length <= maxLength);
        this.matching.set(key, known);
      }
      return known;
    }
    return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, minLength + 30) });
  }

  private list({ items = {}, minItems = 0, maxItems = 4, uniqueItems }: JsonSchema, depth: number) {
    const limits = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 4)) };
    const item = this.arbitraryOf(items, depth + 1);
    return uniqueItems
      ? fc.uniqueArray(item, { ...limits, selector: (it) => JSON.stringify(it) })
      : fc.array(item, limits);
  }

  private object(
    { properties = {}, required = [], additionalProperties, minProperties = 0, dependentRequired = {} }: JsonSchema,
    depth: number,
  ) {
    const members = Object.entries(properties).map(
      ([name, schema]) => [name, this.member(name, schema, depth)] as const,
    );
    const isComplete = (object: object) =>
      Object.keys(object).length >= minProperties &&
      Object.entries(dependentRequired).every(
        ([name, others]) => !(name in object) || others.every((it) => it in object),
      );
    const named = fc.record(Object.fromEntries(members), { requiredKeys: required }).filter(isComplete);
    if (typeof additionalProperties !== 'object' || depth > 3) return named;
    const others = fc.dictionary(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      this.arbitraryOf(additionalProperties, depth + 1),
      {
        maxKeys: 3,
      },
    );
    return fc.tuple(others, named).map(([more, own]) => ({ ...more, ...own }));
  }

  private member(name: string, schema: JsonSchema, depth: number): Arbitrary<unknown> {
    const value = this.arbitraryOf(schema, depth + 1);
    if (!thingsNamedBy(name)) return value;
    const known = schema.type === 'array' ? fc.array(pick, { minLength: 1, maxLength: 2 }) : pick;
    return fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: value });
  }
}

export const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Calls of one operation: half of them valid by the definition, half of them invalid in some way. */
export const callsOf = (operation: DescribedOperation, values: Values): Arbitrary<Call> => {
  const { method, parameters, body } = operation;
  const ofPlace = (place: Parameter['in']) => parameters.filter((it) => it.in === place);
  const params = fc.record(
    Object.fromEntries(
      ofPlace('path').map(({ name, schema }) => [
        name,
        fc.oneof({ weight: 6, arbitrary: pick }, { weight: 1, arbitrary: values.arbitraryOf(schema).map(asText) }),
      ]),
    ),
  ) as Arbitrary<Call['params']>;
  const query = fc
    .record(Object.fromEntries(ofPlace('query').map(({ name, schema }) => [name, values.arbitraryOf(schema)])), {
      requiredKeys: ofPlace('query')
        .filter((it) => it.required)
        .map(({ name }) => name),
    })
    .map((all) =>
      Object.entries(all).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map((one) => [name, asText(one)] as const),
      ),
    );
  const [type, content] = Object.entries(body ?? {})[0] ?? [];
  const right = fc.record({
    method: fc.constant(method),
    params,
    query,
    credentials: fc.constant('right' as const),
    tail: fc.constant(''),
    ...(takesKey(operation) && { key: validKey }),
    ...(type && { contentType: fc.constant(type), body: fc.record({ value: values.arbitraryOf(content!.schema) }) }),
  }) as Arbitrary<Call>;
  const broken = fc.tuple(right, breaks(operation)).map(([call, change]) => change(call));
  return fc.oneof(right, broken);
};

const takesKey = ({ parameters }: DescribedOperation): boolean =>
  parameters.some((it) => it.name === 'Idempotency-Key');
/** Mostly none, some unique ones, and a few that concurrent calls with different bodies share. */
const validKey: Arbitrary<string | undefined> = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 6 },
  { arbitrary: fc.stringMatching(/^[\x21-\x7e]{8,40}$/), weight: 3 },
  { arbitrary: fc.constantFrom('1', '"quoted"', 'k'.repeat(255)), weight: 1 },
);
const NO_KEYS = ['', ' ', 'a b', 'k'.repeat(256), '\u00e4', '\t'];

/** Ways to break a call. */
const breaks = (operation: DescribedOperation): Arbitrary<(call: Call) => Call> => {
  const { parameters, body } = operation;
  const hasPath = parameters.some((it) => it.in === 'path');
  const valueOf = (call: Call): unknown => (call.body && 'value' in call.body ? call.body.value : {});
  const ofAll: Arbitrary<(call: Call) => Call>[] = [
    fc
      .constantFrom('none', 'nonsense', 'foreign', 'basic' as const)
      .map((credentials) => (call: Call) => ({ ...call, credentials })),
    fc
      .constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD')
      .map((method) => (call: Call) => ({ ...call, method })),
    fc
      .tuple(
        fc.constantFrom('limit', 'cursor', 'limit[]', '__proto__', 'type', 'x'),
        fc.oneof(hostileText, fc.string({ maxLength: 20 })),
      )
      .map((one) => (call: Call) => ({ ...call, query: [...call.query, one] })),
    fc
      .constantFrom('/', '/x', '//', '%', '%zz', '%00', ';a=b', '?%', '?=&&', '?limit=1&limit=2', '#x')
      .map((tail) => (call: Call) => ({ ...call, tail })),
  ];
  if (takesKey(operation)) ofAll.push(fc.constantFrom(...NO_KEYS).map((key) => (call: Call) => ({ ...call, key })));
  if (hasPath)
    ofAll.push(
      fc.tuple(fc.nat(5), fc.oneof(hostileText, fc.string({ maxLength: 40 }))).map(([index, text]) => (call: Call) => {
        const names = Object.keys(call.params);
        return { ...call, params: { ...call.params, [names[index % names.length]!]: text } };
      }),
    );
  if (!body) {
    ofAll.push(
      fc
        .tuple(fc.constantFrom('application/json', 'text/plain', ''), fc.constantFrom('{}', '[]', '{', ''))
        .map(([contentType, text]) => (call: Call) => ({ ...call, contentType, body: { text } })),
    );
    return fc.oneof(...ofAll);
  }
  const ofBodies: Arbitrary<(call: Call) => Call>[] = [
    hostileValue.map((value) => (call: Call) => ({ ...call, body: { value } })),
    // One member less, one with another value, one more.
    fc.tuple(fc.nat(30), fc.option(hostileValue, { nil: undefined })).map(([index, value]) => (call: Call) => {
      const members = Object.entries((valueOf(call) ?? {}) as object);
      if (members.length === 0) return { ...call, body: { value: { x: value ?? null } } };
      const [name] = members[index % members.length]!;
      const rest = Object.fromEntries(members.filter(([other]) => other !== name));
      return { ...call, body: { value: value === undefined ? rest : { ...rest, [name]: value } } };
    }),
    fc
      .tuple(fc.constantFrom('x', '__proto__', '$http', 'id', 'tenantId'), hostileValue)
      .map(([name, value]) => (call: Call) => ({
        ...call,
        body: {
          value: Object.fromEntries([...Object.entries((valueOf(call) ?? {}) as object), [name, value]]) as unknown,
        },
      })),
    fc
      .constantFrom(
        '',
        '{',
        '{"a":1e999}',
        '[1,',
        '"\\ud800"',
        '{"a":"\\udfff"}',
        '\u0000',
        '['.repeat(5000),
        `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
      )
      .map((text) => (call: Call) => ({ ...call, body: { text } })),
    fc
      .constantFrom(
        'text/plain',
        'application/xml',
        'application/json; charset=utf-16',
        'application/x-www-form-urlencoded',
        'x',
        '',
      )
      .map((contentType) => (call: Call) => ({ ...call, contentType })),
  ];
  return fc.oneof(...ofAll, ...ofBodies, ...ofBodies);
};
