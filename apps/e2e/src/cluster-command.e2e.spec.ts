/** @engines embedded */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingEngines, skipSuite, waitUntil } from '@attestry/testing';

const repository = join(import.meta.dirname, '../../..');
const missing = missingEngines(process.env);
const suite = 'e2e: npm run cluster -- --keep';
if (missing.length) skipSuite(suite, `${missing.map(({ name }) => name).join(', ')} missing`);

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

(missing.length ? describe.skip : describe)('npm run cluster -- --keep', () => {
  it('leaves the cluster running, and the printed command ends all its processes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kept-cluster-'));
    const child = spawn(process.execPath, [
      join(repository, 'scripts/attestry.mjs'),
      'cluster',
      '--keep',
      '--folder',
      folder,
    ]);
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(out);
    const command = /Stop it with:\s+(kill .*)/.exec(out)![1]!;
    const left = out.split('\n').filter((line) => {
      // Engines from the environment are not started by the command.
      const variable = /^ {2}([A-Z_]+_URL) /.exec(line)?.[1];
      return variable !== undefined ? !process.env[variable] : /^ {2}(\S+ +process|management API) /.test(line);
    });
    const ports = new Set([...left.join('\n').matchAll(/:\/\/[^\s/]*:(\d+)/g)].map(([, port]) => Number(port)));
    try {
      expect(ports.size).toBeGreaterThan(10);
      // The load balancer now runs in a separate process.
      for (const port of ports)
        await waitUntil(() => isOpen(port), { timeoutMs: 15_000, what: `port ${port} to be open` });
    } finally {
      await promisify(execFile)('sh', ['-c', command]);
    }
    for (const port of ports)
      await waitUntil(async () => !(await isOpen(port)), { timeoutMs: 15_000, what: `port ${port} to close` });
    await rm(folder, { recursive: true, force: true });
  }, 180_000);
});
