import { shownName } from './shown-name.js';

const point = (code: number) => String.fromCodePoint(code);

describe('the name of a tenant in e-mails and on pages', () => {
  it('is unchanged when there is nothing to remove', () => {
    for (const name of ['Acme & <b>Sons</b>', '李', 'می\u200cخواهم', '👩\u200d🚀 Crew', 'עברית'])
      expect(shownName(name)).toBe(name);
  });

  it.each([
    0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200b, 0x2060,
    0xfeff, 0xad, 0xe0041,
  ])('does not contain the code point %d', (code) => expect(shownName(`Ac${point(code)}me`)).toBe('Acme'));

  it.each([0x00, 0x09, 0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0x2028, 0x2029])(
    'has a space instead of the control character %d',
    (code) => expect(shownName(`Ac${point(code)}${point(code)}me${point(code)}`)).toBe('Ac me'),
  );

  it('is never empty', () => expect(shownName('\u202e\u2066 \n')).toBe('a tenant without a name'));
});
