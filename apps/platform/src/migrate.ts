import 'reflect-metadata';
import { ConfigError, loadConfig, migrateEngines } from '@attestry/service-kit';

/** Brings the engines that the environment names up to what this release needs. */
const main = async (): Promise<void> => {
  const config = await loadConfig(process.env, { purpose: 'migrate', busUser: 'migrate' });
  const done = await migrateEngines(config, (reason) => console.error(`waiting for NATS: ${reason}`));
  for (const line of done) console.log(line);
  console.log(done.length ? 'migrated' : 'nothing to migrate: embedded engines are migrated when the platform starts');
};

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || (error as Error)?.name === 'NatsRefused';
  console.error(known ? (error as Error).message : error);
  process.exit(1);
});
