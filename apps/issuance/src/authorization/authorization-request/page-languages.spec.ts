import { bestEntry, pageLanguagesOf } from './page-languages.js';

const languagesOf = (uiLocales?: string, acceptLanguage?: string) =>
  pageLanguagesOf(
    new URLSearchParams(uiLocales === undefined ? {} : { ui_locales: uiLocales }),
    acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage },
  );

describe('the languages of a page', () => {
  it.each([
    [undefined, undefined, 'en'],
    ['de', undefined, 'de'],
    ['fr-CA', 'de', 'fr'],
    ['it es-419 de', 'fr', 'es'],
    ['it', 'pl, fr;q=0.5, de;q=0.9', 'de'],
    ['', 'es', 'es'],
    ['x <script>', 'DE-at', 'de'],
    ['constructor toString', undefined, 'en'],
    ['it '.repeat(20) + 'de', undefined, 'en'],
    ['it', 'de;q=0, *', 'en'],
  ])('ui_locales %j and Accept-Language %j: %s [T233]', (uiLocales, acceptLanguage, language) =>
    expect(languagesOf(uiLocales, acceptLanguage).language).toBe(language),
  );
});

describe('the best entry of a display', () => {
  const [none, de, deCH, it_] = [
    { name: 'Card' },
    { name: 'Ausweis', locale: 'de' },
    { name: 'Ausweis (CH)', locale: 'de-CH' },
    { name: 'Tessera', locale: 'it' },
  ];
  it.each([
    [undefined, [none, de], none],
    ['de-CH', [none, de, deCH], deCH],
    ['de-AT', [none, de, deCH], de],
    ['it de', [de, it_], it_],
    ['pl', [de, none], none],
    ['pl', [de, it_], de],
    ['pl', [{ name: 'Pass', locale: 'en' }, de], { name: 'Pass', locale: 'en' }],
  ] as const)('for ui_locales %j of %j is %j [T233]', (uiLocales, entries, best) =>
    expect(bestEntry(entries as never, languagesOf(uiLocales))).toEqual(best),
  );
});
