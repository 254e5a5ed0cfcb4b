/** @engines embedded */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, hostFetch, ownEnvironment, PLATFORM_START_MS, programOf, waitUntil } from '@attestry/testing';

const FULL = '/dev/full';

(existsSync(FULL) ? describe : describe.skip)('a process whose log is on a full disk', () => {
  it(
    'serves and ends as others do [T694]',
    async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'attestry-'));
      const [port, log] = [await freePort(), openSync(FULL, 'w')];
      const env = {
        ...ownEnvironment(),
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: dataDir,
        BASE_DOMAIN: `localhost:${port}`,
      };
      const child = spawn(process.execPath, [programOf('main')], { env, stdio: ['ignore', log, 'inherit'] });
      const statusOf = (path: string) =>
        hostFetch(`http://management.localhost:${port}${path}`).then(
          ({ status }) => status,
          () => 0,
        );
      const isReady = async () => (await statusOf('/health/ready')) === 200;
      try {
        await waitUntil(isReady, { what: 'the process to serve' });
        // The line that says so is the last of the start, and may follow the answer.
        for (const end = Date.now() + 1500; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50)))
          expect(await statusOf('/v1/tenants')).toBe(401);
        expect([await isReady(), child.exitCode]).toEqual([true, null]);
      } finally {
        child.kill();
        await new Promise((resolve) => child.once('exit', resolve));
        closeSync(log);
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
    PLATFORM_START_MS,
  );
});
