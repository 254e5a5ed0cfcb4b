// Rules about files, or about many of them, which no linter checks. Prints a line for each fault.
// `node scripts/structure.mjs [folder]`; default: the repository.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dirname, join as joinPosix } from 'node:path/posix';
import ts from 'typescript';
import { root } from './setup.mjs';
import { WINGS } from './wings.mjs';

const vague = ['util', 'utils', 'common', 'core', 'shared', 'helper', 'helpers', 'misc'];
/** Files of tests: specs, and what several of them share. */
const IS_SPEC = /\.spec(?:-fixture)?\.ts$/;
const AT_THE_TOP = /^index\.ts$|\.(?:module|reactions|generated|spec)\.ts$/;
/** Most files besides specs, and most folders, in a folder. */
const MOST = 25;
const UNBOUNDED = /^(?:apps\/gateway\/src\/pipeline|apps\/e2e\/src|libs\/testing\/src)(?:\/|$)/;
const folder = process.argv[2] ?? root;
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: folder,
  encoding: 'utf8',
});
const WIDEST = 160;
const README_LINES = 120;
const faults = [];
const imports = new Map();
/** Files and folders in each folder. */
const contents = new Map();

for (const file of new Set(listed.split('\0'))) {
  if (file.endsWith('.md') && existsSync(join(folder, file))) faults.push(...faultsOfPage(file));
  const [, inside] = /^(?:libs|apps)\/[^/]+\/src\/(.+)$/.exec(file) ?? [];
  if (!inside) continue;
  if (file.endsWith('.ts') && existsSync(join(folder, file))) {
    imports.set(file, importsOf(file));
    count(file);
  }
  if (/^apps\/(?!platform\/|e2e\/)/.test(file) && !inside.includes('/') && !AT_THE_TOP.test(inside)) {
    faults.push(`${file}: belongs in the folder of a noun, a use case or a follower (architecture, Folders)`);
  }
  if (basename(inside) === 'index.ts' && inside !== 'index.ts') {
    faults.push(`${file}: a barrel; only src/index.ts is public (architecture, What is not used)`);
  }
  for (const part of inside.split('/')) {
    const words = part.split('.');
    if (words.some((word) => vague.includes(word) || /-(utils?|helpers?)$/.test(word))) {
      faults.push(`${file}: '${part}' says nothing; name it after what it does (architecture, What is not used)`);
    }
  }
}

for (const [name, { files, folders }] of contents) {
  const bounded = !UNBOUNDED.test(name);
  if (bounded && files.size > MOST) faults.push(`${name}: ${files.size} files besides specs, at most ${MOST}`);
  if (bounded && folders.size > MOST) faults.push(`${name}: ${folders.size} folders, at most ${MOST}`);
}
faults.push(...wingFaults(imports));
for (const circle of circlesOf(imports)) faults.push(`${circle.join(' → ')}: a circle of imports`);

const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
for (const [path, { resolved }] of Object.entries(packages)) {
  if (/^(https?|git)\b/.test(resolved ?? '')) faults.push(`package-lock.json: ${path} is bound to a host`);
}

for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

/** Pages are read in terminals and reviews. Generated ones, and rows of the registers that tests read, are as wide as their content. */
function faultsOfPage(file) {
  const text = readFileSync(join(folder, file), 'utf8');
  if (text.startsWith('<!-- Generated')) return [];
  const lines = text.split('\n');
  const found = lines.flatMap((line, index) => {
    const { length } = [...line];
    const isRegister = /conformance\.md$/.test(file) && line.startsWith('|');
    return length > WIDEST && !isRegister
      ? [`${file}:${index + 1}: ${length} characters; at most ${WIDEST}. A wide table reads better as a list`]
      : [];
  });
  if (file === 'README.md' && lines.length - 1 > README_LINES)
    found.push(`README.md: ${lines.length - 1} lines; at most ${README_LINES}. Details belong in docs/`);
  return found;
}

/** The files that a file imports by path, types included. */
function importsOf(file) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, file), 'utf8'), true, true);
  const paths = importedFiles.map(({ fileName }) => fileName).filter((path) => path.startsWith('.'));
  return paths.map((path) => joinPosix(dirname(file), path).replace(/\.js$/, '.ts'));
}

/** Adds a file to the folder that it lies in, and this folder to those around it. */
function count(file) {
  const held = (name) => {
    if (!contents.has(name)) contents.set(name, { files: new Set(), folders: new Set() });
    return contents.get(name);
  };
  let name = dirname(file);
  if (!IS_SPEC.test(file)) held(name).files.add(file);
  for (; basename(name) !== 'src'; name = dirname(name)) held(dirname(name)).folders.add(name);
}

/** Imports from a wing above the file's own. Specs may import from all. */
function wingFaults(imports) {
  const found = new Set();
  for (const [file, targets] of imports) {
    const [, src, service, wing] = /^(apps\/([^/]+)\/src\/)([^/]+)\//.exec(file) ?? [];
    const order = service && WINGS[service] && Object.keys(WINGS[service]);
    if (!order) continue;
    if (!order.includes(wing)) found.add(`${src}${wing}: scripts/wings.mjs does not name this wing`);
    if (IS_SPEC.test(file)) continue;
    for (const target of targets.filter((it) => it.startsWith(src))) {
      const [above, ...inside] = target.slice(src.length).split('/');
      if (inside.length === 0 || order.indexOf(above) > order.indexOf(wing))
        found.add(`${file}: imports ${target}, from above the wing '${wing}' (architecture, Folders)`);
    }
  }
  return found;
}

/** Files that import nothing of what is left are removed; where none remains to remove, each path ends in a circle. */
function circlesOf(imports) {
  const circles = [];
  const left = new Map(imports);
  const nextOf = (file) => left.get(file).find((target) => left.has(target));
  while (left.size > 0) {
    const ends = [...left.keys()].filter((file) => nextOf(file) === undefined);
    for (const file of ends) left.delete(file);
    if (ends.length > 0) continue;
    const path = [left.keys().next().value];
    for (let next = nextOf(path[0]); ; next = nextOf(next)) {
      const start = path.indexOf(next);
      path.push(next);
      if (start < 0) continue;
      circles.push(path.slice(start));
      left.delete(next);
      break;
    }
  }
  return circles;
}
