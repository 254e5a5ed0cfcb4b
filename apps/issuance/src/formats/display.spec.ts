import { claimDisplayFault, claimOf, displayFaults, displayOf } from './display.decisions.js';

const defaults = { name: 'Course', background_color: '#a1b2c3' };
const image = (length: number) => ({ uri: `data:image/png;base64,${'A'.repeat(length)}` });

describe('what wallets display of a credential', () => {
  it('is one entry from the configuration without display', () =>
    expect(displayOf(undefined, defaults)).toEqual([defaults]));

  it('has the members of an entry before those of the configuration, and canonical language tags', () =>
    expect(displayOf([{ name: 'Kurs', locale: 'DE-ch' }, { background_color: '#000000' }], defaults)).toEqual([
      { name: 'Kurs', locale: 'de-CH', background_color: '#a1b2c3' },
      { name: 'Course', background_color: '#000000' },
    ]));

  it('is bounded with the images that entries take over', () => {
    const entries = (count: number) => Array.from({ length: count }, (_, n) => ({ locale: `de-x-${n}a` }));
    const large = { ...defaults, logo: image(99_000) };
    expect(displayFaults(entries(2), large)).toEqual([]);
    expect(displayFaults(entries(3), large)).toEqual([
      {
        msg: 'must be at most 262144 characters of JSON, with the images of the configuration in each entry that has none',
        param: 'display',
        location: 'body',
      },
    ]);
    expect(displayFaults(undefined, large)).toEqual([]);
  });
});

describe('what wallets display of a claim', () => {
  it('is named in each language', () => {
    expect(claimOf({ required: true, display: [{ name: 'Vorname', locale: 'de-at' }] })).toEqual({
      mandatory: true,
      display: [{ name: 'Vorname', locale: 'de-AT' }],
    });
    expect(claimOf({ mapFrom: 'claims.x' })).toEqual({ mandatory: false });
  });

  const size = 'must have an array of 1 to 20 entries in display';
  const name = 'must have a name of 1 to 1024 characters in each entry of display';
  const locale = 'must have language tags such as en or de-CH (BCP 47) as locale in display';
  const repeated = 'must have each language at most once in display, and at most one entry without locale';
  it.each([
    [[{ name: 'Vorname', locale: 'de' }, { name: 'Given name', locale: 'en' }, { name: 'Name' }], undefined],
    ['Vorname', size],
    [null, size],
    [[], size],
    [Array.from({ length: 21 }, (_, n) => ({ name: 'x', locale: `de-x-${n}a` })), size],
    [['Vorname'], 'must have only objects in display'],
    [[null], 'must have only objects in display'],
    [[[]], 'must have only objects in display'],
    [[{ name: 'x', lang: 'de' }], 'must not have the member lang in display; allowed: name and locale'],
    [[{ locale: 'de' }], name],
    [[{ name: '' }], name],
    [[{ name: 7 }], name],
    [[{ name: 'n'.repeat(1025) }], name],
    [[{ name: 'x', locale: 'de_CH' }], locale],
    [[{ name: 'x', locale: null }], locale],
    [
      [
        { name: 'x', locale: 'de' },
        { name: 'y', locale: 'DE' },
      ],
      repeated,
    ],
    [[{ name: 'x' }, { name: 'y' }], repeated],
  ])('%j has the fault %j', (display, fault) => expect(claimDisplayFault(display)).toBe(fault));
});
