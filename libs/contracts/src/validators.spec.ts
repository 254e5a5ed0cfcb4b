import 'reflect-metadata';
import { validateSync } from 'class-validator';
import type { DtoClass } from './operation.js';
import { BoundedJson, LanguageTag, Name, Normalize, normalizerOf, Optional, Unique, Uuid } from './validators.js';

class Named {
  @Name(8) name: unknown;
}
class PerhapsNamed {
  @Optional() @Name() name: unknown;
}
class Spoken {
  @LanguageTag() language: unknown;
}
class Identified {
  @Uuid() id: unknown;
}

const read = <T extends object>(type: DtoClass<T>, given: object): T =>
  Object.assign(
    new type(),
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        (normalizerOf(type, name) ?? ((same: unknown) => same))(value),
      ]),
    ),
  );
const faultOf = (dto: object): string | undefined => {
  const [error] = validateSync(dto, { stopAtFirstError: true });
  return error && Object.values(error.constraints ?? {})[0];
};

describe('Name', () => {
  it('is trimmed', () => {
    const dto = read(Named, { name: ' \n Ada \t' });
    expect([faultOf(dto), dto.name]).toEqual([undefined, 'Ada']);
  });

  it.each([
    [7, 'must be a string'],
    ['   ', 'must have 1 to 8 characters'],
    ['123456789', 'must have 1 to 8 characters'],
    ['a\u0000b', 'must not contain control characters'],
    ['a\nb', 'must not contain control characters'],
    ['a\u0085b', 'must not contain control characters'],
    ['a\ud800', 'must be well-formed Unicode'],
  ])('refuses %j, which %s', (name, message) => {
    expect(faultOf(read(Named, { name }))).toBe(message);
  });

  it.each(['Zoë', '😀', "d'Or", '\u200f'])('accepts %j', (name) => {
    expect(faultOf(read(Named, { name }))).toBeUndefined();
  });
});

describe('Uuid', () => {
  it('is accepted in either case and stored in lower case', () => {
    const dto = read(Identified, { id: '7A1C3A52-6F0E-4A49-9D0B-3F1F5D0C9A01' });
    expect([faultOf(dto), dto.id]).toEqual([undefined, '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a01']);
  });

  it('does not change an invalid UUID', () => {
    const dto = read(Identified, { id: 'NOPE' });
    expect([faultOf(dto), dto.id]).toEqual(['must be a UUID', 'NOPE']);
  });
});

describe('Optional', () => {
  it.each([
    [{}, undefined],
    [{ name: undefined }, undefined],
    [{ name: 'Ada' }, undefined],
    [{ name: null }, 'must be a string'],
    [{ name: '' }, 'must have 1 to 255 characters'],
  ])('for %j returns the fault %s', (value, fault) => {
    expect(faultOf(read(PerhapsNamed, value))).toBe(fault);
  });
});

describe('Normalize', () => {
  class Base {
    @Name() name: unknown;
  }
  class Derived extends Base {}

  it('is inherited', () => expect(normalizerOf(Derived, 'name')?.(' a ')).toBe('a'));

  it('can be declared once per member', () =>
    expect(() => Normalize((value) => value)(Base.prototype, 'name')).toThrow('Base.name is declared twice'));
});

describe('Unique', () => {
  class Entries {
    @Unique() entries: unknown;
  }

  it.each([
    [['a', 'b'], undefined],
    [[], undefined],
    [['a', 'b', 'a'], 'must not repeat an entry'],
    ['a', 'must not repeat an entry'],
  ])('for %j returns the fault %s', (entries, fault) => {
    expect(faultOf(read(Entries, { entries }))).toBe(fault);
  });
});

describe('BoundedJson', () => {
  class Holder {
    @BoundedJson({ entries: 3, name: 4, text: 5, depth: 2, values: 6 }) value: unknown;
  }

  it.each([
    [null, undefined],
    [1, undefined],
    ['12345', undefined],
    [[1, 2, 3], undefined],
    [{ a: [1, 2], b: 'x' }, undefined],
    ['123456', 'must have strings of at most 5 characters'],
    [{ a: '123456' }, 'must have strings of at most 5 characters'],
    [[1, 2, 3, 4], 'must have at most 3 entries'],
    [{ a: 1, b: 1, c: 1, d: 1 }, 'must have at most 3 entries'],
    [{ a: [1, 2, 3, 4, 5, 6] }, 'must have at most 6 values in total'],
    [{ abcde: 1 }, 'must have names of at most 4 characters'],
    [{ a: { abcde: 1 } }, 'must have names of at most 4 characters'],
    [[[[]]], 'must not nest deeper than 2 levels'],
    [{ a: [{}] }, 'must not nest deeper than 2 levels'],
  ])('for %j returns the fault %s', (value, fault) => {
    expect(faultOf(read(Holder, { value }))).toBe(fault);
  });

  it('needs no stack for deep nesting', () => {
    const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as unknown;
    expect(faultOf(read(Holder, { value: deep }))).toBe('must not nest deeper than 2 levels');
  });
});

describe('LanguageTag', () => {
  it.each(['de', 'de-CH', 'DE-ch', 'zh-Hant-CN', 'de-DE-1996', 'de-CH-x-phonebk'])('accepts %s', (language) =>
    expect(faultOf(read(Spoken, { language }))).toBeUndefined(),
  );

  it.each(['', 'de_CH', 'a', '12', 'deutsch-', 'de, en', `de-x-${'a-'.repeat(20)}a`])('refuses %s', (language) =>
    expect(faultOf(read(Spoken, { language }))).toBe('must be a language tag such as en or de-CH (BCP 47)'),
  );

  it('is text', () => expect(faultOf(read(Spoken, { language: 7 }))).toBe('must be a string'));
});
