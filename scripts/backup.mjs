// `npm run backup`: copies a data folder as it was in one moment; docs/guides/operations.md, "Backup and restore".
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const program = join(root, 'apps/platform/dist/backup.js');
const child = spawn(process.execPath, ['--no-warnings', program, ...process.argv.slice(2)], { stdio: 'inherit' });
// `npm run backup`: copies a data folder as it was in one moment; docs/guides/operations.md, "Backup and restore".
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => child.kill(name));
child.on('exit', (code) => process.exit(code ?? 1));
