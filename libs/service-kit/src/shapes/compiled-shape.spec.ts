import 'reflect-metadata';
// eslint-disable-next-line @typescript-eslint/no-restricted-imports -- what the compiled shapes are compared with
import { plainToInstance, Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsDefined,
  IsInt,
  IsRgbColor,
  IsString,
  MaxLength,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';
import fc from 'fast-check';
import {
  BoundedJson,
  IsRecord,
  Name,
  Nested,
  NestedList,
  nestedTypeOf,
  normalizerOf,
  Optional,
  OPERATIONS,
  ROLES,
  rulesOf,
  Unique,
  type DeclaredRule,
  type DtoClass,
  type ErrorDetail,
  type Operation,
} from '@attestry/contracts';
import { shapeOf } from './compiled-shape.js';
import { checkShape, compileShapes } from './validation.js';

const PARTS = ['params', 'query', 'body'] as const;
const parts = [
  ...new Map(
    OPERATIONS.flatMap((operation) =>
      PARTS.flatMap((part) => {
        const type = operation[part] as DtoClass<object> | undefined;
        return type ? [[`${part} ${type.name}`, { type, part, secrets: operation.secrets ?? [] }] as const] : [];
      }),
    ),
  ),
];

// ---- class-transformer and class-validator: what the compiled shapes replace -----------------------------------------------

const baseOf = (type: DtoClass): DtoClass => Object.getPrototypeOf(type) as DtoClass;
const membersOf = (type: DtoClass): string[] => [...new Set(rulesOf(type).map(({ propertyName }) => propertyName))];

/** Declares for class-transformer, at the class that declared it, what DTOs declare in their own way. */
const declared = new Set<string>();
const declareForTransformer = (type: DtoClass): void => {
  for (const member of membersOf(type)) {
    const normalize = normalizerOf(type, member);
    let at = type;
    while (normalize && normalizerOf(baseOf(at), member) === normalize) at = baseOf(at);
    const id = `${at.name}.${member}`;
    const nested = nestedTypeOf(type, member);
    if (nested) declareForTransformer(nested);
    if (declared.has(id)) continue;
    declared.add(id);
    if (normalize) Transform(({ value }: { value: unknown }) => normalize(value))(at.prototype as object, member);
    if (nested) Type(() => nested)(at.prototype as object, member);
  }
};

const MAX_ECHO = 200;
const echo = (value: unknown): { value?: unknown } => {
  if (value === undefined) return {};
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text !== undefined && text.length <= MAX_ECHO ? { value } : {};
};
const flatten = (
  errors: readonly ValidationError[],
  location: ErrorDetail['location'],
  secrets: readonly string[],
  path = '',
): ErrorDetail[] =>
  errors.flatMap((error) => {
    const param = path ? `${path}.${error.property}` : error.property;
    const hidden = secrets.includes(param.split('.')[0]!);
    const own = Object.values(error.constraints ?? {}).map((msg): ErrorDetail => ({
      ...(hidden ? {} : echo(error.value)),
      msg: error.value === undefined ? 'is required' : msg,
      param,
      location,
    }));
    return [...own, ...flatten(error.children ?? [], location, secrets, param)];
  });

const INHERITED = new RegExp(`"(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})":`);

const reference = (
  type: DtoClass<object>,
  text: string,
  location: ErrorDetail['location'],
  secrets: readonly string[],
) => {
  const value = plainToInstance(type, JSON.parse(text));
  const options = { whitelist: true, forbidUnknownValues: true, stopAtFirstError: true } as const;
  const errors = validateSync(value, { ...options, validationError: { target: false } });
  return { value, details: flatten(errors, location, secrets) };
};

// ---- requests, more or less as declared ---------------------------------------------------------------------------------------

const UUID = '7A1C3A52-6F0E-4A49-9D0B-3F1F5D0C9A01';
const TEXTS = [
  UUID,
  'A'.repeat(32),
  'acme',
  '#a1b2c3',
  ' Ann ',
  'a@b.example',
  'did:key:z6Mk',
  'openid',
  '2026-01-01',
  'a'.repeat(43),
];
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 50, unit: 'grapheme' }), fc.base64String());
const anything = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(null, 0, 1, -1, 1.5, true, false, '', [], {}),
);

