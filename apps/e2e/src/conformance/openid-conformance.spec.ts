import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROFILES } from './issuer-under-test.js';

const here = import.meta.dirname;
const page = readFileSync(join(here, '../../../../docs/reference/openid-conformance.md'), 'utf8');

interface Module {
  profiles: string;
  variants: string[];
}
const TITLE = /\bit\('((?:oid4vci-1_0-issuer|fapi2-security-profile-final)-[\w-]+)(?:, ([^[']+))? \[T/g;

/** By the titles of the tests; all run in each profile. */
const testedModules = (): Map<string, Module> => {
  const modules = new Map<string, Module>();
  const profiles = PROFILES.join(', ');
  for (const file of ['issuer-modules.ts', 'fapi-modules.ts'])
    for (const [, name, variant] of readFileSync(join(here, file), 'utf8').matchAll(TITLE)) {
      const module = modules.get(name!) ?? { profiles, variants: [] };
      if (variant !== undefined) module.variants.push(variant.trim());
      modules.set(name!, module);
    }
  return modules;
};
const rows = [...page.matchAll(/^\| `([^`]+)` *\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)].map(
  ([, name, profiles, variants, result, ofSuite]) => ({
    ...{ name: name!, profiles: profiles!.trim(), result: result!.trim(), ofSuite: ofSuite!.trim() },
    variants: variants!.split(';').flatMap((variant) => variant.trim() || []),
  }),
);

describe('the page on the OpenID conformance suite [T472]', () => {
  it('lists each module once', () => {
    expect(rows.length).toBeGreaterThanOrEqual(61);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  it('lists those as passed that have a test, with its profiles and variants', () => {
    const passed = rows.filter(({ result }) => result === 'passed');
    const listed = new Map(passed.map(({ name, profiles, variants }) => [name, { profiles, variants }]));
    expect(listed).toEqual(testedModules());
  });

  it('has the result of the suite itself, of one version, for each [T711]', () => {
    expect(page).toMatch(/Version 5\.2\.4 was run/);
    for (const { name, ofSuite } of rows)
      expect([name, ofSuite]).toEqual([name, expect.stringMatching(/^(passed|warning|review|skipped|failed)\b/)]);
    // Each word that is not "passed" is explained on the page.
    for (const word of ['failed', 'review', 'skipped'])
      if (rows.some(({ ofSuite }) => ofSuite.startsWith(word))) expect(page).toContain(`- **${word}**: `);
  });

  it('gives the reason for which another one is not run', () => {
    for (const { result, profiles } of rows.filter(({ result }) => result !== 'passed')) {
      expect(result).toMatch(/^not yet run: \w/);
      expect(profiles).toBe('');
    }
  });
});
