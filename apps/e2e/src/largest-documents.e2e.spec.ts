/** @engines embedded */
import {
  claimsResponse,
  ClaimsServer,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  findPostgres,
  findRedisServer,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  PostgresServer,
  RedirectBrowser,
  RedisServer,
  registerWallet,
  skipSuite,
  startEventStoreDbStandIn,
  startPlatformProcess,
  TENANT_CLIENT,
  verifyMdoc,
  waitUntil,
  Wallet,
  WebhookReceiver,
  type Answer,
  type EventStoreDbStandIn,
  type HolderKey,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { command } from './commands.js';

const BACK = 'https://wallet.example/back';
const NAMESPACE = 'org.example.largest.1';
const DOC_TYPE = 'org.example.largest';

/** Size of a request or of claims as JSON, beside the text in them. */
const beside = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** 384 KiB, of which 16 KiB are beside the claims: the claims as JSON, and as JSON in base64url. */
const KEPT_JSON = 368 * 1024;
const KEPT_IN_BASE64 = (KEPT_JSON / 4) * 3;
/** Digest and salt of a disclosure. */
const DISCLOSURE = 100;
const KEPT = 'a credential that is persisted or delivered to a webhook must be at most 384 KiB';
const CHARACTERS = 65_536;
const portraitOf = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');
const LARGEST_PORTRAIT = portraitOf(192 * 1024);

/** Name of the configuration; characters of the largest text; what the refusal of a longer one says. */
const LARGEST: readonly (readonly [string, number, string])[] = [
  ['jwt_vc_json', KEPT_IN_BASE64 - beside({ text: '' }), KEPT],
  ['dc+sd-jwt', KEPT_IN_BASE64 - beside(['text', '']) - DISCLOSURE, KEPT],
  ['ldp_vc', KEPT_JSON - beside({ text: '' }), KEPT],
  ['cwt', CHARACTERS - 'text'.length, `exceed ${CHARACTERS} characters in total`],
  ['cwt_vc', CHARACTERS - 'text'.length, `exceed ${CHARACTERS} characters in total`],
  [
    'mso_mdoc',
    CHARACTERS - NAMESPACE.length - 'text'.length - 'portrait'.length,
    `exceed ${CHARACTERS} characters in total`,
  ],
];

interface Engines {
  env: Record<string, string>;
  standIn?: EventStoreDbStandIn;
  stop(): Promise<void>;
}

/** Documented limits are reached, and not exceeded by a byte. */
const describeLargest = (name: string, startEngines: () => Promise<Engines>): void =>
  describe(`the largest documents: ${name}`, () => {
    let engines: Engines;
    let platform: PlatformProcess;
    let tenant: TenantUnderTest;
    let provider: OpenIdProvider;
    let source: ClaimsServer;
    let receiver: WebhookReceiver;
    let iaca: string;
    const ids = new Map<string, string>();
    beforeAll(async () => {
      [engines, provider, source] = await Promise.all([
        startEngines(),
        OpenIdProvider.start('https://management.example'),
        ClaimsServer.start(),
      ]);
      platform = await startPlatformProcess({
        env: { ...engines.env, ACCESS_TOKEN_SECONDS: '3600', ALLOW_PRIVATE_TARGETS: 'true' },
        startTimeoutMs: PLATFORM_START_MS,
      });
      tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'largest');
      const { api } = tenant;
      const providers = { url: provider.issuer, ...TENANT_CLIENT, forwardedRequestParameters: ['login_hint'] };
      expectStatus(await api.authenticationProviders.create(providers), 201);
      await registerWallet(api, 'wallet', BACK);
      const { did } = expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
      const root = expectStatus(await api.iacas.create({ country: 'AU' }), 201);
      expectStatus(await api.iacas.update(root.id, true), 200);
      iaca = root.certificatePem;
      const claimMappings = { text: { mapFrom: 'claims.text' } };
      const vc = { name: 'Largest', issuer: { name: 'City' }, issuerDid: did, claimMappings };
      const contexts = ['https://city.example/largest/v1'];
      const mobile = {
        claimMappings: {
          [NAMESPACE]: { ...claimMappings, portrait: { mapFrom: 'claims.portrait', type: 'binary' as const } },
        },
        expiresIn: { days: 30 },
      };
      const authorization = { type: 'api-key' as const, value: 'secret' };
      const { id: claimSourceId } = expectStatus(
        await api.claimSources.create({ name: 'portraits', url: source.url, authorization }),
        201,
      );
      const made = {
        jwt_vc_json: await api.jwtVc.create({ ...vc, type: 'Largest' }),
        'dc+sd-jwt': await api.sdJwt.create({
          name: 'Largest',
          type: 'Largest',
          issuer: { name: 'City' },
          claimMappings,
        }),
        ldp_vc: await api.webSemantic.create({ ...vc, type: 'Largest', persist: true }),
        unkept: await api.webSemantic.create({ ...vc, type: 'Unkept' }),
        cwt: await api.compact.create({ type: 'Largest', claimMappings }),
        cwt_vc: await api.compactSemantic.create({ type: 'LargestSemantic', claimMappings, contexts, issuer: did }),
        mso_mdoc: await api.mobile.create({ ...mobile, type: DOC_TYPE }),
        sourced: await api.mobile.create({ ...mobile, type: `${DOC_TYPE}.sourced`, claimSourceId }),
      };
      for (const [format, answer] of Object.entries(made))
        ids.set(format, expectStatus(answer as Answer<{ id: string }>, 201).id);
      receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
    }, 2 * PLATFORM_START_MS);
    afterAll(async () => {
      await platform?.stop();
      await Promise.all([provider?.stop(), source?.stop(), receiver?.close()]);
      await engines?.stop();
    });

    // EventStoreDB, and its stand-in, refuse a larger append; the events are the same on each engine.
    afterEach(() => {
      for (const { data, metadata } of engines.standIn?.log.records ?? [])
        expect(data.length + metadata.length).toBeLessThan(1024 * 1024);
    });

    const collect = async (uri: string) => {
      const key = await makeHolderKey('ES256', 'did:key');
      const { credentials } = await new Wallet().collect(uri, { keys: [key] });
      return { key, credential: credentials[0]!.credential };
    };
    const verifyPortrait = async (credential: unknown, key: HolderKey, docType = DOC_TYPE) => {
      const document = { credential: credential as string, docType, deviceKey: key.privateKey, iacas: [iaca] };
      const { portrait } = (await verifyMdoc(document))[NAMESPACE]!;
      expect(Buffer.from(portrait as Uint8Array).toString('base64')).toBe(LARGEST_PORTRAIT);
    };
    const create = (body: Parameters<TenantUnderTest['api']['offers']['create']>[0]) => tenant.api.offers.create(body);

    it.each(['jwt_vc_json', 'dc+sd-jwt', 'unkept'])(
      'an offer of 512,000 bytes, and no larger one: %s [T646]',
      async (format) => {
        const offer = { credentials: [ids.get(format)!], claims: { text: '' } };
        const text = 'x'.repeat(512_000 - beside(offer));
        const refused = await create({ ...offer, claims: { text: `${text}x` } });
        expect([refused.status, refused.text]).toEqual([
          413,
          expect.stringContaining('the offer must have at most 512000 bytes'),
        ]);
        const { uri } = expectStatus(await create({ ...offer, claims: { text } }), 200);
        const { credential } = await collect(uri);
        expect(JSON.stringify(credential).length).toBeGreaterThan(text.length);
      },
      60_000,
    );

    it.each(LARGEST)(
      'a credential that is kept and delivered: %s with a text of %d characters [T646]',
      async (format, characters, refusal) => {
        if (receiver.deliveries.length === 0 && format === LARGEST[0]![0])
          expectStatus(
            await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url: receiver.url }),
            201,
          );
        const delivered = receiver.deliveries.length;
        const offered = (text: string, more: object = {}) => ({
          credentials: [ids.get(format)!],
          claims: { text, ...(format === 'mso_mdoc' && { portrait: LARGEST_PORTRAIT }), ...more },
        });
        const text = 'x'.repeat(characters);
        // The subscription has effect within a second.
        await waitUntil(async () => (await create(offered(`${text}x`))).status === 400, { what: 'a limit' });
        expect((await create(offered(`${text}x`))).text).toContain(refusal);
        const { uri } = expectStatus(await create(offered(text)), 200);
        const { credential, key } = await collect(uri);
        const arrived = () => receiver.deliveries.slice(delivered).find(({ status }) => status === 200);
        await waitUntil(async () => arrived() !== undefined, { what: 'the delivery' });
        expect(JSON.stringify(arrived()!.body)).toContain(
          typeof credential === 'string' ? credential : JSON.stringify(text),
        );
        if (format === 'ldp_vc') {
          const id = (credential as { id: string }).id.slice('urn:uuid:'.length);
          // Listed by a projection.
          const kept = await waitUntil(
            async () => {
              const found = await tenant.api.webSemanticCredentials.retrieve(id);
              return found.status === 200 && found.body;
            },
            { what: 'the record of the credential' },
          );
          expect((kept as { credential?: unknown }).credential).toEqual(credential);
        }
        if (format !== 'mso_mdoc') return;
        await verifyPortrait(credential, key);
        const larger = await create(offered('x', { portrait: portraitOf(192 * 1024 + 1) }));
        expect([larger.status, larger.text]).toEqual([400, expect.stringContaining('196608 bytes')]);
      },
      60_000,
    );

    it('claims of a user of 384 KiB, and no larger ones; a portrait among them is issued [T646]', async () => {
      const { users } = tenant.api;
      const claims = { portrait: LARGEST_PORTRAIT, other: '' };
      const other = 'x'.repeat(384 * 1024 - beside(claims));
      const refused = await users.create({ claims: { ...claims, other: `${other}x` } });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('at most 384 KiB')]);
      const { id: userId } = expectStatus(await users.create({ claims: { ...claims, other } }), 201);
      expect(expectStatus(await users.retrieve(userId), 200).claims).toEqual({ ...claims, other });
      const { uri } = expectStatus(await create({ credentials: [ids.get('mso_mdoc')!], userId }), 200);
      const { credential, key } = await collect(uri);
      await verifyPortrait(credential, key);
    }, 60_000);

    it('a portrait of 192 KiB from a claims source [T646]', async () => {
      source.respond = claimsResponse({ portrait: LARGEST_PORTRAIT, text: 'x' });
      const { uri } = expectStatus(await create({ credentials: [ids.get('sourced')!] }), 200);
      const { credential, key } = await collect(uri);
      await verifyPortrait(credential, key, `${DOC_TYPE}.sourced`);
    }, 60_000);

    it('claim sets of 384 KiB for people who sign in, and no larger ones [T646]', async () => {
      const id = ids.get('mso_mdoc')!;
      const setOf = (unused: string) => ({
        credentials: [
          {
            credentialConfigurationId: id,
            claimSets: [{ identifier: 'all', claims: { portrait: LARGEST_PORTRAIT, text: 'x', unused } }],
          },
        ],
      });
      const most = 'x'.repeat(384 * 1024 - beside(setOf('').credentials[0]!.claimSets));
      const refused = await tenant.api.offers.createOpen(setOf(`${most}x`));
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('at most 384 KiB of claim sets')]);
      const { uri } = expectStatus(await tenant.api.offers.createOpen(setOf(most)), 200);
      provider.accounts.set('zoe', { sub: 'zoe' });
      const collectSet = async (address: string) => {
        const wallet = new Wallet('wallet');
        const offer = await wallet.resolveOffer(address);
        const metadata = await wallet.metadata(offer.credential_issuer);
        const token = await wallet.authorizedToken(offer, metadata, {
          ...{ browser: new RedirectBrowser(), redirectUri: BACK, scope: `mso_mdoc:${DOC_TYPE}` },
          parameters: { login_hint: 'zoe' },
        });
        const key = await makeHolderKey('ES256', 'did:key');
        const credential = await wallet.credentialByIdentifier(metadata, token.access_token, id, 'all', key);
        await verifyPortrait(credential, key);
      };
      await collectSet(uri);
      // Claims of an offer for one person are encrypted twice.
      const { id: userId } = await waitUntil(
        async () =>
          expectStatus(await tenant.api.users.search({ authenticationProvider: { subjectId: 'zoe' } } as never), 200)
            .data[0],
        { what: 'the user' },
      );
      await collectSet(expectStatus(await tenant.api.offers.createOpen({ ...setOf(most), userId }), 200).uri);
    }, 60_000);
  });

describeLargest('embedded', async () => ({ env: {}, stop: async () => undefined }));

describeLargest('EventStoreDB (stand-in)', async () => {
  const standIn = await startEventStoreDbStandIn();
  return { env: { EVENTSTORE_URL: standIn.url }, standIn, stop: async () => standIn.stop() };
});

const [postgres, redis] = [findPostgres(), findRedisServer()];
if (postgres === undefined || redis === undefined)
  skipSuite('largest documents: PostgreSQL', 'PostgreSQL or Redis is not installed');
else
  describeLargest('PostgreSQL', async () => {
    const [database, values] = await Promise.all([PostgresServer.start(postgres), RedisServer.start(redis)]);
    const env = { DATABASE_URL: database.url(), REDIS_URL: values.url };
    await command('migrate', [], env);
    return { env, stop: async () => void (await Promise.all([database.stop(), values.stop()])) };
  });
