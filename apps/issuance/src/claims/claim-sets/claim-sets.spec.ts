import { claimSetsFor, nameClaimSets, sessionClaimsText, withoutClaimSet } from './claim-sets.js';

const entries = [
  { configurationId: 'c1', claimSets: [{ identifier: '__proto__', claims: { a: 1 } }, { claims: { a: 2 } }] },
  { configurationId: 'c2', claimSets: [] },
];
const named = () => {
  let made = 0;
  return nameClaimSets(entries, () => `generated-${++made}`)!;
};
const identifiers = [
  { credentialConfigurationId: 'c1', credentialIdentifiers: ['__proto__', 'generated-1'] },
  { credentialConfigurationId: 'c2', credentialIdentifiers: ['generated-2'] },
];

describe('claim sets', () => {
  it('have their own identifier or a generated one, as has an entry without claim sets [T271]', () =>
    expect(named()).toEqual({
      identifiers,
      sets: [
        { identifier: '__proto__', claims: { a: 1 } },
        { identifier: 'generated-1', claims: { a: 2 } },
      ],
    }));

  it('are not bound when no entry has any', () => expect(nameClaimSets([entries[1]!], () => 'unused')).toBeUndefined());

  it('are left out with configurations that are not requested [T275]', () => {
    expect(claimSetsFor(named(), new Set(['c1', 'c2']))).toEqual(named());
    expect(claimSetsFor(named(), new Set(['c1']))).toEqual({ ...named(), identifiers: [identifiers[0]] });
  });

  it('leave their identifiers to an entry without claim sets that is requested alone [T271, T275]', () => {
    const claimSets = claimSetsFor(named(), new Set(['c2']));
    expect(claimSets).toEqual({ identifiers: [identifiers[1]], sets: [] });
    const sealed = JSON.parse(sessionClaimsText({ a: 0 }, claimSets)) as Record<string, unknown>;
    expect(withoutClaimSet(sealed, 'generated-2')).toEqual([{ a: 0 }]);
  });

  it.each([
    ['__proto__', [{ a: 0, b: 0 }, { a: 1 }]],
    ['generated-1', [{ a: 0, b: 0 }, { a: 2 }]],
    ['generated-2', [{ a: 0, b: 0 }]],
    [undefined, [{ a: 0, b: 0 }]],
  ])(
    'are returned beside the claims of the offer, over which they take precedence: %s [T272]',
    (identifier, expected) =>
      expect(
        withoutClaimSet(JSON.parse(sessionClaimsText({ a: 0, b: 0 }, named())) as Record<string, unknown>, identifier),
      ).toEqual(expected),
  );

  it('are not in the text of a session without them', () =>
    expect(sessionClaimsText({ a: 0 }, undefined)).toBe('{"a":0}'));
});
