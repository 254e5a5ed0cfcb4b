import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { loadConfig, nearestName, requestRebuilds } from '@attestry/service-kit';
import { runCommand, UsageError } from './run-command.js';
import { SERVICES } from './services.js';

const ALL = SERVICES.flatMap(({ projections }) => projections);
const nameOf = ({ projection }: (typeof ALL)[number]): string => projection.name;

const USAGE = `usage: npm run rebuild-projection -- NAME ... | --all
projections: ${ALL.map(nameOf).join(', ')}`;

const unknownName = (what: string, name: string, known: readonly string[]): string => {
  const nearest = nearestName(name, known);
  return `there is no ${what} ${name}${nearest === undefined ? '' : ` (Did you mean ${nearest}?)`}; ${what}s: ${known.join(', ')}`;
};

const OPTIONS = { all: { type: 'boolean' }, json: { type: 'boolean' } } as const;

const chosen = ({ positionals, values }: { positionals: string[]; values: { all?: boolean } }) => {
  if (values.all && !positionals.length) return ALL;
  const names = ALL.map(nameOf);
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(unknownName('projection', unknown, names));
  if (values.all || !positionals.length) throw new UsageError(USAGE);
  return ALL.filter((it) => positionals.includes(nameOf(it)));
};

/**
 * Requests that projections are rebuilt from the first event, while the platform runs or before its next start. The holder of the lease
 * fills new tables; the old ones are read until the new ones have caught up.
 */
const main = async (): Promise<void> => {
  const words = parseArgs({ allowPositionals: true, options: OPTIONS });
  const projections = chosen(words);
  await requestRebuilds(await loadConfig(process.env, { purpose: 'migrate' }), projections);
  if (words.values.json) return console.log(JSON.stringify({ ok: true, requested: projections.map(nameOf) }));
  for (const it of projections) console.log(`${nameOf(it)}: rebuild requested`);
};

runCommand(main, USAGE);
