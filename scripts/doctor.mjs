// `npm run doctor`: prints what keeps a process with this environment from starting, and starts nothing.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const program = join(root, 'apps/platform/dist/doctor.js');
const { status } = spawnSync(process.execPath, ['--no-warnings', program, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
