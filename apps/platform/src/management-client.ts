import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { managementClientOutcome, registerManagementClient, requestManagementClient } from '@attestry/management';
import { loadConfig, openProcessEngines, type PlatformConfig } from '@attestry/service-kit';
import { isDataFolderInUse } from './data-folder.js';
import { runCommand, UsageError } from './run-command.js';

const USAGE = 'usage: npm run management-client -- create --name NAME';
/** A running platform polls every second. */
const WAIT_MS = 10_000;

/** Several processes share engines, not a folder: the client is registered in the engines. */
const register = async (config: PlatformConfig, name: string) => {
  const engines = await openProcessEngines(config, new Set(['domain', 'keys'] as const), { participant: 'management' });
  const { streams, vault, ids, clock } = engines;
  try {
    if (!streams || !vault) throw new Error('no engines');
    return await registerManagementClient(streams, vault.macs, ids, clock, { name });
  } finally {
    await engines.close();
  }
};

/** Creates a management client. Prints its credentials once, as JSON; only a hash of the secret is stored. */
const main = async (): Promise<void> => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { name: { type: 'string' } } });
  if (positionals.length !== 1 || positionals[0] !== 'create' || !values.name) throw new UsageError(USAGE);
  const config = await loadConfig(process.env, { busUser: 'management' });
  if (!config.hasDataFolder) {
    const { clientId, clientSecret } = await register(config, values.name);
    return console.log(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
  }
  const { dataDir } = config;
  const running = await isDataFolderInUse(dataDir);
  const { id, clientId, clientSecret } = await requestManagementClient(dataDir, values.name);
  for (const end = Date.now() + WAIT_MS; running; await pause(100)) {
    const outcome = await managementClientOutcome(dataDir, id);
    if (outcome.status === 'done') break;
    if (outcome.status === 'rejected') throw new Error(outcome.reason);
    if (Date.now() > end) throw new Error('the running platform did not answer within 10 s; its log shows why');
  }
  if (!running) console.error('No platform is running; the client will be registered when it starts.');
  console.log(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
};

runCommand(main, USAGE);
