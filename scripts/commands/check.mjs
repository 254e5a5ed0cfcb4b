import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../setup.mjs';

const tool = (...path) => join(root, 'node_modules', ...path);
// nx does not repeat what passed on the same inputs.
const nx = (target) => [tool('nx', 'dist', 'bin', 'nx.js'), 'run', `repository:${target}`, '--output-style=static'];
const checks = [
  { name: 'format', words: [tool('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '.'] },
  { name: 'structure and lockfile', words: [join(root, 'scripts', 'structure.mjs')] },
  { name: 'commit subjects', words: [join(root, 'scripts', 'lint-commits.mjs')] },
  { name: 'types', words: nx('types') },
  { name: 'public texts', words: [join(root, 'scripts', 'lint-phrases.mjs')] },
  { name: 'interface definitions', words: [join(root, 'scripts', 'lint-interface.mjs')] },
  { name: 'lint and module boundaries', words: nx('lint-all') },
  { name: 'generated docs', words: nx('docs') },
];

/** All checks of the sources that do not run them. */
export default {
  group: 'Develop',
  description:
    'check format, structure, commit subjects, types, lint, module boundaries, generated documents and links',
  examples: ['npm run check'],
  run: async (_given, cli) => {
    await cli.build();
    // Two at a time: the checks are made for a machine with two cores.
    const waiting = [...checks];
    const done = [];
    await Promise.all(
      [1, 2].map(async () => {
        for (let check = waiting.shift(); check; check = waiting.shift()) done.push(await runCheck(check, cli));
      }),
    );
    const failed = done.filter(({ ok }) => !ok).length;
    // A number to compare, not a check.
    await cli.runProgram([join(root, 'scripts', 'production-lines.mjs')], { isText: true });
    cli.say(failed === 0 ? `check: all ${checks.length} passed` : `check: ${failed} of ${checks.length} failed`);
    return {
      exitCode: failed === 0 ? 0 : 1,
      document: { ok: failed === 0, passed: checks.length - failed, failed, checks: done },
    };
  },
};

/** Prints a line, and the output of a check that fails. */
async function runCheck({ name, words }, cli) {
  const start = performance.now();
  const { code, output } = await cli.step(name, () => outputOf(words));
  const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
  cli.say(`${code === 0 ? 'ok     ' : 'FAILED '} ${name} (${seconds} s)`);
  if (code !== 0) cli.say(output.trimEnd().replace(/^/gm, '        '));
  return { name, ok: code === 0, seconds };
}

function outputOf(words) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (it) => (output += it));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
