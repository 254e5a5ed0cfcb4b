import { unusedClaims, type GivenClaims } from './unused-claims.js';

const given = (names: string[], used: string[] = [], param = 'claims'): GivenClaims => ({
  ...{ param, names, used: new Set(used), users: 'no mapping' },
});

describe('claims of an offer that nothing uses [T625]', () => {
  it('are named with the claim that was probably meant, which is none of those that are given', () => {
    expect(unusedClaims([given(['birthdate', 'name'], ['name', 'birthdate', 'other'])])).toEqual([]);
    expect(unusedClaims([given(['birthdat', 'name', 'colour'], ['name', 'birthdate'])])).toEqual([
      { param: 'claims.birthdat', msg: 'is not used: no mapping names it; did you mean "birthdate"?' },
      { param: 'claims.colour', msg: 'is not used: no mapping names it' },
    ]);
    expect(unusedClaims([given(['name', 'names'], ['name'])])).toEqual([
      { param: 'claims.names', msg: 'is not used: no mapping names it' },
    ]);
  });

  it('are named in the claim set that has them', () => {
    const sets = [
      given(['a'], ['a'], 'credentials.0.claimSets.0.claims'),
      given(['b'], [], 'credentials.0.claimSets.1.claims'),
    ];
    expect(unusedClaims(sets)).toEqual([
      { param: 'credentials.0.claimSets.1.claims.b', msg: 'is not used: no mapping names it' },
    ]);
  });

  it('are bounded in number and length', () => {
    const names = Array.from({ length: 1000 }, (_, n) => `${n}${'x'.repeat(1000)}`);
    const warnings = unusedClaims([given(names)]);
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)).toEqual({ param: 'claims', msg: 'has 990 more claims that nothing uses' });
    expect(JSON.stringify(warnings).length).toBeLessThan(3000);
    expect(unusedClaims([given([`${'x'.repeat(99)}\u{1f600}`])])[0]!.param).toHaveLength(108);
  });

  it('named like members of Object.prototype are claims as others', () => {
    const names = Object.getOwnPropertyNames(Object.prototype);
    expect(unusedClaims([given(names.slice(0, 5))]).map(({ param }) => param)).toEqual(
      names.slice(0, 5).map((name) => `claims.${name}`),
    );
    expect(unusedClaims([given(names, names)])).toEqual([]);
  });

  it('are compared with a bounded number of names', () => {
    const others = (length: number) => Array.from({ length }, (_, n) => `other${n}`);
    const [compared] = unusedClaims([given(['birthdat'], [...others(199), 'birthdate'])]);
    const [beyond] = unusedClaims([given(['birthdat'], [...others(200), 'birthdate'])]);
    expect([compared, beyond].map((warning) => warning!.msg.includes('did you mean'))).toEqual([true, false]);
  });
});
