// Runs Jest with the repository's own Node and ES modules. Arguments go to Jest unchanged.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const child = spawn(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', jest, '--rootDir', root, ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
