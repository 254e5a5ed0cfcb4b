import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../setup.mjs';

/** The whole story (scripts/story.mjs) on one platform process. */
export default {
  group: 'Run',
  description:
    'start the platform on a free port, issue a credential of each format to a third-party wallet, verify them and revoke one',
  options: [
    { flags: '--keep', about: 'leave the platform running' },
    {
      flags: '--at <url>',
      about:
        'use a running platform: its BASE_DOMAIN at a port of this machine, with MANAGEMENT_CLIENT_ID, MANAGEMENT_CLIENT_SECRET and ALLOW_PRIVATE_TARGETS',
    },
    { flags: '--webhook-host <name>', about: 'with --at: name under which the platform reaches this machine' },
  ],
  examples: ['npm run demo', 'npm run demo -- --keep', 'npx attestry demo --json | jq .credential'],
  run: async ({ options: { at, keep: kept, webhookHost } }, cli) => {
    if (at && kept) cli.wrongUsage('--keep cannot be used with --at');
    if (at && !URL.canParse(at)) cli.wrongUsage('--at must be a URL such as http://localhost:8080');
    await cli.build();
    const { play } = await import('../story.mjs');
    const kit = await import(pathToFileURL(join(root, 'libs', 'testing', 'dist', 'index.js')));
    return play({
      kit,
      cli,
      subdomain: at ? `acme-${Date.now().toString(36)}` : 'acme',
      receiver: { host: webhookHost },
      async start(stops) {
        if (at) return [runningPlatform(at), `${at}, already running`];
        const started = await kit.startPlatformProcess({ detached: kept === true, env: { LOG_LEVEL: 'warn' } });
        stops.push(() => started.stop());
        return [started, `${started.ready.management}, data in ${started.dataDir}`];
      },
      ...(kept && { keep: (platform, tenant) => keep(cli.say, platform, tenant) }),
    });
  },
};

/** Platform for the story when it was started before. */
function runningPlatform(at) {
  const { MANAGEMENT_CLIENT_ID: client_id, MANAGEMENT_CLIENT_SECRET: client_secret } = process.env;
  if (!client_id || !client_secret)
    throw new Error(
      '--at requires MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET: set both as the running platform has them, or from <data folder>/management-client.json',
    );
  const { protocol, host } = new URL(at);
  return {
    ready: { management: `${protocol}//management.${host}`, auth: `${protocol}//auth.${host}` },
    managementClient: () => ({ client_id, client_secret }),
  };
}

/** The platform is left running. */
async function keep(say, platform, tenant) {
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
