// The story of the commands demo and cluster: a tenant gets a DID and offers a credential, a third-party wallet redeems the offer,
// independent libraries verify the credential, a signed webhook arrives, a revoked credential is refused, the audit trail shows every step.
import { constants } from 'node:os';

/** Clean-up, last first. */
const stops = [];
let current = 'start';

/**
 * Runs the story on a platform that `start` provides.
 *
 * @param start gets the clean-up list, and returns the platform and its description
 * @param keep is called instead of ending the platform
 * @param about more members of the JSON result, known when the story is over
 * @returns the JSON document of the command
 * @throws Error with the name of the step that failed, caused by what failed
 */
export async function play({ kit, cli, start, keep, about = () => ({}), subdomain = 'acme', receiver = {} }) {
  const begin = performance.now();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => stopAll().finally(() => process.exit(128 + constants.signals[signal])));
  try {
    const { platform, tenant, result } = await story(kit, cli, start, subdomain, receiver);
    const more = about(platform);
    if (keep) {
      await keep(platform, tenant);
      // The platform, which was started first, is not stopped.
      stops.shift();
    }
    await stopAll();
    const seconds = Number(((performance.now() - begin) / 1000).toFixed(2));
    cli.say(`\nDone in ${seconds} s.`);
    return { document: { ok: true, ...result, ...more, seconds } };
  } catch (error) {
    throw new Error(`failed at "${current}"`, { cause: error });
  } finally {
    await stopAll();
  }
}