const fitting = (type: DtoClass, member: string): fc.Arbitrary<unknown> => {
  const nested = nestedTypeOf(type, member);
  const rules = rulesOf(type).filter(({ propertyName }) => propertyName === member);
  if (nested && rules.some(({ name }) => name === 'isArray')) return fc.array(requestOf(nested), { maxLength: 3 });
  if (nested) return requestOf(nested);
  const named = (name: string): DeclaredRule | undefined => rules.find((rule) => rule.name === name);
  const [choice] = named('isIn')?.constraints ?? [];
  const pattern = named('matches')?.constraints?.[0] as RegExp | undefined;
  const [least = 0, most = 50] = (named('isLength')?.constraints ?? []) as number[];
  const texts = (named('isIso8601') ? ['2026-01-01', '2026-02-03T04:05:06Z'] : TEXTS).filter(
    (one) => (pattern?.test(one) ?? true) && one.length >= least && one.length <= most,
  );
  const one: fc.Arbitrary<unknown> = choice
    ? fc.constantFrom(...(choice as unknown[]))
    : named('roles')
      ? fc.constantFrom(...ROLES)
      : named('isInt')
        ? fc.oneof(fc.integer({ min: -2, max: 20 }), fc.integer({ min: 0, max: 2000 }).map(String), fc.double())
        : named('isBoolean')
          ? fc.boolean()
          : named('isRecord')
            ? fc.dictionary(fc.string(), fc.oneof(text, anything), { maxKeys: 4 })
            : fc.oneof(
                { weight: 4, arbitrary: fc.constantFrom(...(texts.length > 0 ? texts : ['1'])) },
                { weight: 1, arbitrary: text },
              );
  return named('isArray') ? fc.oneof(fc.array(one, { maxLength: 4 }), fc.array(anything, { maxLength: 4 }), one) : one;
};

const required = (type: DtoClass): string[] => {
  const optional = rulesOf(type).filter((rule) => rule.type === 'conditionalValidation');
  return membersOf(type).filter((member) => !optional.some(({ propertyName }) => propertyName === member));
};
const requestOf = (type: DtoClass): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      fc.record(
        Object.fromEntries(
          membersOf(type).map((member) => [
            member,
            fc.oneof({ weight: 12, arbitrary: fitting(type, member) }, { weight: 1, arbitrary: anything }),
          ]),
        ),
        { requiredKeys: [] },
      ),
      fc.record(Object.fromEntries(required(type).map((member) => [member, fitting(type, member)]))),
      fc.dictionary(fc.string(), anything, { maxKeys: 3 }),
    )
    .chain(([members, needed, others]) =>
      fc.constantFrom(
        { ...others, ...needed },
        { ...others, ...members },
        { ...others, ...needed, ...members },
        { ...others, ...members, ...needed },
      ),
    );

/** Members beyond a maximum: there the maximum is named, whichever rule class-validator would name. */
const beyondMaximum = (type: DtoClass, value: object): Set<string> => {
  const found = new Set<string>();
  const visit = (shape: ReturnType<typeof shapeOf>, instance: object, path: string): void => {
    for (const { name, maxima, nested, listMax } of shape.members) {
      const member = (instance as Record<string, unknown>)[name];
      if (maxima.some((check) => check(member, instance) !== undefined)) found.add(path + name);
      if (!nested || typeof member !== 'object' || member === null) continue;
      if (!Array.isArray(member)) visit(nested, member, `${path}${name}.`);
      else if (listMax !== undefined && member.length <= listMax)
        for (const [index, entry] of member.entries())
          if (typeof entry === 'object' && entry !== null) visit(nested, entry as object, `${path}${name}.${index}.`);
    }
  };
  visit(shapeOf(type), value, '');
  return found;
};

