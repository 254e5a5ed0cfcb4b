import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup.mjs';

/** docs/guides/faults.md. The last line is always `N passed, N failed, N skipped`. */
export default {
  group: 'Develop',
  description: 'kill, pause, restart and replace the processes and engines of a cluster under load',
  options: [
    { flags: '--seed <n>', about: 'make the same choices again (default: random, printed)' },
    { flags: '--repeat <n>', about: 'number of runs, with the seeds n, n + 1 and so on', default: '1' },
  ],
  examples: ['npm run test:faults -- --seed 12 --repeat 10'],
  run: async ({ options }, cli) => {
    const seed = Number(options.seed ?? Date.now() % 1_000_000);
    const repeat = Number(options.repeat);
    if (!Number.isInteger(seed)) cli.wrongUsage('--seed must be a whole number');
    if (!(Number.isInteger(repeat) && repeat > 0)) cli.wrongUsage('--repeat must be a whole number of at least 1');
    await cli.build();

    const reports = join(root, 'tmp', 'test-results');
    mkdirSync(reports, { recursive: true });
    const skippedFile = process.env.ATTESTRY_SKIPPED_FILE ?? join(reports, 'faults-skipped.jsonl');
    if (!process.env.ATTESTRY_SKIPPED_FILE) writeFileSync(skippedFile, '');

    const total = { passed: 0, failed: 0, skipped: 0 };
    let pending = 0;
    for (let run = 0; run < repeat; run++) {
      const outputFile = join(reports, 'faults.json');
      rmSync(outputFile, { force: true });
      cli.say(`== run ${run + 1} of ${repeat}, seed ${seed + run}`);
      const words = ['--selectProjects', 'faults', '--runInBand', '--json', `--outputFile=${outputFile}`];
      const { exitCode: status } = await cli.runProgram(
        [join(root, 'scripts', 'jest.mjs'), ...words, '--reporters=default', '--verbose'],
        {
          isText: true,
          name: `run ${run + 1}`,
          env: { FAULTS_SEED: String(seed + run), ATTESTRY_SKIPPED_FILE: skippedFile },
        },
      );
      if (!existsSync(outputFile)) {
        cli.note(`Jest ended with ${status} and wrote no result`);
        total.failed += 1;
        continue;
      }
      const report = JSON.parse(readFileSync(outputFile, 'utf8'));
      const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
      total.passed += report.numPassedTests;
      total.failed += failed + (failed === 0 && status !== 0 ? 1 : 0);
      pending = report.numPendingTests;
      if (failed > 0) cli.note(`repeat with: npm run test:faults -- --seed ${seed + run}`);
    }
    const reasons = new Set(readFileSync(skippedFile, 'utf8').split('\n').filter(Boolean));
    for (const { suite, reason } of [...reasons].map((line) => JSON.parse(line)))
      cli.say(`SKIPPED ${suite}: ${reason}`);
    // A suite that cannot run reports the reason once; its tests are not counted one by one.
    total.skipped = reasons.size || pending;
    cli.say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
    const failed = total.failed > 0 || (total.passed === 0 && total.skipped === 0);
    return { exitCode: failed ? 1 : 0, document: { ok: !failed, seed, ...total } };
  },
};
