import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../setup.mjs';

/**
 * The platform as many processes on real engines: uses the engines whose URLs the environment gives and starts the others, migrates,
 * starts two gateways, two issuance services and one of each other service, and plays the story (scripts/story.mjs) through them.
 */
export default {
  group: 'Run',
  description: 'the demo with one process per service, on NATS, PostgreSQL, Redis and, optionally, EventStoreDB',
  options: [
    { flags: '--keep', about: 'leave everything running' },
    { flags: '--folder <path>', about: 'data and logs (default: a new temporary folder)' },
  ],
  examples: ['npm run cluster', 'DATABASE_URL=postgres://… npm run cluster -- --keep'],
  run: async ({ options }, cli) => {
    await cli.build();
    const { play } = await import('../story.mjs');
    const kit = await import(pathToFileURL(join(root, 'libs', 'testing', 'dist', 'index.js')));
    const missing = kit
      .missingEngines(process.env)
      .map(
        ({ name, debian, macos, variable }) =>
          `${name} is not installed. Install it (Debian: ${debian}; macOS: ${macos}), or set ${variable} to a running one.`,
      );
    if (missing.length > 0) throw new Error(missing.join(' '));
    return play({
      kit,
      cli,
      async start(stops) {
        const cluster = await kit.Cluster.start({ detached: options.keep === true, folder: options.folder });
        stops.push(() => cluster.stop());
        describe(cli.say, cluster);
        return [cluster, `${cluster.ready.management}, ${cluster.processes.length} processes`];
      },
      about: (cluster) => ({
        processes: cluster.processes.map(({ service, pid, port }) => ({ service, pid, port })),
      }),
      ...(options.keep && { keep: (cluster, tenant) => keep(cli.say, cluster, tenant) }),
    });
  },
};

function describe(say, cluster) {
  for (const [variable, url] of Object.entries(cluster.engines.env))
    if (variable.endsWith('_URL')) say(`  ${variable.padEnd(14)} ${url.replace(/\/\/[^@/]*@/, '//')}`);
  for (const { name, pid, port, logFile } of cluster.processes)
    say(`  ${name.padEnd(14)} process ${String(pid).padEnd(8)} http://127.0.0.1:${port}   ${logFile}`);
}

async function keep(say, cluster, tenant) {
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