describe('compiled shapes and class-validator', () => {
  const counts: [name: string, legal: number, refused: number][] = [];

  beforeAll(() => {
    for (const [, { type }] of parts) declareForTransformer(type);
  });

  it.each(parts)('agree on %s', (name, { type, part, secrets }) => {
    let [legal, refused] = [0, 0];
    fc.assert(
      fc.property(requestOf(type), (request) => {
        const json = JSON.stringify(request);
        // class-transformer drops members of these names; tests of their own are below.
        fc.pre(!INHERITED.test(json));
        const expected = reference(type, json, part, secrets);
        const found = checkShape(type, JSON.parse(json), part, secrets);
        const beyond = beyondMaximum(type, found.value);
        const comparable = ({ details }: { details: ErrorDetail[] }) =>
          details.map((detail) => {
            const member = [...beyond].find((it) => `${detail.param}.`.startsWith(`${it}.`));
            const msg = detail.msg.startsWith('is required: ') ? 'is required' : detail.msg;
            if (member === undefined) return { ...detail, msg };
            return { param: member, msg: 'beyond its maximum', location: detail.location };
          });
        expect(comparable(found)).toEqual(comparable(expected));
        if (expected.details.length === 0) expect(found.value).toEqual(expected.value);
        else refused++;
        if (expected.details.length === 0) legal++;
      }),
      { numRuns: 200, seed: 12 },
    );
    counts.push([name, legal, refused]);
  });

  it('were compared on valid and on refused requests', () => {
    expect(counts).toHaveLength(parts.length);
    expect(counts.filter(([, legal]) => legal === 0).map(([name]) => name)).toEqual([]);
    // Both take any JSON, which their service checks, for their faults have the OAuth shape.
    expect(counts.filter(([, , refused]) => refused === 0).map(([name]) => name)).toEqual([
      'body TokenRequest',
      'body RevokeTokenRequest',
    ]);
  });
});

