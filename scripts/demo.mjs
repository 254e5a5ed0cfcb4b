// npm run demo: the whole story (story.mjs) on a platform of its own.
// `-- --json` prints the result as one JSON object on its last line; `-- --keep` leaves the platform running.
// `-- --at http://localhost:8080` plays it on a platform that runs: its BASE_DOMAIN, at a port of this machine, with the
// credentials in MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET. It must allow private targets, for the webhook goes to
// this machine, under the name in `--webhook-host`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';
import { play, say } from './story.mjs';

const options = readOptions();
await ensureInstalled();
await ensureBuilt();
const kit = await import(pathToFileURL(join(root, 'libs', 'testing', 'dist', 'index.js')));

await play({
  kit,
  json: options.json,
  subdomain: options.at ? `acme-${Date.now().toString(36)}` : 'acme',
  receiver: { host: options['webhook-host'] },
  async start(stops) {
    if (options.at) return [runningPlatform(), `${options.at}, already running`];
    const started = await kit.startPlatformProcess({ detached: options.keep === true, env: { LOG_LEVEL: 'warn' } });
    stops.push(() => started.stop());
    return [started, `${started.ready.management}, data in ${started.dataDir}`];
  },
  ...(options.keep && { keep }),
});

function readOptions() {
  try {
    const [boolean, string] = [{ type: 'boolean' }, { type: 'string' }];
    const { values } = parseArgs({ options: { json: boolean, keep: boolean, at: string, 'webhook-host': string } });
    if (values.at && values.keep) throw new Error('--keep cannot be used with --at');
    if (values.at && !URL.canParse(values.at)) throw new Error('--at must be a URL such as http://localhost:8080');
    return values;
  } catch (error) {
    console.error(`${error.message}\nusage: npm run demo [-- --json] [--keep | --at URL [--webhook-host NAME]]`);
    process.exit(2);
  }
}

/** What the story needs of a platform that somebody else started. */
function runningPlatform() {
  const { MANAGEMENT_CLIENT_ID: client_id, MANAGEMENT_CLIENT_SECRET: client_secret } = process.env;
  if (!client_id || !client_secret) throw new Error('--at requires MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET');
  const { protocol, host } = new URL(options.at);
  return {
    ready: { management: `${protocol}//management.${host}`, auth: `${protocol}//auth.${host}` },
    managementClient: () => ({ client_id, client_secret }),
  };
}

/** The platform lives on. */
async function keep(platform, tenant) {
  const { ready, pid, dataDir, logFile } = platform;
  const file = ready.managementClientFile ?? join(dataDir, 'management-client.json');
  const management = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  say(`
The platform is still running (process ${pid}); stop it with: kill ${pid}
  management API   ${ready.management}   ${management}
  token endpoint   ${ready.auth}/oauth/token
  tenant           ${tenant.url}   audience "${tenant.url}"
  tenant client    client_id ${tenant.admin.clientId}   client_secret ${tenant.admin.clientSecret}
  data folder      ${dataDir}
  log              ${logFile}
curl and browsers resolve *.localhost to 127.0.0.1; other programs may not.`);
  platform.release();
}
