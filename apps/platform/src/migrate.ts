import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { loadConfig, migrateEngines } from '@attestry/service-kit';
import { runCommand } from './run-command.js';

/** Migrates the engines that the environment names to the schema of this release. */
const main = async (): Promise<void> => {
  const { json } = parseArgs({ options: { json: { type: 'boolean' } } }).values;
  const config = await loadConfig(process.env, { purpose: 'migrate', busUser: 'migrate' });
  const { done, left } = await migrateEngines(config, (reason) => console.error(`waiting for NATS: ${reason}`));
  if (json) return console.log(JSON.stringify({ ok: true, migrated: done, left }));
  for (const line of done) console.log(line);
  for (const line of left) console.log(`not changed: ${line}`);
  console.log(done.length ? 'migrated' : 'nothing to migrate: embedded engines are migrated when the platform starts');
};

runCommand(main);
