// `npm run rebuild-projection -- NAME ...`: fills a read model anew from the first event, while the old one is read.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const program = join(root, 'apps/platform/dist/rebuild-projection.js');
const { status } = spawnSync(process.execPath, ['--no-warnings', program, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
