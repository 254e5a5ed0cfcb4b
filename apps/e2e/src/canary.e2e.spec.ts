/** @engines embedded */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiClient,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  decryptEverything,
  expectStatus,
  isKeyRecoverable,
  makeHolderKey,
  remainingKeys,
  requestToken,
  SeededRandom,
  searchFolders,
  startPlatformProcess,
  waitUntil,
  Wallet,
  WebhookReceiver,
  type Canary,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { issue, makeIssuer } from './journey.js';

const seed = 20_260_101;
const random = new SeededRandom(seed);
const MASTER_KEY = randomBytes(32).toString('base64url');
const managementClient = { client_id: random.text(32), client_secret: random.text(64) };
const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

let platform: PlatformProcess;
let tenant: TenantUnderTest;
const canaries: Canary[] = [];
const watch = (name: string, value: string): string => {
  canaries.push({ name, value });
  return value;
};
/** An unused value, with characters that encodings change. */
const claim = (name: string): string => watch(`claim: ${name}`, `${random.text(12)} "Zoë" <&> ${random.text(8)}/+\\`);

/** Codes, tokens and transaction codes of one issuance, requested directly, because a wallet library does not expose them. */
const collectByHand = async (offer: { uri: string; transactionCode?: string }, configurationId: string) => {
  const wallet = new Wallet();
  const resolved = await wallet.resolveOffer(offer.uri);
  watch('pre-authorized code', resolved.grants![PRE_AUTHORIZED]!['pre-authorized_code']);
  const metadata = await wallet.metadata(resolved.credential_issuer);
  const token = watch('access token', await wallet.accessToken(resolved, metadata, offer.transactionCode));
  const key = await makeHolderKey();
  const nonce = await wallet.nonce(metadata);
  const proof = await wallet.proof(metadata, configurationId, key, nonce);
  watch('key proof, signature', proof.split('.')[2]!);
  const answer = await new ApiClient(tenant.url, token).request<{ credentials: { credential: unknown }[] }>(
    'POST',
    '/v1/openid/credential',
    { body: { credential_configuration_id: configurationId, proofs: { jwt: [proof] } } },
  );
  return expectStatus(answer, 200).credentials[0]!.credential;
};

const watchCredential = (credential: unknown) => {
  if (typeof credential === 'string') {
    const [jwt, ...disclosures] = credential.split('~');
    const format = disclosures.length ? 'dc+sd-jwt' : 'jwt_vc_json';
    const [, payload, signature] = jwt!.split('.');
    watch(`${format}, payload`, payload!);
    watch(`${format}, signature`, signature!);
    for (const disclosure of disclosures.filter(Boolean)) watch(`${format}, disclosure`, disclosure);
  } else {
    const { proof } = credential as { proof: { proofValue: string } };
    watch('ldp_vc, proof value', proof.proofValue);
  }
};

/** The user whose claims are erased later. */
let person: { id: string; values: Canary[] };
let keptUser: { id: string; value: string };

