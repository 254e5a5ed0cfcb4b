// Test levels and engines. The ending of a spec file's name is its level. A spec names its engines in its first line,
// `/** @engines embedded postgres */`; `engines` has those of a spec that does not.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const folders = ['libs', 'apps', 'bench', 'deploy'];

/** In this order a later ending is the longer one. */
const levels = {
  /** Pure. */
  unit: { ending: '.spec.ts' },
  /** Every adapter of a port. */
  contracts: { ending: '.contract.spec.ts' },
  /** One service. */
  int: { ending: '.int.spec.ts', engines: ['embedded'] },
  /** Processes over HTTP. */
  e2e: { ending: '.e2e.spec.ts', engines: ['embedded', 'cluster'] },
  /** Kills, gaps, budgets by operation and long streams: minutes for a few rules. */
  soak: { ending: '.soak.spec.ts' },
  /** A cluster under faults. */
  faults: { ending: '.faults.spec.ts' },
  /** A cluster that is upgraded from the previous release and back. */
  upgrades: { ending: '.upgrades.spec.ts' },
};

/** Jest projects and nx targets: a level, on an engine where there are several. */
const projects = {
  unit: { level: 'unit' },
  contracts: { level: 'contracts' },
  int: { level: 'int', engine: 'embedded' },
  'int-postgres': { level: 'int', engine: 'postgres' },
  e2e: { level: 'e2e', engine: 'embedded' },
  cluster: { level: 'e2e', engine: 'cluster' },
  soak: { level: 'soak' },
  faults: { level: 'faults' },
  upgrades: { level: 'upgrades' },
};

/**
 * The spec files of each project.
 * @param {string[]} [below] folders, from the root; default all that hold specs
 * @returns {Record<string, string[]>} by the project's name, in the order of the projects; paths from the root, with `/`
 */
export function specsByProject(below = folders) {
  const specs = below.flatMap(specsBelow).map((file) => ({ file, level: levelOf(file), named: enginesNamedIn(file) }));
  return Object.fromEntries(
    Object.entries(projects).map(([name, { level, engine }]) => {
      const runs = (spec) =>
        spec.level === level && (engine === undefined || (spec.named ?? levels[level].engines).includes(engine));
      return [name, specs.filter(runs).map(({ file }) => file)];
    }),
  );
}

function specsBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : specsBelow(path);
    return path.endsWith('.spec.ts') ? [path] : [];
  });
}

function levelOf(file) {
  return Object.keys(levels).findLast((level) => file.endsWith(levels[level].ending));
}

function enginesNamedIn(file) {
  const start = Buffer.alloc(200);
  const descriptor = openSync(join(root, file));
  readSync(descriptor, start);
  closeSync(descriptor);
  const [, names] = /^\/\*\* @engines ([a-z ]+) \*\/\n/.exec(start.toString()) ?? [];
  if (names === undefined) return undefined;
  const engines = names.split(' ');
  const unknown = engines.filter((name) => !Object.values(projects).some(({ engine }) => engine === name));
  if (unknown.length > 0) throw new Error(`${file}: unknown engines: ${unknown.join(', ')}`);
  return engines;
}
