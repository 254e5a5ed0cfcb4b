/** @engines embedded */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
const SAMPLES = 8;
/** Without an offset: found on the stack of what resolved a promise. */
const ON_STACK = /\.js: /;
const IN_THREAD = /\/(sqlite\.worker|embedded\.jobs|replay\.jobs)\.js:/;

describe('the path of a credential request', () => {
  let platform: PlatformProcess;
  let tenant: TenantUnderTest;
  let configurationId: string;
  beforeAll(async () => {
    platform = (await startPlatform({
      preload: MAIN_THREAD_PROBE,
      // Counting functions takes seconds.
      env: { OPERATION_TIMEOUT_MS: '30000' },
    })) as PlatformProcess;
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
   * Counted are the functions called in the async context of the request, from its arrival to the last listener of its response, those on the
   * stack of whatever resolved a promise that this context waited for (replies of the SQLite threads), and those called in the SQLite threads of
   * events and replay guard meanwhile. Not counted are publishing to the feed and the loops of consumers, for which no answer waits, and functions that only some of
   * the samples call (a cache was refilled, a checkpoint was due).
   */
  it(`calls at most ${MOST_FUNCTIONS} functions of apps/ and libs/`, async () => {
    for (let n = 0; n < WARM_UP; n++) expect(await (await prepareRequest())()).toBe(200);
    const samplesOf = async (begin: ProbeMessage, end: ProbeMessage): Promise<string[]> => {
      let common: string[] | undefined;
      for (let n = 0; n < SAMPLES; n++) {
        const [refill, send] = [await prepareRequest(), await prepareRequest()];
        // Caches that expire after half a second are filled.
        expect(await refill()).toBe(200);
        await query(begin);
        expect(await send()).toBe(200);
        const called = (await query(end)) as string[];
        common = common?.filter((name) => called.includes(name)) ?? called;
      }
      return common!;
    };
    const inContext = await samplesOf('count-functions', 'functions');
    await query('count-all');
    const all = await samplesOf('all', 'all');
    // Counting by context makes a request take seconds, in which caches expire: what no other request calls is left out.
    const common = inContext.filter((name) => all.includes(name) || ON_STACK.test(name));
    common.push(...all.filter((name) => IN_THREAD.test(name)));
    const byFile = Object.groupBy(common.sort(), (name) => name.split(':')[0]!);
    if (process.env['CREDENTIAL_PATH']) process.stderr.write(`${JSON.stringify(byFile, null, 1)}\n`);
    // Every credential request calls these: without them the measurement has failed.
    const expected = [/ checkIssuanceLimit$/, /sqlite-thread\.js: .*receive$/, /sqlite\.worker\.js:\d+ runWrites$/];
    for (const name of expected) expect(common).toContainEqual(expect.stringMatching(name));
    if (common.length > MOST_FUNCTIONS)
      throw new Error(`${common.length} functions: ${JSON.stringify(byFile, null, 1)}`);
    expect(common.length).toBeLessThanOrEqual(MOST_FUNCTIONS);
  }, 120_000);

  it('of a pre-authorized flow sends no operation message: its records are in its events', async () => {
    const subjects = () => {
      const db = new DatabaseSync(join(platform.dataDir, 'feed.db'), { readOnly: true });
      try {
        const rows = db.prepare("SELECT subject, body FROM message WHERE subject LIKE 'operation.%'").all();
        return (rows as { subject: string; body: string }[])
          .filter(({ body }) =>
            /issuance\.(create-pre-authorized-offer|exchange-token|issue-credential|issue-nonce)/.test(body),
          )
          .map(({ subject }) => subject);
      } finally {
        db.close();
      }
    };
    const send = await prepareRequest();
    expect(await send()).toBe(200);
    // Records that wait are sent before they are listed.
    const { data } = expectStatus(await tenant.api.analytics.list({ limit: 12 }), 200);
    const calls = ['OPENID_CREDENTIAL', 'OPENID_TOKEN', 'OPENID_PRE_AUTHORIZED_OFFER_CREATE'];
    const types = calls.flatMap((prefix) => [`${prefix}_START`, `${prefix}_SUCCESS`]);
    expect(new Set(data.map(({ type }) => type))).toEqual(new Set(types));
    expect(subjects()).toEqual([]);
  });
});
