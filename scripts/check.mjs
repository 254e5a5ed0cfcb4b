// npm run check: everything that can be said about the sources without running them. A line for each check;
// the output of those that fail. `--summary=<file>` also writes {"passed", "failed"} there.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();

const tool = (...path) => join(root, 'node_modules', ...path);
// nx does not run again what passed on the same inputs.
const nx = (target) => [tool('nx', 'dist', 'bin', 'nx.js'), 'run', `repository:${target}`, '--output-style=static'];
const checks = [
  { name: 'format', words: [tool('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '.'] },
  { name: 'structure and lockfile', words: [join(root, 'scripts', 'structure.mjs')] },
  { name: 'types', words: nx('types') },
  { name: 'public texts', words: [join(root, 'scripts', 'lint-phrases.mjs')] },
  { name: 'interface definitions', words: [join(root, 'scripts', 'lint-interface.mjs')] },
  { name: 'lint and module boundaries', words: nx('lint-all') },
  { name: 'generated docs', words: nx('docs') },
];

// Two at a time: the checks are made for a machine with two cores.
const waiting = [...checks];
let failed = 0;
await Promise.all(
  [1, 2].map(async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) if (!(await passes(check))) failed += 1;
  }),
);
const summary = process.argv.find((word) => word.startsWith('--summary='))?.slice('--summary='.length);
if (summary) writeFileSync(summary, JSON.stringify({ passed: checks.length - failed, failed }));
// A number to compare, not a check.
spawnSync(process.execPath, [join(root, 'scripts', 'production-lines.mjs')], { stdio: 'inherit' });
console.log(failed === 0 ? `check: all ${checks.length} passed` : `check: ${failed} of ${checks.length} failed`);
process.exit(failed === 0 ? 0 : 1);

function passes({ name, words }) {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (it) => (output += it));
    child.on('error', reject);
    child.on('close', (code) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok     ' : 'FAILED '} ${name} (${seconds} s)`);
      if (code !== 0) console.log(output.trimEnd().replace(/^/gm, '        '));
      resolve(code === 0);
    });
  });
}
