// `npm run rotate-token-keys`: a new key that signs the access tokens of clients; docs/guides/operations.md.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const program = join(root, 'apps/platform/dist/rotate-token-keys.js');
const { status } = spawnSync(process.execPath, ['--no-warnings', program, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
