// Runs Jest with the repository's own Node and ES modules. Arguments go to Jest unchanged.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, root } from './setup.mjs';

await ensureInstalled();
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
// Workers of Jest inherit the options.
const options = ['--no-warnings', '--conditions=@attestry/source', '--enable-source-maps'];
const hooks = pathToFileURL(join(root, 'scripts', 'jest', 'typescript.mjs')).href;
const child = spawn(
  process.execPath,
  [...options, '--import', hooks, jest, '--rootDir', root, ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