describe('the compiler', () => {
  class Inner {
    @IsString() @MaxLength(9) text: string;
  }
  class Recursive {
    @Optional() @Nested(Recursive) again?: Recursive;
  }
  class Empty {}
  const declaring = (...decorators: PropertyDecorator[]): DtoClass<object> => {
    class Declared {
      value: unknown;
    }
    for (const decorate of decorators.reverse()) decorate(Declared.prototype, 'value');
    return Declared;
  };

  it.each<[string, DtoClass<object>, string]>([
    ['a string without a maximum', declaring(IsString()), 'is a string without a maximum'],
    ['an array without a maximum', declaring(IsArray(), IsInt({ each: true })), 'is an array without a maximum'],
    [
      'an array of strings without a maximum',
      declaring(IsArray(), ArrayMaxSize(2), IsString({ each: true })),
      'has entries without a maximum',
    ],
    [
      'an array whose entries have no type',
      declaring(IsArray(), ArrayMaxSize(2), Unique()),
      'has entries without a maximum',
    ],
    ['a map without a maximum', declaring(IsRecord()), 'is a map without a maximum'],
    ['an object without a class', declaring(IsRecord(), ValidateNested()), 'is a map without a maximum'],
    [
      'rules for entries without a declaration as an array',
      declaring(IsInt({ each: true })),
      'has rules for each entry but is not declared as an array',
    ],
    ['a member without a type', declaring(Optional()), 'has no rule that names its type'],
    ['an unsupported rule', declaring(IsRgbColor(), MaxLength(9)), 'has the rule isRgbColor, which is not supported'],
    ['an unsupported declaration', declaring(Allow()), 'has a declaration whitelistValidation, which is not supported'],
    [
      'the unsupported declaration IsDefined',
      declaring(IsDefined(), BoundedJson()),
      'has a declaration isDefined, which is not supported',
    ],
    [
      'a rule with groups',
      declaring(IsInt({ groups: ['a'] })),
      'has the rule isInt with options that are not supported',
    ],
    [
      'an array of objects without a class',
      declaring(ValidateNested({ each: true }), BoundedJson()),
      'is an array of objects without a class: use NestedList',
    ],
    [
      'an array of objects without a maximum',
      declaring(ValidateNested({ each: true }), IsRecord({ each: true }), IsArray(), Nested(Inner)),
      'must not be an array of objects: use NestedList',
    ],
    [
      'a nested class with a fault',
      declaring(Nested(declaring(IsString()))),
      'contains Declared.value is a string without a maximum',
    ],
    ['a class that contains itself', Recursive, 'Recursive.again contains itself'],
    ['a class without members', Empty, 'Empty has no members'],
  ])('refuses %s, with the names of DTO and member', (_what, body, fault) => {
    const operation = { name: 'dids.some', body } as unknown as Operation;
    expect(() => compileShapes([operation])).toThrow(fault);
    if (body.name === 'Declared')
      expect(() => compileShapes([operation])).toThrow('dids.some: shapes: Declared.value ');
  });

  it('accepts every operation of the registry', () => expect(() => compileShapes(OPERATIONS)).not.toThrow());

  class Request {
    @Name(10) name: string;
    @Optional()
    @IsArray()
    @ArrayMaxSize(3)
    @Unique()
    @IsString({ each: true })
    @MaxLength(9, { each: true })
    list?: string[];
    @Optional() @Nested(Inner) inner?: Inner;
    @Optional() @NestedList(Inner, 2) inners?: Inner[];
    @Optional() @IsRecord() @BoundedJson({ entries: 3 }) map?: object;
  }

  it('visits no member that is not declared', () => {
    const source = new Proxy(
      { name: 'Ann' },
      {
        ownKeys: () => {
          throw new Error('all members were listed');
        },
        get: (target, name) => {
          if (name !== 'name') throw new Error(`${String(name)} was read`);
          return target.name;
        },
      },
    );
    expect(checkShape(Request, source, 'body')).toEqual({ value: { name: 'Ann' }, details: [] });
  });

  it.each(['list', 'map'])('visits fewer than 200 entries of a %s that has too many', (member) => {
    let visits = 0;
    const entries = member === 'list' ? [] : {};
    const count = () => {
      visits++;
      return 'text';
    };
    for (let at = 0; at < 5000; at++)
      Object.defineProperty(entries, `${at}`, { enumerable: true, configurable: true, get: count });
    const { details } = checkShape(Request, { name: 'Ann', [member]: entries }, 'body');
    expect(details).toEqual([expect.objectContaining({ param: member })]);
    expect(visits).toBeLessThan(200);
  });

  it('checks each object of a list by the path of its place', () => {
    const details = (inners: unknown) => checkShape(Request, { name: 'Ann', inners }, 'body').details;
    expect(checkShape(Request, { name: 'Ann', inners: [{ text: 'a', more: 1 }, { text: 'b' }] }, 'body')).toEqual({
      value: { name: 'Ann', inners: [{ text: 'a' }, { text: 'b' }] },
      details: [],
    });
    expect(details([{ text: 'a' }, { text: 7 }])).toEqual([
      { value: 7, msg: 'text must be shorter than or equal to 9 characters', param: 'inners.1.text', location: 'body' },
    ]);
    expect(details([{}])).toEqual([{ msg: 'is required', param: 'inners.0.text', location: 'body' }]);
    expect(details([])).toEqual([{ value: [], msg: 'must not be empty', param: 'inners', location: 'body' }]);
    expect(details([null])).toEqual([
      { value: [null], msg: 'must contain only objects', param: 'inners', location: 'body' },
    ]);
    expect(details({ text: 'a' })).toMatchObject([{ msg: 'must be an array', param: 'inners' }]);
    expect(details([1, 2, 3])).toMatchObject([{ msg: 'must have at most 2 entries', param: 'inners' }]);
  });

  it('names what is too long by its path [T654]', () => {
    const details = (members: object) => checkShape(Request, { name: 'Ann', ...members }, 'body').details;
    const named = (param: string, msg: string) => [expect.objectContaining({ param, msg, location: 'body' })];
    expect(details({ list: ['a', 'x'.repeat(10)] })).toEqual(named('list.1', 'must have at most 9 characters'));
    const long = 'x'.repeat(4097);
    expect(details({ map: { a: [{ b: 'x' }, { b: long }] } })).toEqual(
      named('map.a.1.b', 'must have at most 4096 characters'),
    );
    expect(details({ map: [long] })[0]).toMatchObject({ param: 'map.0' });
    expect(details({ map: { a: { [long]: 1 } } })).toEqual(
      named('map.a', 'must have names of at most 1024 characters'),
    );
    expect(details({ map: { a: { b: JSON.parse('{"__proto__":1}') as object } } })).toEqual(
      named('map.a.b', 'must not have a member named __proto__'),
    );
    const deep = Array.from({ length: 33 }).reduce<object>((inner) => ({ n: inner }), {});
    expect(details({ map: deep })).toEqual(named(`map${'.n'.repeat(32)}`, 'must not nest deeper than 32 levels'));
    expect(details({ map: { a: [...Array(1001).keys()] } })).toEqual(
      named('map', 'must have at most 1000 values in total'),
    );
    const names = ['a', 'b', 'c'].map((name) => name.repeat(1000));
    const [{ param } = { param: '' }] = details({ map: { [names[0]!]: { [names[1]!]: { [names[2]!]: long } } } });
    expect([param.length, param.startsWith('map.aaa')]).toEqual([1024, true]);
    expect(JSON.stringify(details({ map: { a: long } }))).not.toContain('xxx');
  });

  it('reads only own members', () => {
    const { details } = checkShape(Request, Object.create({ name: 'Ann' }) as object, 'body');
    expect(details).toEqual([{ msg: 'is required', param: 'name', location: 'body' }]);
    expect(checkShape(Request, Object.assign(Object.create(null), { name: 'Ann' }) as object, 'body').details).toEqual(
      [],
    );
  });

  it('reads a member once', () => {
    let reads = 0;
    const source = {
      get name() {
        return ++reads === 1 ? 'Ann' : 7;
      },
    };
    expect(checkShape(Request, source, 'body')).toEqual({ value: { name: 'Ann' }, details: [] });
  });

  it.each(['{"name":"Ann","__proto__":{"list":["x"],"admin":true}}'])('does not expose a prototype: %s', (json) => {
    const { value, details } = checkShape(Request, JSON.parse(json) as object, 'body');
    expect(details).toEqual([]);
    expect(Object.getPrototypeOf(value)).toBe(Request.prototype);
    expect((value as { map?: object }).map ?? {}).not.toHaveProperty('admin');
    expect({}).not.toHaveProperty('admin');
  });

  it('refuses a member named __proto__ of open values by name, and keeps every other name [T609]', () => {
    const { details } = checkShape(
      Request,
      JSON.parse('{"name":"Ann","map":{"__proto__":{"admin":true}}}') as object,
      'body',
    );
    expect(details).toMatchObject([{ msg: 'must not have a member named __proto__', param: 'map', location: 'body' }]);
    for (const name of [...Object.getOwnPropertyNames(Object.prototype), 'prototype'].filter(
      (one) => one !== '__proto__',
    )) {
      const { value, details: none } = checkShape(Request, { name: 'Ann', map: { [name]: { [name]: 1 } } }, 'body');
      expect([none, JSON.stringify((value as { map: object }).map)]).toEqual([[], `{"${name}":{"${name}":1}}`]);
    }
  });

  it('needs no stack for deep nesting', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`) as object;
    for (const member of ['name', 'list', 'inner', 'inners', 'map'])
      expect(checkShape(Request, { name: 'Ann', [member]: deep }, 'body').details).toHaveLength(1);
  });
});
