// npm run cluster: the platform as many processes on real engines, on this machine. Takes the engines whose addresses the
// environment gives (NATS_URL, DATABASE_URL, REDIS_URL, EVENTSTORE_URL) and starts the others, migrates, starts two
// gateways, two issuance services and one of each other, and plays the story (story.mjs) through them.
// `-- --json` prints the result as one JSON object on its last line; `-- --keep` leaves everything running.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';
import { play, say } from './story.mjs';

const options = readOptions();
await ensureInstalled();
await ensureBuilt();
const kit = await import(pathToFileURL(join(root, 'libs', 'testing', 'dist', 'index.js')));

const missing = kit.missingEngines(process.env);
if (missing.length > 0) {
  for (const { name, debian, macos, variable } of missing)
    console.error(
      `${name} is not installed. Install it (Debian: ${debian}; macOS: ${macos}), or set ${variable} to a running one.`,
    );
  process.exit(1);
}

await play({
  kit,
  json: options.json,
  async start(stops) {
    const cluster = await kit.Cluster.start({ detached: options.keep === true, folder: options.folder });
    stops.push(() => cluster.stop());
    tell(cluster);
    return [cluster, `${cluster.ready.management}, ${cluster.processes.length} processes`];
  },
  about: (cluster) => ({
    processes: cluster.processes.map(({ service, pid, port }) => ({ service, pid, port })),
  }),
  ...(options.keep && { keep }),
});

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { json: { type: 'boolean' }, keep: { type: 'boolean' }, folder: { type: 'string' } },
    });
    return values;
  } catch (error) {
    console.error(`${error.message}\nusage: npm run cluster [-- --json] [--keep] [--folder PATH]`);
    process.exit(2);
  }
}

function tell(cluster) {
  for (const [variable, url] of Object.entries(cluster.engines.env))
    if (variable.endsWith('_URL')) say(`  ${variable.padEnd(14)} ${url.replace(/\/\/[^@/]*@/, '//')}`);
  for (const { name, pid, port, logFile } of cluster.processes)
    say(`  ${name.padEnd(14)} process ${String(pid).padEnd(8)} http://127.0.0.1:${port}   ${logFile}`);
}

async function keep(cluster, tenant) {
  const { ready, folder } = cluster;
  const { client_id, client_secret } = cluster.managementClient();
  const { first, engines } = await cluster.release();
  const last = engines.length ? ` && sleep 2 && kill ${engines.join(' ')}` : '';
  say(`
Everything is still running. Stop it with:
  kill ${first.join(' ')}${last}
  management API   ${ready.management}   {"client_id":"${client_id}","client_secret":"${client_secret}"}
  token endpoint   ${ready.auth}/oauth/token
  tenant           ${tenant.url}   audience "${tenant.url}"
  tenant client    client_id ${tenant.admin.clientId}   client_secret ${tenant.admin.clientSecret}
  data and logs    ${folder}`);
}