beforeAll(async () => {
  // Given from outside, so that no secret has a right to be in the data folder.
  platform = await startPlatformProcess({
    env: {
      MASTER_KEY: watch('MASTER_KEY', MASTER_KEY),
      MANAGEMENT_CLIENT_ID: managementClient.client_id,
      MANAGEMENT_CLIENT_SECRET: watch('management client secret', managementClient.client_secret),
      WEBHOOK_RETRY_SECONDS: '600',
      LOG_LEVEL: 'trace',
    },
  });
  const management = await connectManagement(platform, managementClient);
  watch('management token', management.client.token!);

  tenant = await createTenantUnderTest(platform, management, 'canary');
  watch('client secret', tenant.admin.clientSecret);
  watch('client token, signature', tenant.token.split('.')[2]!);
  const second = await connectWithRoles(platform, management, tenant, ['issuer']);
  watch('second client token, signature', second.client.token!.split('.')[2]!);
  const issuer = await makeIssuer(tenant);
  const claimMappings = { given_name: { mapFrom: 'claims.given_name' }, note: { mapFrom: 'claims.note' } };
  const sdJwt = expectStatus(
    await tenant.api.sdJwt.create({ type: 'Card', name: 'Card', issuer: { name: 'University' }, claimMappings }),
    201,
  );

  // One receiver accepts its webhooks, the other never does: its credential remains queued.
  const taking = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
  const refusing = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`, { respond: () => 500 });
  for (const { url } of [taking, refusing])
    expectStatus(await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url }), 201);

  // Journeys: by value and by reference, with and without transaction code, all formats.
  for (const configurationId of [issuer.jwtVc, issuer.webSemantic, sdJwt.id]) {
    const offer = expectStatus(
      await tenant.api.offers.create({
        credentials: [configurationId],
        claims: { given_name: claim('offer given_name'), note: claim('offer note') },
        transactionCodeConfiguration: {},
      }),
      200,
    );
    // Six digits are found by chance; as a JSON string or a form member they are not.
    watch('transaction code, as a string', `"${offer.transactionCode}"`);
    watch('transaction code, in a form', `tx_code=${offer.transactionCode}`);
    watch(
      'offer reference',
      new URL(offer.uriByReference).searchParams.get('credential_offer_uri')!.split('.').at(-1)!,
    );
    watchCredential(await collectByHand(offer, configurationId));
  }

  // People: claims given at creation, claims persisted from an offer, credentials issued to them.
  const values: Canary[] = [];
  const personal = (name: string) => {
    const value = claim(name);
    values.push(canaries.at(-1)!);
    return value;
  };
  const user = expectStatus(await tenant.api.users.create({ claims: { given_name: personal('user') } }), 201);
  const { credentials } = await issue(tenant, {
    credentials: [issuer.jwtVc],
    userId: user.id,
    claims: { note: personal('session'), seat: personal('persisted') },
    claimsToPersist: ['seat'],
  });
  watchCredential(credentials[0]!.credential);
  // The signature of a persisted credential is in its document alone.
  const { id: persisting } = expectStatus(
    await tenant.api.webSemantic.create({
      ...{ type: 'Kept', name: 'Kept credential', issuer: { name: 'University' }, issuerDid: issuer.did },
      ...{ claimMappings: { given_name: { mapFrom: 'claims.given_name' } }, persist: true },
    }),
    201,
  );
  const kept = await issue(tenant, { credentials: [persisting], userId: user.id });
  const { proof } = kept.credentials[0]!.credential as { proof: { proofValue: string } };
  values.push({ name: 'persisted credential', value: watch('persisted credential, proof value', proof.proofValue) });
  const open = expectStatus(
    await tenant.api.offers.create({
      credentials: [issuer.jwtVc],
      userId: user.id,
      claims: { note: personal('open offer') },
    }),
    200,
  );
  expect(open.userId).toBe(user.id);
  person = { id: user.id, values };
  const value = claim('kept user');
  keptUser = { id: expectStatus(await tenant.api.users.create({ claims: { given_name: value } }), 201).id, value };

  // Faults: secrets and claims in requests that are refused.
  const wrong = { client_id: tenant.admin.clientId, client_secret: watch('wrong client secret', random.text(40)) };
  expectStatus(await requestToken(platform.ready.auth, wrong, tenant.url), 401);
  const wire = new ApiClient(tenant.url);
  const code = watch('code nobody gave out', random.text(60));
  const body = new URLSearchParams({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code });
  expect((await wire.request('POST', '/v1/oauth/token', { body })).status).toBe(400);
  const query = { access_token: watch('token in an address', random.text(60)) };
  expect((await wire.request('POST', '/v1/openid/credential', { query, body: {} })).status).toBe(400);
  expect((await wire.request('GET', '/v1/dids', { token: watch('unknown token', random.text(60)) })).status).toBe(401);
  expect((await tenant.api.users.create({ claims: claim('wrong shape') as never })).status).toBe(400);
  const refused = { credentials: ['x'], claims: { a: claim('refused offer') } };
  expect((await tenant.api.offers.create(refused)).status).toBe(400);
  const unmapped = {
    credentials: [issuer.webSemantic],
    claims: { given_name: { '@id': claim('refused at issuing') } },
  };
  await expect(issue(tenant, unmapped)).rejects.toThrow();

  await waitUntil(() => taking.deliveries.length >= 4 && refusing.deliveries.length >= 4, { what: 'the webhooks' });
  await taking.close();
  await refusing.close();
  // Shows again what is sealed: lists, records and metadata.
  expectStatus(await tenant.api.users.list(), 200);
  expectStatus(await tenant.api.users.credentials(user.id), 200);
  expectStatus(await tenant.api.analytics.list({ limit: 1000 }), 200);
}, 60_000);
afterAll(async () => platform?.stop());

const copied = async <T>(look: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-copy-'));
  try {
    await cp(platform.dataDir, folder, { recursive: true });
    return await look(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const keysIn = (folder: string) => remainingKeys(folder, MASTER_KEY);

describe('no secret is stored or logged in plain text', () => {
  it('while the platform runs, in its files, write-ahead logs and log', async () => {
    expect(canaries.length).toBeGreaterThan(30);
    const { sightings, files } = await searchFolders([platform.folder], canaries);
    expect(files.filter((file) => file.endsWith('.db-wal')).length).toBeGreaterThan(0);
    expect(files).toContain('platform.log');
    expect(sightings).toEqual([]);
  });

  it('including the private keys of DIDs, webhooks and tokens', async () => {
    await platform.end();
    const keys = await copied(async (folder) => keysIn(folder));
    expect(new Set(keys.signingKeys.map(({ purpose }) => purpose))).toEqual(
      new Set(['did', 'webhook', 'token', 'certificate', 'encryption']),
    );
    const secrets = [
      ...keys.signingKeys.map(({ id, d }) => ({ name: `private key ${id}`, bytes: d })),
      ...keys.dataKeys.map(({ id, key }) => ({ name: `data key ${id}`, bytes: key })),
      ...keys.tenantKeys.map(({ tenant: of, key }) => ({ name: `key of tenant ${of}`, bytes: key })),
    ];
    const forms: Canary[] = secrets.flatMap(({ name, bytes }) => [
      { name, value: bytes.toString('base64url') },
      { name, value: bytes.toString('base64') },
      { name, value: bytes.toString('hex') },
    ]);
    const { sightings, files } = await searchFolders([platform.folder], forms);
    expect(sightings).toEqual([]);
    // Raw bytes are not text: they are searched for unchanged.
    for (const file of files) {
      const content = await readFile(join(platform.folder, file));
      for (const { name, bytes } of secrets) expect([file, name, content.includes(bytes)]).toEqual([file, name, false]);
    }
    await platform.restart();
  });

  it('and the same search finds a value that the test planted', async () => {
    const planted = canaries[7]!;
    await writeFile(
      join(platform.dataDir, 'planted.bin'),
      Buffer.concat([randomBytes(999), Buffer.from(JSON.stringify({ a: planted.value }), 'utf8'), randomBytes(99)]),
    );
    await writeFile(
      join(platform.dataDir, 'planted.txt'),
      `Basic ${Buffer.from(`user:${planted.value}:x`).toString('base64')}`,
    );
    const { sightings } = await searchFolders([platform.folder], canaries);
    for (const name of ['planted.bin', 'planted.txt']) await rm(join(platform.dataDir, name));
    expect(new Set(sightings.map(({ canary }) => canary))).toEqual(new Set([planted.name]));
    expect(new Set(sightings.map(({ file }) => file))).toEqual(
      new Set([join('data', 'planted.bin'), join('data', 'planted.txt')]),
    );
  });
});

describe('a deleted user', () => {
  const readable = async (folder: string): Promise<string[]> => {
    const everything = await decryptEverything(folder, keysIn(folder));
    return person.values
      .filter(({ value }) => {
        const forms = [value, JSON.stringify(value).slice(1, -1)].map((form) => Buffer.from(form));
        return everything.some((plain) => forms.some((form) => plain.includes(form)));
      })
      .map(({ name }) => name);
  };

  it('is readable with the master key before the deletion, and not after it', async () => {
    await platform.end();
    const before = await copied(readable);
    // The values of the user and of their open offer; the key of the redeemed session may already be destroyed.
    expect(before).toEqual(
      expect.arrayContaining(['claim: user', 'claim: persisted', 'claim: open offer', 'persisted credential']),
    );
    await platform.restart();

    expectStatus(await tenant.api.users.delete(person.id), 204);
    expect((await tenant.api.users.retrieve(person.id)).status).toBe(404);
    await platform.end();
    await copied(async (folder) => {
      expect(await readable(folder)).toEqual([]);
      const keys = keysIn(folder);
      const kept = { tenant: tenant.id, purpose: 'user', id: keptUser.id };
      // The search itself works: an active user's key is found.
      expect(await isKeyRecoverable(folder, keys, kept)).toBe(true);
      expect(await isKeyRecoverable(folder, keys, { ...kept, id: person.id })).toBe(false);
    });
    await platform.restart();
  });

  it('leaves projections that can be rebuilt from the events', async () => {
    const received = async () => ({
      users: expectStatus(await tenant.api.users.list({ limit: 1000 }), 200).data,
      configurations: expectStatus(await tenant.api.jwtVc.list(), 200).data,
      dids: expectStatus(await tenant.api.dids.list(), 200).data,
      events: expectStatus(await tenant.api.analytics.list({ types: ['USER_DELETE_SUCCESS'] }), 200).data,
    });
    const before = await received();
    expect(before.users.map(({ id }) => id)).not.toContain(person.id);
    expect(before.users).toContainEqual({ id: keptUser.id, claims: { given_name: keptUser.value } });
    await platform.end();
    const gone = (await readdir(platform.dataDir)).filter((file) => /^(?:read-models|analytics)\.db/.test(file));
    expect(gone).toEqual(expect.arrayContaining(['read-models.db', 'analytics.db']));
    for (const file of gone) await rm(join(platform.dataDir, file));
    await platform.restart();
    const health = new ApiClient(platform.ready.management);
    await waitUntil(async () => (await health.request('GET', '/health/ready')).status === 200, { what: 'readiness' });
    expect(await received()).toEqual(before);
    expect((await tenant.api.users.retrieve(person.id)).status).toBe(404);
  });

  it('and still no secret is stored in plain text', async () => {
    const { sightings } = await searchFolders([platform.folder], canaries);
    expect(sightings).toEqual([]);
  });
});
