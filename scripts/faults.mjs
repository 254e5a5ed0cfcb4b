// npm run test:faults: things are done to a cluster on real engines (apps/e2e/src/faults/), and nothing that was
// acknowledged may be lost or doubled. `-- --seed N` plays the same choices again, `-- --repeat R` runs R times, with
// N, N + 1 and so on. The last line is always `N passed, N failed, N skipped`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

const { seed, repeat } = readOptions();
await ensureInstalled();
await ensureBuilt();

const reports = join(root, 'tmp', 'test-results');
mkdirSync(reports, { recursive: true });
const skippedFile = process.env.ATTESTRY_SKIPPED_FILE ?? join(reports, 'faults-skipped.jsonl');
if (!process.env.ATTESTRY_SKIPPED_FILE) writeFileSync(skippedFile, '');

const total = { passed: 0, failed: 0, skipped: 0 };
let pending = 0;
for (let run = 0; run < repeat; run++) {
  const outputFile = join(reports, 'faults.json');
  rmSync(outputFile, { force: true });
  console.log(`== run ${run + 1} of ${repeat}, seed ${seed + run}`);
  const words = ['--selectProjects', 'faults', '--runInBand', '--forceExit', '--json', `--outputFile=${outputFile}`];
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'jest.mjs'), ...words, '--reporters=default', '--verbose'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, FAULTS_SEED: String(seed + run), ATTESTRY_SKIPPED_FILE: skippedFile },
    },
  );
  if (!existsSync(outputFile)) {
    console.error(`Jest ended with ${status} and wrote no result`);
    total.failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(outputFile, 'utf8'));
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  total.passed += report.numPassedTests;
  total.failed += failed + (failed === 0 && status !== 0 ? 1 : 0);
  pending = report.numPendingTests;
  if (failed > 0) console.error(`repeat with: npm run test:faults -- --seed ${seed + run}`);
}
const reasons = new Set(readFileSync(skippedFile, 'utf8').split('\n').filter(Boolean));
for (const { suite, reason } of [...reasons].map((line) => JSON.parse(line)))
  console.log(`SKIPPED ${suite}: ${reason}`);
// A suite that cannot run says why, once; its tests are not counted one by one.
total.skipped = reasons.size || pending;
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || (total.passed === 0 && total.skipped === 0) ? 1 : 0);

function readOptions() {
  try {
    const { values } = parseArgs({ options: { seed: { type: 'string' }, repeat: { type: 'string' } } });
    const seed = Number(values.seed ?? Date.now() % 1_000_000);
    const repeat = Number(values.repeat ?? 1);
    if (!Number.isInteger(seed) || !(Number.isInteger(repeat) && repeat > 0))
      throw new Error('--seed must be a whole number, --repeat a whole number of at least 1');
    return { seed, repeat };
  } catch (error) {
    console.error(`${error.message}\nusage: npm run test:faults [-- --seed N] [--repeat R]`);
    process.exit(2);
  }
}
