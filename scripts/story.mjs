// The story that the demo and the cluster tell: a tenant gets a DID, offers a credential, a wallet made by others collects
// it, independent libraries verify it, a signed webhook arrives, the audit trail shows every step.
import { constants } from 'node:os';

/** What has to be ended, last first. */
const stops = [];
let step = 'start';

/**
 * Plays the story on a platform that `start` brings, and ends the process: with 0 when everything went well.
 *
 * @param start takes the list of what is to be ended, and gives the platform and what to say of it
 * @param keep is called instead of ending the platform
 * @param about more members of the JSON result, known when the story is over
 */
export async function play({ kit, json, start, keep, about = () => ({}), subdomain = 'acme', receiver = {} }) {
  const begin = performance.now();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => stopAll().finally(() => process.exit(128 + constants.signals[signal])));
  let failed;
  try {
    const { platform, tenant, result } = await story(kit, start, subdomain, receiver);
    const more = about(platform);
    if (keep) {
      await keep(platform, tenant);
      // The platform's own end, the first of all, is not for us any more.
      stops.shift();
    }
    await stopAll();
    const seconds = Number(((performance.now() - begin) / 1000).toFixed(2));
    say(`\nDone in ${seconds} s.`);
    if (json) console.log(JSON.stringify({ ok: true, ...result, ...more, seconds }));
  } catch (error) {
    failed = error;
  } finally {
    await stopAll();
  }
  if (failed) {
    console.error(`\nFailed at "${step}": ${failed.message}`);
    for (let cause = failed.cause; cause instanceof Error; cause = cause.cause)
      console.error(`  because: ${cause.message}`);
    if (json) console.log(JSON.stringify({ ok: false, step, error: failed.message }));
  }
  process.exit(failed ? 1 : 0);
}

async function story(kit, start, subdomain, receiverOptions) {
  const platform = await told('The platform starts', () => start(stops));

  const tenant = await told('A tenant is created', async () => {
    const management = await kit.connectManagement(platform);
    const created = await kit.createTenantUnderTest(platform, management, subdomain);
    return [created, `${created.id} at ${created.url}; its client has a token`];
  });
  const { api } = tenant;

  const did = await told('A DID is created', async () => {
    const record = kit.expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
    return [record.did, `${record.did} with ${record.localMetadata.keys.length} keys`];
  });

  const receiver = await told('A webhook is subscribed', async () => {
    const started = await kit.WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`, receiverOptions);
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
  const [jwtVc, ldpVc] = await told('Credentials are configured', async () => {
    const configurations = [
      kit.expectStatus(await api.jwtVc.create(request), 201).id,
      kit.expectStatus(await api.webSemantic.create(request), 201).id,
    ];
    return [configurations, 'CourseCompletion as jwt_vc_json and as ldp_vc (eddsa-rdfc-2022)'];
  });

  const offer = await told('An offer is created', async () => {
    const claims = { given_name: 'Ada', course: 'Difference engines' };
    const created = kit.expectStatus(
      await api.offers.create({ credentials: [jwtVc, ldpVc], claims, transactionCodeConfiguration: {} }),
      200,
    );
    return [created, `${short(created.uri, 60)}, transaction code ${created.transactionCode}`];
  });

  const [jwt, ldp] = await told('A third-party wallet redeems the offer', async () => {
    const key = await kit.makeHolderKey('ES256', 'did:key');
    const collectOptions = { transactionCode: offer.transactionCode, keys: [key] };
    const { credentials } = await new kit.Wallet().collect(offer.uri, collectOptions);
    return [credentials.map(({ credential }) => credential), `@openid4vc/openid4vci, bound to ${short(key.did, 40)}`];
  });

  await told('Independent libraries verify it', async () => {
    const { header, payload } = await kit.verifyJwtVc(jwt);
    await kit.verifyLdpVc(ldp);
    const { given_name, course } = payload.vc.credentialSubject;
    if (given_name !== 'Ada' || payload.iss !== did)
      throw new Error('the credential has another issuer or other claims');
    const claims = `${given_name}, ${course}`;
    return [
      undefined,
      `jose: jwt_vc_json (${header.alg}) is valid, with "${claims}"; @digitalbazaar/vc: ldp_vc is valid`,
    ];
  });

  const delivery = await told('The signed webhook arrives', async () => {
    const isOfJwt = ({ body }) => body.event.payload.credentialConfigurationId === jwtVc;
    const received = await receiver.waitFor(isOfJwt);
    if (!received.verified) throw new Error(`the webhook does not verify: ${received.fault}`);
    if (received.body.event.payload.credential !== jwt) throw new Error('the webhook contains another credential');
    return [
      received,
      `${received.body.event.type}; http-message-sig: RFC 9421 signature and RFC 9530 digest are valid`,
    ];
  });

  const events = await told('The audit trail shows every step', async () => {
    const { data } = kit.expectStatus(await api.analytics.list({ limit: 1000 }), 200);
    const trail = data.reverse();
    for (const prefix of ['DID_CREATE', 'WEBHOOK_CREATE', 'OPENID_TOKEN', 'OPENID_CREDENTIAL'])
      if (!trail.some(({ type }) => type === `${prefix}_SUCCESS`))
        throw new Error(`the audit trail has no ${prefix}_SUCCESS`);
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

/** Runs a step and prints its name, what came back and how long it took. */
export async function told(name, run) {
  step = name;
  const start = performance.now();
  const [value, what] = await run();
  const ms = Math.round(performance.now() - start);
  say(`${`${ms} ms`.padStart(9)}  ${name.padEnd(38)} ${what}`);
  return value;
}

export function say(line) {
  console.log(line);
}

function short(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

async function stopAll() {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
}
