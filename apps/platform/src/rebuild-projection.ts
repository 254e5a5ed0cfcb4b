import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { ConfigError, loadConfig, requestRebuilds } from '@attestry/service-kit';
import { SERVICES } from './services.js';

const ALL = SERVICES.flatMap(({ projections }) => projections);
const nameOf = ({ projection }: (typeof ALL)[number]): string => projection.name;

const USAGE = `usage: npm run rebuild-projection -- NAME ... | --all
projections: ${ALL.map(nameOf).join(', ')}`;

const chosen = () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { all: { type: 'boolean' } } });
  if (values.all && !positionals.length) return ALL;
  const found = ALL.filter((it) => positionals.includes(nameOf(it)));
  if (!found.length || found.length !== new Set(positionals).size) throw new Error(USAGE);
  return found;
};

/**
 * Asks for projections to be rebuilt from the first event, while the platform runs or before its next start. The holder
 * of the lease fills new tables; the old ones are read until the new ones have caught up.
 */
const main = async (): Promise<void> => {
  const projections = chosen();
  await requestRebuilds(await loadConfig(process.env, { purpose: 'migrate' }), projections);
  for (const it of projections) console.log(`${nameOf(it)}: rebuild requested`);
};

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || (error instanceof Error && error.message === USAGE);
  console.error(known ? (error as Error).message : error);
  process.exit(1);
});
