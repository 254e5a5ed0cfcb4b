// What no linter sees because it is about files, not their text. Prints a line for each fault.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from './setup.mjs';

const vague = ['util', 'utils', 'common', 'core', 'shared', 'helper', 'helpers', 'misc'];
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
});
const faults = [];

for (const file of new Set(listed.split('\0'))) {
  const [, inside] = /^(?:libs|apps)\/[^/]+\/src\/(.+)$/.exec(file) ?? [];
  if (!inside) continue;
  if (basename(inside) === 'index.ts' && inside !== 'index.ts') {
    faults.push(`${file}: a barrel; only src/index.ts is public (architecture, What is not built)`);
  }
  for (const part of inside.split('/')) {
    const words = part.split('.');
    if (words.some((word) => vague.includes(word) || /-(utils?|helpers?)$/.test(word))) {
      faults.push(`${file}: '${part}' says nothing; name it after what it does (architecture, What is not built)`);
    }
  }
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
for (const [path, { resolved }] of Object.entries(packages)) {
  if (/^(https?|git)\b/.test(resolved ?? '')) faults.push(`package-lock.json: ${path} is bound to a host`);
}

for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
