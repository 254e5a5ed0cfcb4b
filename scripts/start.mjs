// `npm start`: builds when needed, then runs the platform in the foreground.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { nodeFlags } from './node-flags.mjs';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
const child = spawn(process.execPath, [...nodeFlags, join(root, 'apps/platform/dist/main.js')], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
