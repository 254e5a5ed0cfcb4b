import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { inspectConfig, parseConfig, reachEngines, usesDataFolder, type PlatformConfig } from '@attestry/service-kit';
import { checkDataFolder } from '@attestry/sqlite';
import { isAttestry, tryPort } from './listening-ports.js';
import { hosted } from './platform.js';
import { faultLine, runCommand } from './run-command.js';

const OPTIONS = { migrate: { type: 'boolean' }, json: { type: 'boolean' } } as const;

/** Ports that cannot be used, and a data folder that cannot be written. A port of a running process is skipped: that is what the operator examines. */
const inspectMachine = async (config: PlatformConfig): Promise<{ faults: string[]; skipped: string[] }> => {
  const { needs, ports } = await hosted(config);
  const faults: string[] = [];
  const skipped: string[] = [];
  for (const port of ports)
    try {
      await tryPort(port, config.host);
    } catch (error) {
      if (await isAttestry(port, config.host)) skipped.push(`port ${port}: a process of Attestry listens on it`);
      else faults.push(faultLine(error as Error));
    }
  try {
    if (usesDataFolder(config, needs)) checkDataFolder(config.dataDir);
  } catch (error) {
    faults.push(faultLine(error as Error));
  }
  return { faults, skipped };
};

/**
 * Prints what prevents a process with this environment from starting, and what its engines lack: connects to them when the settings are valid.
 * Starts, creates and changes nothing.
 */
const main = async (): Promise<void> => {
  const { migrate, json } = parseArgs({ options: OPTIONS }).values;
  const purpose = migrate ? 'migrate' : 'run';
  const { faults, passed, skipped } = await inspectConfig(process.env, {
    purpose,
    ...(migrate && { busUser: 'migrate' }),
  });
  if (faults.length) skipped.push('connections to the engines: the settings are refused');
  else {
    const config = parseConfig(process.env, undefined, purpose);
    if (!migrate) {
      const machine = await inspectMachine(config);
      faults.push(...machine.faults);
      skipped.push(...machine.skipped);
    }
    const reached = await reachEngines(config, purpose);
    faults.push(...reached.faults);
    passed.push(...reached.passed);
  }
  const { NODE_ENV = 'development' } = process.env;
  if (json)
    console.log(JSON.stringify({ ok: !faults.length, passed, skipped, refused: faults, environment: NODE_ENV }));
  else {
    for (const line of passed) console.log(`ok       ${line}`);
    for (const line of skipped) console.log(`skipped  ${line}`);
    for (const line of faults) console.log(`refused  ${line}`);
    if (NODE_ENV !== 'production')
      console.log(`note     NODE_ENV is ${NODE_ENV}: what only production refuses was not checked`);
    console.log(faults.length ? `${faults.length} refused: the process does not start` : 'nothing refused');
  }
  process.exit(faults.length ? 1 : 0);
};

runCommand(main, 'usage: npm run doctor [-- --migrate] [--json]');
