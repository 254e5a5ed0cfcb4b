// npm run demo: the whole story on a platform of its own: a tenant gets a DID, offers a credential, a wallet made by
// others collects it, independent libraries verify it, a signed webhook arrives, the audit trail shows every step.
// `-- --json` prints the result as one JSON object on its last line; `-- --keep` leaves the platform running.
// `-- --at http://localhost:8080` plays it on a platform that runs: its BASE_DOMAIN, at a port of this machine, with the
// credentials in MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET. It must allow private targets, for the webhook goes to
// this machine, under the name in `--webhook-host`.
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

const options = readOptions();
await ensureInstalled();
await ensureBuilt();

const begin = performance.now();
const kit = await import(pathToFileURL(join(root, 'libs', 'testing', 'dist', 'index.js')));
const stops = [];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => stopAll().finally(() => process.exit(128 + constants.signals[signal])));
let failed;
let step = 'start';
try {
  const { platform, tenant, result } = await story();
  if (options.keep) await keep(platform, tenant);
  else await stopAll();
  const seconds = Number(((performance.now() - begin) / 1000).toFixed(2));
  say(`\nDone in ${seconds} s.`);
  if (options.json) console.log(JSON.stringify({ ok: true, ...result, seconds }));
} catch (error) {
  failed = error;
} finally {
  await stopAll();
}
if (failed) {
  console.error(`\nThe demo failed at "${step}": ${failed.message}`);
  for (let cause = failed.cause; cause instanceof Error; cause = cause.cause)
    console.error(`  because: ${cause.message}`);
  if (options.json) console.log(JSON.stringify({ ok: false, step, error: failed.message }));
}
process.exit(failed ? 1 : 0);

