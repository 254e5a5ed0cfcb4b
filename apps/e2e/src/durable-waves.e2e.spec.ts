/** @engines embedded */
import { issueCredential, issueNonce, type NonceResponse, type PreAuthorizedOfferRequest } from '@attestry/contracts';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  DURABLE_WAVES_PROBE,
  expectStatus,
  PLATFORM_START_MS,
  startPlatform,
  Wallet,
  WebhookReceiver,
  type PlatformProcess,
  type TenantUnderTest,
  type Wave,
} from '@attestry/testing';
import { makeHolder, makeProof } from './crash/wallet-proof.js';
import { makeIssuer, type Issuer } from './journey.js';

const TEST_MS = 60_000;

/** One request at a time on a disk that takes a quarter of a second; counted are the transactions that its answer waited for (ADR 0074). */
describe('the durable waves of a request', () => {
  let platform: PlatformProcess;
  let tenant: TenantUnderTest;
  let issuer: Issuer;
  beforeAll(async () => {
    platform = (await startPlatform({
      preload: DURABLE_WAVES_PROBE,
      env: { OPERATION_TIMEOUT_MS: '30000' },
    })) as PlatformProcess;
    tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'waves');
    issuer = await makeIssuer(tenant);
    // Keys of the tenant that are created at first use.
    await prepareCredential();
  }, PLATFORM_START_MS);
  afterAll(() => platform?.stop());

  const wavesOf = async (request: () => Promise<unknown>): Promise<Wave[]> => {
    await platform.query('begin');
    await request();
    return (await platform.query('waves')) as Wave[];
  };
  const claims = { given_name: 'Ada', note: 'x' };
  const createOffer = async (more: Partial<PreAuthorizedOfferRequest> = {}) =>
    expectStatus(await tenant.api.offers.create({ credentials: [issuer.jwtVc], ...more }), 200);
  const createToken = async (uri: string) => {
    const wallet = new Wallet();
    const offer = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(offer.credential_issuer);
    return () => wallet.accessToken(offer, metadata);
  };
  const createNonce = async () =>
    expectStatus(await new ApiClient(tenant.url).call<NonceResponse>(issueNonce), 200).c_nonce;
  /** The returned function sends the request. */
  const prepareCredential = async () => {
    const { uri } = await createOffer({ claims });
    const accessToken = await (await createToken(uri))();
    const proof = makeProof(makeHolder(), tenant.url, await createNonce());
    const body = { credential_configuration_id: issuer.jwtVc, proofs: { jwt: [proof] } };
    return async () => expectStatus(await new ApiClient(tenant.url, accessToken).call(issueCredential, { body }), 200);
  };

  it.each<[string, Partial<PreAuthorizedOfferRequest>, string]>([
    ['with claims', { claims }, 'putNewDataKey, append'],
    [
      'with claims that are kept',
      { claims, claimsToPersist: ['given_name'] },
      'putNewDataKey, putNewDataKey, append, append',
    ],
    ['without claims', {}, 'append'],
  ])(
    'is one for an offer %s',
    async (_with, more, writes) => {
      expect(await wavesOf(() => createOffer(more))).toEqual([`events.db: ${writes}`]);
    },
    TEST_MS,
  );

  it(
    'is one for a token',
    async () => {
      const { uri } = await createOffer({ claims });
      expect(await wavesOf(await createToken(uri))).toEqual(['events.db: append']);
    },
    TEST_MS,
  );

  it(
    'is one for a credential',
    async () => {
      const request = await prepareCredential();
      expect(await wavesOf(request)).toEqual(['events.db: requireSpend, append, append']);
    },
    TEST_MS,
  );

  it(
    'is one for a credential that a webhook receives',
    async () => {
      const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
      const subscription = { events: ['OpenIdCredentialIssued' as const], url: receiver.url };
      const { id } = expectStatus(await tenant.api.webhooks.create(subscription), 201);
      try {
        const request = await prepareCredential();
        // Until issuance has read the subscription.
        await (
          await prepareCredential()
        )();
        await receiver.next();
        const waves = await wavesOf(request);
        expect(waves).toHaveLength(1);
        expect(waves[0]!.slice('events.db: '.length).split(', ').sort()).toEqual([
          'append',
          'append',
          'putNewDataKey',
          'requireSpend',
        ]);
      } finally {
        await tenant.api.webhooks.delete(id);
        await receiver.close();
      }
    },
    TEST_MS,
  );

  it(
    'is none for a nonce and an offer document',
    async () => {
      expect(await wavesOf(createNonce)).toEqual([]);
      const { uri } = await createOffer({ claims });
      expect(await wavesOf(() => new Wallet().resolveOffer(uri))).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'are counted: a DID is created after its keys',
    async () => {
      const options = { url: `${tenant.host}/other` };
      const { length } = await wavesOf(async () =>
        expectStatus(await tenant.api.dids.create({ method: 'web', options }), 201),
      );
      expect(length).toBeGreaterThan(1);
    },
    TEST_MS,
  );
});
