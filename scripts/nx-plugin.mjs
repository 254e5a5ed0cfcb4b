// The nx plugin of this repository: infers the targets of each project from what its folder holds. What the targets read
// and write is in nx.json, under `targetDefaults`.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { specsByProject } from './test-levels.mjs';

const run = (command) => ({
  executor: 'nx:run-commands',
  options: { command: `node ${command}`, cwd: '{workspaceRoot}' },
});
// Arguments that scripts/commands/test.mjs uses too.
const workers = {
  e2e: '--maxWorkers=2',
  cluster: '--maxWorkers=2',
  soak: '--maxWorkers=2',
  faults: '--runInBand',
  upgrades: '--runInBand',
};
const jest = (root, project) =>
  run(
    `scripts/jest.mjs --selectProjects ${project} --testPathPatterns "/${root}/" --silent ${workers[project] ?? ''}`.trim(),
  );

export const createNodesV2 = [
  '{package.json,apps/*/package.json,libs/*/package.json,bench/package.json,deploy/Dockerfile}',
  (files, _options, { workspaceRoot }) =>
    files.map((file) => {
      const root = dirname(file);
      return [file, { projects: { [root]: root === '.' ? repository : projectAt(root, join(workspaceRoot, root)) } }];
    }),
];

// Targets that do not belong to one folder: TypeScript checks the sources of all packages as one program.
const repository = {
  name: 'repository',
  implicitDependencies: ['*'],
  targets: {
    lint: run('node_modules/eslint/bin/eslint.js --max-warnings 0 scripts *.mjs'),
    // Everything at once takes a quarter of the time of one project after the other.
    'lint-all': run('node_modules/eslint/bin/eslint.js --max-warnings 0 .'),
    // TypeScript 7 takes half the time of version 6, which typescript-eslint needs.
    types: run(
      'node_modules/typescript-7/bin/tsc -p tsconfig.json --noEmit --incremental --tsBuildInfoFile .nx/types.tsbuildinfo',
    ),
    docs: run('scripts/docs.mjs --check'),
  },
};

function projectAt(root, folder) {
  const targets = { lint: run(`node_modules/eslint/bin/eslint.js --max-warnings 0 ${root}`) };
  if (existsSync(join(folder, 'src'))) targets.build = run(`scripts/attestry.mjs build ${root}`);
  for (const [project, specs] of Object.entries(specsByProject([root]))) {
    if (specs.length > 0) targets[project] = jest(root, project);
  }
  return root === 'deploy' ? { name: 'deploy', tags: ['type:deploy'], targets } : { targets };
}
