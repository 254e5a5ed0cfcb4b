import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { passOnErrors } from '../cli/run-program.mjs';
import { nodeFlags } from '../node-flags.mjs';
import { root } from '../setup.mjs';

export default {
  group: 'Run',
  description: 'run the platform in the foreground; prints one line with its addresses when it is ready',
  examples: ['npm start', 'PORT=9000 DATA_DIR=/tmp/attestry npm start'],
  run: async (_given, cli) => {
    await cli.build();
    // `ipc` reports when the platform is ready: none of its other output passes through this process.
    const child = spawn(process.execPath, [...nodeFlags, join(root, 'apps', 'platform', 'bundle', 'main.js')], {
      stdio: ['inherit', cli.json ? 'pipe' : 'inherit', cli.json ? 'pipe' : 'inherit', 'ipc'],
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    const ending = (event) =>
      new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on(event, (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
      });
    // `close` is when all of its output was read; it is not emitted after a disconnect.
    const [closed, exited] = [ending('close'), ending('exit')];
    const lastLine = passOnErrors(child);
    child.stdout?.pipe(process.stderr);
    const ready = new Promise((resolve) => child.once('message', resolve));
    const first = await cli.step('start of the platform', () => Promise.race([ready, closed]));
    if (typeof first === 'number') return { exitCode: first, document: { ok: false, error: lastLine() } };
    if (cli.json) process.stdout.write(`${JSON.stringify(first)}\n`);
    child.disconnect();
    return { exitCode: await exited, document: null };
  },
};