async function story() {
  const platform = await told('The platform starts', async () => {
    if (options.at) return [runningPlatform(), `${options.at}, which runs already`];
    const started = await kit.startPlatformProcess({ detached: options.keep === true, env: { LOG_LEVEL: 'warn' } });
    stops.push(() => started.stop());
    return [started, `${started.ready.management}, data in ${started.dataDir}`];
  });

  const tenant = await told('A tenant is created', async () => {
    const management = await kit.connectManagement(platform);
    const subdomain = options.at ? `acme-${Date.now().toString(36)}` : 'acme';
    const created = await kit.createTenantUnderTest(platform, management, subdomain);
    return [created, `${created.id} at ${created.url}; its client has a token`];
  });
  const { api } = tenant;

  const did = await told('It gets a DID', async () => {
    const record = kit.expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
    return [record.did, `${record.did} with ${record.localMetadata.keys.length} keys`];
  });

  const receiver = await told('A webhook is subscribed', async () => {
    const started = await kit.WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`, {
      host: options['webhook-host'],
    });
    stops.push(() => started.close());
    const { url } = started;
    const webhook = kit.expectStatus(await api.webhooks.create({ events: ['OpenIdCredentialIssued'], url }), 201);
    return [started, `${webhook.events.join(', ')} to ${webhook.url}`];
  });

  const request = {
    type: 'CourseCompletion',
    name: 'Course completion',
    issuer: { name: 'Acme Academy' },
    issuerDid: did,
    claimMappings: { given_name: { mapFrom: 'claims.given_name' }, course: { mapFrom: 'claims.course' } },
    expiresIn: { years: 1 },
  };
  const [jwtVc, ldpVc] = await told('A credential is configured', async () => {
    const configurations = [
      kit.expectStatus(await api.jwtVc.create(request), 201).id,
      kit.expectStatus(await api.webSemantic.create(request), 201).id,
    ];
    return [configurations, 'CourseCompletion as jwt_vc_json and as ldp_vc (eddsa-rdfc-2022)'];
  });

  const offer = await told('It is offered', async () => {
    const claims = { given_name: 'Ada', course: 'Difference engines' };
    const created = kit.expectStatus(
      await api.offers.create({ credentials: [jwtVc, ldpVc], claims, transactionCodeConfiguration: {} }),
      200,
    );
    return [created, `${short(created.uri, 60)}, transaction code ${created.transactionCode}`];
  });

  const [jwt, ldp] = await told('A wallet of others collects it', async () => {
    const key = await kit.makeHolderKey('ES256', 'did:key');
    const collectOptions = { transactionCode: offer.transactionCode, keys: [key] };
    const { credentials } = await new kit.Wallet().collect(offer.uri, collectOptions);
    return [credentials.map(({ credential }) => credential), `@openid4vc/openid4vci, bound to ${short(key.did, 40)}`];
  });

  await told('Others verify it', async () => {
    const { header, payload } = await kit.verifyJwtVc(jwt);
    await kit.verifyLdpVc(ldp);
    const { given_name, course } = payload.vc.credentialSubject;
    if (given_name !== 'Ada' || payload.iss !== did) throw new Error('the credential says something else');
    const claims = `${given_name}, ${course}`;
    return [undefined, `jose: jwt_vc_json (${header.alg}) says "${claims}"; @digitalbazaar/vc: ldp_vc is genuine`];
  });

  const delivery = await told('The signed webhook arrives', async () => {
    const isOfJwt = ({ body }) => body.event.payload.credentialConfigurationId === jwtVc;
    const received = await receiver.waitFor(isOfJwt);
    if (!received.verified) throw new Error(`the webhook does not verify: ${received.fault}`);
    if (received.body.event.payload.credential !== jwt) throw new Error('the webhook brings another credential');
    return [
      received,
      `${received.body.event.type}; http-message-sig: RFC 9421 signature and RFC 9530 digest are right`,
    ];
  });

  const events = await told('The audit trail shows every step', async () => {
    const { data } = kit.expectStatus(await api.analytics.list({ limit: 1000 }), 200);
    const trail = data.reverse();
    for (const prefix of ['DID_CREATE', 'WEBHOOK_CREATE', 'OPENID_TOKEN', 'OPENID_CREDENTIAL'])
      if (!trail.some(({ type }) => type === `${prefix}_SUCCESS`)) throw new Error(`it has no ${prefix}_SUCCESS`);
    return [trail, `${trail.length} events, oldest first:`];
  });
  for (const { timestamp, type } of events) say(`      ${timestamp.slice(11, 23)}  ${type}`);

  const result = {
    tenantId: tenant.id,
    did,
    credentialConfigurationId: jwtVc,
    format: 'jwt_vc_json',
    credential: jwt,
    verified: true,
    webhook: { verified: delivery.verified, eventType: delivery.body.event.type },
    events: events.map(({ type }) => type),
  };
  return { platform, tenant, result };
}

function readOptions() {
  try {
    const [boolean, string] = [{ type: 'boolean' }, { type: 'string' }];
    const { values } = parseArgs({ options: { json: boolean, keep: boolean, at: string, 'webhook-host': string } });
    if (values.at && values.keep) throw new Error('--keep is for a platform that the demo starts');
    if (values.at && !URL.canParse(values.at)) throw new Error('--at must be an address, as http://localhost:8080');
    return values;
  } catch (error) {
    console.error(`${error.message}\nnpm run demo [-- --json] [--keep | --at URL [--webhook-host NAME]]`);
    process.exit(2);
  }
}

/** What the story needs of a platform that somebody else started. */
function runningPlatform() {
  const { MANAGEMENT_CLIENT_ID: client_id, MANAGEMENT_CLIENT_SECRET: client_secret } = process.env;
  if (!client_id || !client_secret) throw new Error('MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET are not set');
  const { protocol, host } = new URL(options.at);
  return {
    ready: { management: `${protocol}//management.${host}`, auth: `${protocol}//auth.${host}` },
    managementClient: () => ({ client_id, client_secret }),
  };
}

/** Runs a step and prints its name, what came back and how long it took. */
async function told(name, run) {
  step = name;
  const start = performance.now();
  const [value, what] = await run();
  const ms = Math.round(performance.now() - start);
  say(`${`${ms} ms`.padStart(9)}  ${name.padEnd(34)} ${what}`);
  return value;
}

function say(line) {
  console.log(line);
}

function short(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** The platform lives on; everything else stops. */
async function keep(platform, tenant) {
  const { ready, pid, dataDir, logFile } = platform;
  const file = ready.managementClientFile ?? join(dataDir, 'management-client.json');
  const management = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  say(`
The platform is still running (process ${pid}); end it with: kill ${pid}
  management API   ${ready.management}   ${management}
  token endpoint   ${ready.auth}/oauth/token
  tenant           ${tenant.url}   audience "${tenant.url}"
  tenant client    client_id ${tenant.admin.clientId}   client_secret ${tenant.admin.clientSecret}
  data folder      ${dataDir}
  log              ${logFile}
curl and browsers find names under localhost at 127.0.0.1; other programs may not.`);
  platform.release();
  stops.shift();
  await stopAll();
}

async function stopAll() {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
}
