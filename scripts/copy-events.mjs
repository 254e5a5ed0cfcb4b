// `npm run copy-events`: copies history, and keys, between any two stores; docs/guides/operations.md, "Moving".
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const program = join(root, 'apps/platform/dist/copy-events.js');
const child = spawn(process.execPath, ['--no-warnings', program, ...process.argv.slice(2)], { stdio: 'inherit' });
// The terminal's signal reaches both; the program ends where it can go on later.
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => child.kill(name));
child.on('exit', (code) => process.exit(code ?? 1));
