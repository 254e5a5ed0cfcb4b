import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { Name, Optional, Uuid } from './validators.js';

class Named {
  @Name(8) name: unknown;
}
class PerhapsNamed {
  @Optional() @Name() name: unknown;
}
class Identified {
  @Uuid() id: unknown;
}

const faultOf = (dto: object): string | undefined => {
  const [error] = validateSync(dto, { stopAtFirstError: true });
  return error && Object.values(error.constraints ?? {})[0];
};

describe('Name', () => {
  it('is trimmed', () => {
    const dto = plainToInstance(Named, { name: ' \n Ada \t' });
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
  ])('%j %s', (name, message) => {
    expect(faultOf(plainToInstance(Named, { name }))).toBe(message);
  });

  it.each(['Zoë', '😀', "d'Or", '\u200f'])('may be %j', (name) => {
    expect(faultOf(plainToInstance(Named, { name }))).toBeUndefined();
  });
});

describe('Uuid', () => {
  it('is read in either case and kept in lower case', () => {
    const dto = plainToInstance(Identified, { id: '7A1C3A52-6F0E-4A49-9D0B-3F1F5D0C9A01' });
    expect([faultOf(dto), dto.id]).toEqual([undefined, '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a01']);
  });

  it('leaves what is no UUID as it came', () => {
    const dto = plainToInstance(Identified, { id: 'NOPE' });
    expect([faultOf(dto), dto.id]).toEqual(['Invalid value', 'NOPE']);
  });
});

describe('Optional', () => {
  it.each([
    [{}, undefined],
    [{ name: undefined }, undefined],
    [{ name: 'Ada' }, undefined],
    [{ name: null }, 'must be a string'],
    [{ name: '' }, 'must have 1 to 255 characters'],
  ])('%j: %s', (value, fault) => {
    expect(faultOf(plainToInstance(PerhapsNamed, value))).toBe(fault);
  });
});
