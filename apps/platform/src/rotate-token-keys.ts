import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import {
  requestTokenKeyRotation,
  TokenKeys,
  tokenKeyRotationOutcome,
  type TokenKeyRotation,
} from '@attestry/management';
import { openProcessEngines, parseConfig, type PlatformConfig } from '@attestry/service-kit';
import { isDataFolderInUse } from './data-folder.js';
import { runCommand } from './run-command.js';

/** A running platform polls every second. */
const WAIT_MS = 10_000;

/** Several processes share engines, not a folder: the rotation is stored with their keys. */
const rotate = async (config: PlatformConfig): Promise<TokenKeyRotation> => {
  const engines = await openProcessEngines(config, new Set(['domain', 'keys'] as const), { participant: 'management' });
  const { streams, vault, clock } = engines;
  try {
    if (!streams || !vault) throw new Error('no engines');
    return await new TokenKeys(vault.signingKeys, streams, config, clock).rotate();
  } finally {
    await engines.close();
  }
};

/** Rotates the key that signs the access tokens of clients. Prints one JSON line with the new and the previous key. */
const main = async (): Promise<void> => {
  const config = parseConfig(process.env);
  if (!config.hasDataFolder) return console.log(JSON.stringify(await rotate(config)));
  const { dataDir } = config;
  const isRunning = await isDataFolderInUse(dataDir);
  const id = await requestTokenKeyRotation(dataDir);
  if (!isRunning) return console.error('No platform is running; the key will be rotated when it starts.');
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await pause(100)) {
    const rotation = await tokenKeyRotationOutcome(dataDir, id);
    if (rotation) return console.log(JSON.stringify(rotation));
  }
  throw new Error('the running platform did not rotate the key within 10 s; its log shows why');
};

runCommand(main);
