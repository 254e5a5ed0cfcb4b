import { MultilingualMetadata } from './display-languages.js';

const [de, deCH, en, none] = [
  { name: 'Ausweis', locale: 'de' },
  { name: 'Ausweis (Schweiz)', locale: 'de-CH' },
  { name: 'Card', locale: 'en' },
  { name: 'Default' },
];

describe('metadata in the languages that a caller prefers', () => {
  const all = {
    display: [none],
    configurations: {
      a: { display: [none, de, deCH, en], claims: [{ path: ['display'], display: [en, de] }] },
      b: { display: [en] },
      c: { credentialSubject: { display: { mandatory: true, display: [deCH, en] } } },
    },
  };
  const selected = (header?: string) => new MultilingualMetadata(all).select(header);

  it('has everything without the header, and where no language matches', () => {
    for (const header of [undefined, '', '*', 'fr', 'd', 'de;q=0', 'x-y'])
      expect(selected(header)).toEqual({ metadata: all });
  });

  it('has the best entry of each display (RFC 4647 §3.4), and all of one without a match', () => {
    expect(selected('de-AT, en;q=0.5')).toEqual({
      contentLanguage: 'de, en',
      metadata: {
        display: [none],
        configurations: {
          a: { display: [de], claims: [{ path: ['display'], display: [de] }] },
          b: { display: [en] },
          c: { credentialSubject: { display: { mandatory: true, display: [en] } } },
        },
      },
    });
    expect(selected('de')).toMatchObject({
      contentLanguage: 'de',
      metadata: {
        configurations: { b: { display: [en] }, c: { credentialSubject: { display: { display: [deCH, en] } } } },
      },
    });
  });

  it('truncates ranges, and leaves out subtags of one character with what follows them', () => {
    const first = (header: string) => selected(header).metadata['configurations'] as typeof all.configurations;
    expect(first('de-CH-1996').a.display).toEqual([deCH]);
    expect(first('de-CH-x-private').a.display).toEqual([deCH]);
    expect(first('de-x-private').a.display).toEqual([de]);
    // A range matches no longer tag.
    expect(first('de').c).toEqual(all.configurations.c);
  });

  it('is made once for callers with the same languages, and leaves the whole unchanged', () => {
    const metadata = new MultilingualMetadata(all);
    const before = JSON.stringify(all);
    const one = metadata.select('de-AT;q=0.9, fr, en;q=0.5');
    expect(metadata.select('de, en;q=0.1')).toBe(one);
    expect(metadata.select('en, de')).not.toBe(one);
    expect(JSON.stringify(all)).toBe(before);
  });

  it('keeps a bounded number of selections', () => {
    const tags = Array.from({ length: 30 }, (_, n) => `de-x-t${n}`);
    const many = new MultilingualMetadata({ display: tags.map((locale) => ({ name: locale, locale })) });
    for (const tag of tags) expect(many.select(tag)).toMatchObject({ contentLanguage: tag });
    expect((many as unknown as { selected: Map<string, unknown> }).selected.size).toBeLessThanOrEqual(20);
  });
});
