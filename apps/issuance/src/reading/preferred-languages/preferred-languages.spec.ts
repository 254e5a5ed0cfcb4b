import { languageRanges } from './preferred-languages.js';

describe('Accept-Language', () => {
  it.each([
    ['de', ['de']],
    ['fr;q=0.5, DE-ch, en;q=0.8', ['de-ch', 'en', 'fr']],
    ['en, de', ['en', 'de']],
    ['en ; q=0.2,de;q=1.000', ['de', 'en']],
    ['*, de;q=0', []],
    ['de;q=2, en;q=0.1234, fr;x=1, it;q=1;y, es', ['fr', 'it', 'es']],
    ['', []],
    [',;,=,de_CH, -', []],
    [`${'fr,'.repeat(99)}en, de`, [...Array<string>(99).fill('fr'), 'en']],
  ])('%j reads as %j', (header, ranges) => expect(languageRanges(header)).toEqual(ranges));
});
