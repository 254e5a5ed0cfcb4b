import { mkdir, readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { backUpFiles } from '@attestry/sqlite';
import { runCommand, UsageError } from './run-command.js';

const USAGE = 'usage: npm run backup -- --to FOLDER [--from FOLDER]';
/**
 * Data that cannot be derived. Read models follow from events; the lock and pending requests are temporary. Secrets in plain text are excluded:
 * the master key, the operator's client secret, and e-mails with links.
 */
const FILES = ['events.db', 'operations.db', 'feed.db', 'sign-in.db', 'replay.db'];
/** Files that a restore needs in addition to the backup. */
const KEPT_ELSEWHERE = {
  'master.key': 'The keys in events.db cannot be decrypted without it.',
  'management-client.json': 'It contains the secret of the first management client in plain text.',
};

/** Copies a consistent state of a data folder, also while its platform runs. Prints one JSON line. */
const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } });
  if (!values.to) throw new UsageError(USAGE);
  const from = resolve(values.from ?? (process.env['DATA_DIR'] || '.attestry'));
  const to = resolve(values.to);
  if (!existsSync(join(from, 'events.db'))) throw new Error(`${from} is not a data folder: it has no events.db`);
  await mkdir(to, { recursive: true, mode: 0o700 });
  if ((await readdir(to)).length) throw new Error(`${to} must be an empty folder`);
  const files = FILES.filter((name) => existsSync(join(from, name)));
  const { heldMs } = await backUpFiles(files.map((name) => ({ from: join(from, name), to: join(to, name) })));
  console.log(JSON.stringify({ from, to, files, writesHeldMs: heldMs }));
  for (const [name, why] of Object.entries(KEPT_ELSEWHERE))
    if (existsSync(join(from, name))) console.error(`${name} is not in the backup; store a copy elsewhere. ${why}`);
};

runCommand(main, USAGE);
