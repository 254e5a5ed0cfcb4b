/** @engines embedded */
import { expectStatus, SHIFTED_CLOCK, startPlatform, type PlatformProcess } from '@attestry/testing';
import { decodeJwt } from 'jose';
import {
  ATTESTED,
  attested,
  atWallet,
  bearerToken,
  begin,
  boundToken,
  CODE_REFUSED,
  collect,
  ENDED,
  ISSUED_NONCE,
  NONE,
  offer,
  onPage,
  openAuthorization,
  post,
  preAuthorized,
  PUBLIC,
  received,
  redeem,
  refused,
  requestOf,
  SCOPE,
  seconds,
  shown,
  startRefusals,
  tenant,
  TOKEN,
  tokenRefused,
  wallet,
  WITH_NONCE,
} from './wallet-refusals.js';

let clocked: PlatformProcess;
startRefusals('expired', async () => {
  clocked = (await startPlatform({ preload: SHIFTED_CLOCK })) as PlatformProcess;
  return clocked;
});
afterAll(() => clocked?.stop());

describe('what has expired is refused:', () => {
  /** Runs with the clock of the platform ahead. */
  const withClockAhead = async <T>(ms: number, run: () => Promise<T>): Promise<T> => {
    await clocked.query(ms);
    try {
      return await run();
    } finally {
      await clocked.query(0);
    }
  };
  const HOOK = 'https://hook.example.com/visit';

  it('an interaction, on a page; one that failed in time is returned to the wallet [T421] [T473]', async () => {
    expectStatus(await tenant.api.openIdConfiguration.update({ interactionHook: { url: HOOK } }), 200);
    const visits = [await begin({}, HOOK), await begin({}, HOOK)] as const;
    expectStatus(await tenant.api.openIdConfiguration.update({ interactionHook: null }), 200);
    const comeBack = async ({ browser, callback }: (typeof visits)[number]) => {
      const token = callback.searchParams.get('session_token')!;
      const { redirectUrl } = decodeJwt<{ redirectUrl: string }>(token);
      return shown(await browser.openUrl(`${redirectUrl}?session_token=${token}`));
    };
    const changedHook = 'the interaction hook of the issuer has changed; start again in the wallet';
    expect(await comeBack(visits[0])).toEqual(atWallet('access_denied', changedHook, visits[0].state));
    expect(await withClockAhead(1_201_000, () => comeBack(visits[1]))).toEqual(onPage('invalid_request', ENDED));
  });

  it('a sign-in, on a page [T473]', async () => {
    const { browser, callback } = await begin();
    const comeBack = async () => shown(await browser.openUrl(callback.href));
    expect(await withClockAhead(1_201_000, comeBack)).toEqual(onPage('invalid_request', ENDED));
  });

  it('a request_uri, on a page [T291] [T473]', async () => {
    const { request_uri } = expectStatus(await wallet.push(wallet.parameters(SCOPE), NONE), 201);
    const query = new URLSearchParams({ client_id: PUBLIC, request_uri });
    const ended = 'request_uri is unknown, has expired or was already used; start again in the wallet';
    expect(await withClockAhead(61_000, async () => shown(await openAuthorization(query)))).toEqual(
      onPage('invalid_request_uri', ended),
    );
  });

  it('an authorization code [T78] [T473]', async () => {
    const code = await wallet.obtainCode(SCOPE, {}, NONE);
    expect(received(await withClockAhead(61_000, () => wallet.exchange(code, {}, NONE)))).toEqual(CODE_REFUSED);
  });

  it('a pre-authorized code [T79] [T473]', async () => {
    const { code } = await offer();
    expect(received(await withClockAhead(301_000, () => redeem(code)))).toEqual(CODE_REFUSED);
  });

  it('an attestation challenge [T332] [T473]', async () => {
    const { body } = await post('/v1/oauth/challenge', '');
    const { attestation_challenge: challenge } = body as unknown as { attestation_challenge: string };
    const attestation = await attested.attest({ claims: { exp: seconds() + 3600 } });
    const exchange = async () => {
      const { code } = await offer();
      const pop = await attested.pop({ claims: { challenge, iat: seconds() + 200 } });
      return attested.exchange('', preAuthorized(code, { client_id: ATTESTED }), { attestation, pop, dpop: null });
    };
    expect((await exchange()).status).toBe(200);
    expect(received(await withClockAhead(301_000, exchange))).toEqual(
      refused(400, 'use_attestation_challenge', 'the challenge is unknown or has expired', {
        'oauth-client-attestation-challenge': ISSUED_NONCE,
      }),
    );
  });

  it('a DPoP nonce [T255] [T473]', async () => {
    const nonce = (await wallet.nonce()).headers.get('dpop-nonce');
    const exchange = async () => {
      const dpop = await wallet.dpop(TOKEN, { claims: { nonce, iat: seconds() + 50 } });
      return wallet.exchange('', preAuthorized((await offer()).code), { ...NONE, dpop });
    };
    expect((await exchange()).status).toBe(200);
    expect(received(await withClockAhead(301_000, exchange))).toEqual(
      refused(400, 'use_dpop_nonce', 'the nonce of the DPoP proof is unknown or has expired', WITH_NONCE),
    );
  });

  it('a c_nonce [T473]', async () => {
    const { c_nonce: nonce } = expectStatus(await wallet.nonce(), 200);
    const request = (iat: number) => requestOf('Pass', { claims: { nonce, iat } });
    const expired = await withClockAhead(301_000, async () =>
      collect(await bearerToken(), await request(seconds() + 301)),
    );
    expect(received(expired)).toEqual(
      refused(
        400,
        'invalid_nonce',
        'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
      ),
    );
    expect((await collect(await bearerToken(), await request(seconds()))).status).toBe(200);
  });

  it('an access token, with the challenge of its scheme [T254] [T473]', async () => {
    const [bearer, proven, body] = [await bearerToken(), await boundToken(), await requestOf('Pass')];
    expect(received(await withClockAhead(301_000, () => collect(bearer, body)))).toEqual(tokenRefused('Bearer'));
    expect(received(await withClockAhead(901_000, () => collect(proven, body)))).toEqual(tokenRefused('DPoP'));
  });
});
