import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { backUpFiles } from '@attestry/sqlite';

const USAGE = 'usage: npm run backup -- --to FOLDER [--from FOLDER]';
/** What cannot be made anew. Lists are made from events; the lock and requests of a moment are nobody's to keep. */
const FILES = ['events.db', 'operations.db', 'feed.db', 'keys.db', 'replay.db', 'sign-in.db'];
const PLAIN = ['management-client.json'];

/** Copies a data folder as it was in one moment, also while its platform runs. Prints one JSON line. */
const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } });
  if (!values.to) throw new Error(USAGE);
  const from = resolve(values.from ?? (process.env['DATA_DIR'] || '.attestry'));
  const to = resolve(values.to);
  if (!existsSync(join(from, 'events.db'))) throw new Error(`${from} is no data folder`);
  await mkdir(to, { recursive: true, mode: 0o700 });
  if ((await readdir(to)).length) throw new Error(`${to} is not empty`);
  const files = FILES.filter((name) => existsSync(join(from, name)));
  const { heldMs } = await backUpFiles(files.map((name) => ({ from: join(from, name), to: join(to, name) })));
  const plain = PLAIN.filter((name) => existsSync(join(from, name)));
  for (const name of plain) await copyFile(join(from, name), join(to, name));
  console.log(JSON.stringify({ from, to, files: [...files, ...plain], writesHeldMs: heldMs }));
  if (existsSync(join(from, 'master.key')))
    console.error('master.key is not in the backup: keep it elsewhere. Whoever has both can read everything.');
};

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
