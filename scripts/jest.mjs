// Runs Jest with the repository's own Node and ES modules. Arguments go to Jest unchanged.
import { spawnSync } from 'node:child_process';
const r = spawnSync(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exit(r.status ?? 1);
