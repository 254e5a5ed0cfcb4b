// `npm run bench [-- --json] [-- --quick] [-- --only=jwt_vc_json:64]`; `npm run bench -- --rebuild` rebuilds projections,
// `-- --lists` pages of small and large lists, `-- --webhooks` delivers webhooks, `-- --against REF` compares with another version.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const isGiven = (word) => process.argv.some((it) => it === `--${word}` || it.startsWith(`--${word}=`));
const kind = ['rebuild', 'lists', 'webhooks', 'against'].find(isGiven) ?? 'issuance';
const program = join(root, 'bench/src', `${kind}.mjs`);
const { status } = spawnSync(process.execPath, ['--no-warnings', program, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
