import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { suites } from '../test-suites.mjs';

/** Groups of suites that prove a statement, by its state. */
const PROOFS = { built: 'standard', soak: 'soak' };
const groupOf = (name) => suites.find((suite) => suite.name === name)?.group;

export default {
  group: 'Develop',
  description: 'compare the statements of the specifications (docs/reference/conformance.md) with the last `npm test`',
  options: [{ flags: '--list', about: 'print every statement with its tests and their results' }],
  examples: ['npm run conformance -- --list'],
  run: ({ options: { list } }, cli) => {
    const page = readFileSync(join(root, 'docs', 'reference', 'conformance.md'), 'utf8');
    const statements = new Map();
    const faults = [];
    for (const [, number, text, state] of page.matchAll(/^\| ([MT]\d+) +\| (.+?) +\| (\S+) +\|$/gm)) {
      if (statements.has(number)) faults.push(`${number} stands there twice`);
      if (!['missing', ...Object.keys(PROOFS)].includes(state))
        faults.push(`${number} has the state ${state}: neither built, soak nor missing`);
      statements.set(number, { text, state, tests: [] });
    }
    if (statements.size === 0) faults.push('docs/reference/conformance.md has no statement');

    const folder = join(root, 'tmp', 'test-results');
    const results = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
    if (results.length === 0) faults.push('no results: run npm test first');
    for (const file of results)
      for (const { assertionResults = [] } of JSON.parse(readFileSync(join(folder, file), 'utf8')).testResults ?? [])
        for (const { fullName, status } of assertionResults)
          for (const [, numbers] of fullName.matchAll(/\[((?:[MT]\d+(?:, )?)+)\]/g))
            for (const number of numbers.split(', ')) {
              const statement = statements.get(number);
              if (statement) statement.tests.push({ name: fullName, status, suite: file.replace(/\.json$/, '') });
              else faults.push(`${number} is no statement, yet a test names it: ${fullName}`);
            }

    const ran = new Set(results.map((file) => groupOf(file.replace(/\.json$/, ''))));
    for (const [number, { text, state, tests }] of statements) {
      const failed = tests.filter(({ status }) => status === 'failed');
      const proof = PROOFS[state];
      const passed = tests.filter(({ status }) => status === 'passed');
      if (proof && failed.length) faults.push(`${number} has a failed test: ${failed[0].name}`);
      // The soak level, which takes long, is proven where it ran.
      else if (
        proof &&
        (proof === 'standard' || ran.has(proof)) &&
        !passed.some(({ suite }) => groupOf(suite) === proof)
      )
        faults.push(`${number} is ${state}, but no ${proof} test that passed names it: ${text}`);
      else if (state === 'missing' && passed.length)
        faults.push(`${number} is missing, yet a test passed: ${passed[0].name}`);
      if (list) {
        cli.say(`${number} ${state}: ${text}`);
        for (const { name, status, suite } of tests) cli.say(`    ${status} (${suite}) ${name}`);
      }
    }
    for (const fault of faults) cli.note(fault);
    const built = [...statements.values()].filter(({ state }) => state !== 'missing').length;
    cli.say(`conformance: ${built} of ${statements.size} statements are built; ${faults.length} faults`);
    const failed = faults.length > 0;
    return { exitCode: failed ? 1 : 0, document: { ok: !failed, statements: statements.size, built, faults } };
  },
};
