import { appendFileSync } from 'node:fs';

/** Reports to the test run that a suite cannot run here, with the reason. The suite then registers no test. */
export const skipSuite = (suite: string, reason: string): void => {
  const file = process.env['ATTESTRY_SKIPPED_FILE'];
  if (file) appendFileSync(file, `${JSON.stringify({ suite, reason })}\n`);
  else process.stderr.write(`skipped ${suite}: ${reason}\n`);
};
