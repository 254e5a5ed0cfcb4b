// `npm run migrate`: makes the tables, streams and buckets that the configured engines need, or what is new of them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const program = join(root, 'apps/platform/dist/migrate.js');
const { status } = spawnSync(process.execPath, ['--no-warnings', program, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
