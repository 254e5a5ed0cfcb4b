/** @engines embedded */
import { issueCredential, issueNonce, type NonceResponse } from '@attestry/contracts';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  MAIN_THREAD_PROBE,
  PLATFORM_START_MS,
  startPlatform,
  Wallet,
  type PlatformProcess,
  type ProbeMessage,
  type TenantUnderTest,
} from '@attestry/testing';
import { makeHolder, makeProof } from './crash/wallet-proof.js';

/** Most functions of apps/ and libs/ that a credential request may call. */
const MOST_FUNCTIONS = 200;
const WARM_UP = 10;
const SAMPLES = 5;

describe('the path of a credential request', () => {
  let platform: PlatformProcess;
  let tenant: TenantUnderTest;
  let configurationId: string;
  beforeAll(async () => {
    platform = (await startPlatform({ preload: MAIN_THREAD_PROBE })) as PlatformProcess;
    tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'acme');
    const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
    const request = {
      type: 'Pass',
      name: 'Pass',
      issuer: { name: 'College' },
      issuerDid: did,
      claimMappings: { name: { mapFrom: 'claims.name' } },
    };
    configurationId = expectStatus(await tenant.api.jwtVc.create(request), 201).id;
  }, PLATFORM_START_MS);
  afterAll(() => platform?.stop());

  const query = (message: ProbeMessage) => platform.query(message);

  /** Prepares a credential request; the returned function sends it and returns the status. */
  const prepareRequest = async () => {
    const offer = expectStatus(
      await tenant.api.offers.create({ credentials: [configurationId], claims: { name: 'Zoe' } }),
      200,
    );
    const { accessToken } = await new Wallet().collect(offer.uri);
    const nonce = expectStatus(await new ApiClient(tenant.url).call<NonceResponse>(issueNonce), 200);
    const proof = makeProof(makeHolder(), tenant.url, nonce.c_nonce);
    const body = { credential_configuration_id: configurationId, proofs: { jwt: [proof] } };
    return async () => (await new ApiClient(tenant.url, accessToken).call(issueCredential, { body })).status;
  };

  /**
   * Counted are the functions called in the async context of the request, from its arrival to the last listener of its response, including
   * START, SUCCESS and every write. Consumers of events run in other contexts and are not counted. Functions that only some of the
   * samples call (a cache was refilled, a checkpoint was due) are not counted either.
   */
  it(`calls at most ${MOST_FUNCTIONS} functions of apps/ and libs/`, async () => {
    for (let n = 0; n < WARM_UP; n++) expect(await (await prepareRequest())()).toBe(200);
    let common: string[] | undefined;
    for (let n = 0; n < SAMPLES; n++) {
      const send = await prepareRequest();
      await query('count-functions');
      expect(await send()).toBe(200);
      const called = (await query('functions')) as string[];
      common = common?.filter((name) => called.includes(name)) ?? called;
    }
    const byFile = Object.groupBy(common!.sort(), (name) => name.split(':')[0]!);
    if (process.env['CREDENTIAL_PATH']) process.stderr.write(`${JSON.stringify(byFile, null, 1)}\n`);
    // Every credential request calls this check: without it the measurement has failed.
    expect(common!.some((name) => name.endsWith(' checkIssuanceLimit'))).toBe(true);
    if (common!.length > MOST_FUNCTIONS)
      throw new Error(`${common!.length} functions: ${JSON.stringify(byFile, null, 1)}`);
    expect(common!.length).toBeLessThanOrEqual(MOST_FUNCTIONS);
  }, 60_000);
});
