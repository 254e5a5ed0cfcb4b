import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rotateMasterKey, type KeyLocation } from '@attestry/keys';
import { databases, loadConfig, masterKeysOf, type PlatformConfig } from '@attestry/service-kit';
import { lockDataFolder } from '@attestry/sqlite';
import { runCommand } from './run-command.js';

/** Keys in a file belong to one process: the platform must not run. With PostgreSQL it may. */
const location = async (config: PlatformConfig): Promise<{ at: KeyLocation; release(): void }> => {
  const database = databases(config)?.keys;
  if (database) return { at: { url: database.url, schema: database.schema }, release: () => undefined };
  const file = join(config.dataDir, 'events.db');
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  const lock = await lockDataFolder(config.dataDir);
  return { at: { file }, release: () => lock.release() };
};

/** Wraps every key with MASTER_KEY that MASTER_KEY_PREVIOUS wrapped. Prints one JSON line with the result. */
const main = async (): Promise<void> => {
  const config = await loadConfig(process.env, { purpose: 'migrate' });
  if (!config.masterKey)
    throw new Error(
      'set MASTER_KEY to the new key, MASTER_KEY_VERSION to its version, MASTER_KEY_PREVIOUS to the old key',
    );
  const { at, release } = await location(config);
  try {
    const rotation = await rotateMasterKey(at, masterKeysOf(config));
    console.log(JSON.stringify(rotation));
    console.error(
      `All keys are wrapped with version ${rotation.version} of MASTER_KEY. When every process uses it as MASTER_KEY, remove ` +
        'MASTER_KEY_PREVIOUS; keep the old key as long as you keep backups that were made with it.',
    );
  } finally {
    release();
  }
};

runCommand(main);