async function story(kit, cli, start, subdomain, receiverOptions) {
  /** Runs a step and prints its name, its result and how long it took. */
  const step = async (name, run) => {
    current = name;
    const begin = performance.now();
    const [value, what] = await cli.step(name, run);
    const ms = Math.round(performance.now() - begin);
    cli.say(`${`${ms} ms`.padStart(9)}  ${name.padEnd(38)} ${what}`);
    return value;
  };
  const platform = await step('The platform starts', () => start(stops));

  const tenant = await step('A tenant is created', async () => {
    const management = await kit.connectManagement(platform);
    const created = await kit.createTenantUnderTest(platform, management, subdomain);
    return [created, `${created.id} at ${created.url}; its client has a token`];
  });
  const { api } = tenant;

  const did = await step('A DID is created', async () => {
    const record = kit.expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
    return [record.did, `${record.did} with ${record.localMetadata.keys.length} keys`];
  });

  const receiver = await step('A webhook is subscribed', async () => {
    const started = await kit.WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`, receiverOptions);
    stops.push(() => started.close());
    const { url } = started;
    const created = await api.webhooks.create({ events: ['OpenIdCredentialIssued'], url });
    if (created.status === 400 && created.text.includes('must use https'))
      throw new Error(`the platform refuses ${url}: start it with ALLOW_PRIVATE_TARGETS=true`);
    const webhook = kit.expectStatus(created, 201);
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
  const compact = { claimMappings: request.claimMappings, expiresIn: request.expiresIn };
  const iaca = await step('An IACA is activated', async () => {
    const created = kit.expectStatus(await api.iacas.create({ country: 'NZ' }), 201);
    kit.expectStatus(await api.iacas.update(created.id, true), 200);
    return [created.certificatePem, `${created.certificateData.commonName}, the root of document signers`];
  });
  const docType = 'org.example.course.completion';
  const configured = await step('Credentials are configured', async () => {
    const configurations = [
      kit.expectStatus(await api.jwtVc.create(request), 201).id,
      kit.expectStatus(await api.webSemantic.create(request), 201).id,
      kit.expectStatus(await api.sdJwt.create({ ...request, revocable: true }), 201).id,
      kit.expectStatus(await api.compact.create({ ...compact, type: 'CourseCompletion' }), 201).id,
      kit.expectStatus(await api.compactSemantic.create({ ...compact, type: 'SemanticCourseCompletion' }), 201).id,
      kit.expectStatus(await api.mobile.create(mobileRequest(docType)), 201).id,
    ];
    const formats = 'jwt_vc_json, ldp_vc (eddsa-rdfc-2022), dc+sd-jwt, cwt, cwt_vc and mso_mdoc';
    return [configurations, `CourseCompletion as ${formats}`];
  });
  const [jwtVc, , sdJwt] = configured;

  const offer = await step('An offer is created', async () => {
    const claims = { given_name: 'Ada', course: 'Difference engines' };
    const created = kit.expectStatus(
      await api.offers.create({ credentials: configured, claims, transactionCodeConfiguration: {} }),
      200,
    );
    return [created, `${short(created.uri, 60)}, transaction code ${created.transactionCode}`];
  });

  const [key, jwt, ldp, sd, cwt, semanticCwt, mobile] = await step(
    'A third-party wallet redeems the offer',
    async () => {
      const key = await kit.makeHolderKey('ES256', 'did:key');
      const collectOptions = { transactionCode: offer.transactionCode, keys: [key] };
      const { credentials } = await new kit.Wallet().collect(offer.uri, collectOptions);
      const collected = [key, ...credentials.map(({ credential }) => credential)];
      return [collected, `@openid4vc/openid4vci, bound to ${short(key.did, 40)}`];
    },
  );

  await step('Independent libraries verify it', async () => {
    const { header, payload } = await kit.verifyJwtVc(jwt);
    const { given_name, course } = payload.vc.credentialSubject;
    await kit.verifyLdpVc(ldp);
    // The first lists of an issuer are published about a second after its first credential.
    const disclosed = await kit.waitUntil(() => kit.verifySdJwt(sd, key, ['course']));
    if (disclosed.payload.course !== course || 'given_name' in disclosed.payload)
      throw new Error('the holder disclosed other claims');
    const { claims: flat } = await kit.waitUntil(() => kit.verifyCwt(cwt));
    const { vc } = Object.fromEntries((await kit.waitUntil(() => kit.verifyCwt(semanticCwt))).claims);
    if (flat.get('course') !== course || vc.credentialSubject.course !== course || flat.get(2) !== key.did)
      throw new Error('a CWT has another holder or other claims');
    const presented = { credential: mobile, docType, deviceKey: key.privateKey, iacas: [iaca] };
    const document = await kit.verifyMdoc(presented);
    if (document[docType].course !== course) throw new Error('the mdoc has other claims');
    if (given_name !== 'Ada' || payload.iss !== did)
      throw new Error('the credential has another issuer or other claims');
    const claims = `${given_name}, ${course}`;
    return [
      undefined,
      `jose: jwt_vc_json (${header.alg}) is valid, with "${claims}"; @digitalbazaar/vc: ldp_vc is valid; @sd-jwt/sd-jwt-vc: dc+sd-jwt is valid, with "${course}" alone; cbor2 and WebCrypto: cwt and cwt_vc are valid; @auth0/mdl: mso_mdoc is valid`,
    ];
  });

  const delivery = await step('The signed webhook arrives', async () => {
    const isOfJwt = ({ body }) => body.event.payload.credentialConfigurationId === jwtVc;
    const received = await receiver.waitFor(isOfJwt);
    if (!received.verified) throw new Error(`the webhook does not verify: ${received.fault}`);
    if (received.body.event.payload.credential !== jwt) throw new Error('the webhook contains another credential');
    return [
      received,
      `${received.body.event.type}; http-message-sig: RFC 9421 signature and RFC 9530 digest are valid`,
    ];
  });

  await step('A credential is revoked', async () => {
    const filters = { credentialConfigurationId: sdJwt };
    const {
      data: [{ id }],
    } = await kit.waitUntil(async () => {
      const page = kit.expectStatus(await api.credentials(filters), 200);
      return page.data.length > 0 && page;
    });
    kit.expectStatus(await api.sdJwt.setStatus(id, { status: 'invalid', reason: 'Demonstration' }), 201);
    const fault = await kit.waitUntil(() =>
      kit.verifySdJwt(sd, key, ['course']).then(
        () => undefined,
        ({ message }) => message,
      ),
    );
    if (fault !== 'Status is not valid') throw new Error(`the revoked credential fails by another fault: ${fault}`);
    return [undefined, `@sd-jwt/sd-jwt-vc: dc+sd-jwt ${id} is refused by its status list`];
  });

  const events = await step('The audit trail shows every step', async () => {
    const { data } = kit.expectStatus(await api.analytics.list({ limit: 1000 }), 200);
    const trail = data.reverse();
    for (const prefix of [
      'DID_CREATE',
      'WEBHOOK_CREATE',
      'OPENID_TOKEN',
      'OPENID_CREDENTIAL',
      'CREDENTIAL_SD_JWT_STATUS_SET',
    ])
      if (!trail.some(({ type }) => type === `${prefix}_SUCCESS`))
        throw new Error(`the audit trail has no ${prefix}_SUCCESS`);
    return [trail, `${trail.length} events, oldest first:`];
  });
  for (const { timestamp, type } of events) cli.say(`      ${timestamp.slice(11, 23)}  ${type}`);

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

/** The namespace has the name of the document type. */
function mobileRequest(docType) {
  return {
    type: docType,
    claimMappings: {
      [docType]: { given_name: { mapFrom: 'claims.given_name' }, course: { mapFrom: 'claims.course' } },
    },
    expiresIn: { years: 1 },
    branding: { name: 'Course completion' },
  };
}

function short(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

async function stopAll() {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
}
