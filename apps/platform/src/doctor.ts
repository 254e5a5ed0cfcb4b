import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { inspectConfig } from '@attestry/service-kit';

const USAGE = 'usage: npm run doctor [-- --migrate]';

const migrates = (): boolean => {
  try {
    return parseArgs({ options: { migrate: { type: 'boolean', default: false } } }).values.migrate;
  } catch {
    console.error(USAGE);
    process.exit(2);
  }
};

/** Prints what keeps a process with this environment from starting. Starts, creates and changes nothing. */
const main = async (): Promise<void> => {
  const { faults, passed, skipped } = await inspectConfig(
    process.env,
    migrates() ? { purpose: 'migrate', busUser: 'migrate' } : {},
  );
  for (const line of passed) console.log(`ok       ${line}`);
  for (const line of skipped) console.log(`skipped  ${line}`);
  for (const line of faults) console.log(`refused  ${line}`);
  const { NODE_ENV = 'development' } = process.env;
  if (NODE_ENV !== 'production')
    console.log(`note     NODE_ENV is ${NODE_ENV}: what only production refuses was not checked`);
  console.log(faults.length ? `${faults.length} refused: the process does not start` : 'nothing refused');
  process.exit(faults.length ? 1 : 0);
};

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
