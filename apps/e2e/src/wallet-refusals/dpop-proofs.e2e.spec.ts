/** @engines embedded */
import {
  expectStatus,
  makeHolderKey,
  withBrokenSignature,
  type Answer,
  type JwtChange,
  type OAuthFault,
} from '@attestry/testing';
import { exportJWK } from 'jose';
import {
  BOUND,
  bound,
  boundToken,
  challengeOf,
  NONE,
  offer,
  PAR,
  preAuthorized,
  received,
  redeem,
  refused,
  requestOf,
  SCOPE,
  seconds,
  startRefusals,
  strict,
  strictWallet,
  tenant,
  TOKEN,
  wallet,
  WITH_NONCE,
} from './wallet-refusals.js';

startRefusals('dpop');

const CREDENTIAL = '/v1/openid/credential';

describe('a DPoP proof', () => {
  /** Access token that is bound to the key of `wallet`. */
  let token: string;
  beforeAll(async () => {
    token = await boundToken();
  });

  interface Endpoint {
    path: string;
    /** Statuses of an accepted request, and of one whose proof is refused. */
    statuses: [accepted: number, refused: number];
    prove(change?: JwtChange): Promise<string>;
    send(dpop: string): Promise<Answer<OAuthFault>>;
  }
  const endpoints: Record<string, Endpoint> = {
    PAR: {
      path: PAR,
      statuses: [201, 400],
      prove: (change) => wallet.dpop(PAR, change),
      send: (dpop) => wallet.push(wallet.parameters(SCOPE), { ...NONE, dpop }),
    },
    token: {
      path: TOKEN,
      statuses: [200, 400],
      prove: (change) => wallet.dpop(TOKEN, change),
      send: async (dpop) => wallet.exchange('', preAuthorized((await offer()).code), { ...NONE, dpop }),
    },
    credential: {
      path: CREDENTIAL,
      statuses: [200, 401],
      prove: (change) => wallet.dpop(CREDENTIAL, change, token),
      send: async (dpop) => wallet.requestCredential(token, await requestOf('Pass'), { dpop }),
    },
  };
  const refusedAt = ({ statuses: [, status] }: Endpoint, description: string, error = 'invalid_dpop_proof') =>
    refused(status, error, description, {
      ...WITH_NONCE,
      ...(status === 401 && challengeOf('DPoP', error, description)),
    });

  const NO_JWS = 'DPoP proof: must be a compact JWS';
  const BAD_KEY = 'DPoP proof: jwk must be a public P-256 key without private members';
  const BAD_IAT = 'DPoP proof: iat must be at most 300 seconds before and 60 seconds after the current time';
  type Make = (at: Endpoint) => Promise<string>;
  const withChange =
    (change: JwtChange): Make =>
    ({ prove }) =>
      prove(change);
  type Fault = [what: string, make: Make, description: string | ((url: string) => string), error?: string];
  const faults: Fault[] = [
    ['that is empty', () => Promise.resolve(''), NO_JWS],
    ['in two headers', async ({ prove }) => `${await prove()}, ${await prove()}`, NO_JWS],
    ['that is too long', () => Promise.resolve('x'.repeat(16_385)), 'DPoP proof: must have at most 16384 characters'],
    ['of another typ', withChange({ header: { typ: 'JWT' } }), 'DPoP proof: typ must be dpop+jwt'],
    ['with another alg', withChange({ header: { alg: 'RS256' } }), 'DPoP proof: alg must be ES256'],
    ['with alg none', withChange({ header: { alg: 'none' } }), 'DPoP proof: alg must be ES256'],
    [
      'with critical parameters',
      withChange({ header: { crit: ['exp'] } }),
      'DPoP proof: critical header parameters are not supported',
    ],
    ['without jwk', withChange({ header: { jwk: undefined } }), BAD_KEY],
    [
      'with a private key',
      async ({ prove }) => prove({ header: { jwk: await exportJWK(wallet.dpopKey.privateKey) } }),
      BAD_KEY,
    ],
    [
      'with another signature',
      async ({ prove }) => withBrokenSignature(await prove()),
      'DPoP proof: the signature is invalid',
    ],
    ['with another htm', withChange({ claims: { htm: 'GET' } }), 'DPoP proof: htm must be POST'],
    ['without htm', withChange({ claims: { htm: undefined } }), 'DPoP proof: htm must be POST'],
    [
      'with another htu',
      withChange({ claims: { htu: 'https://other.example/' } }),
      (url) => `DPoP proof: htu must be ${url}`,
    ],
    ['without htu', withChange({ claims: { htu: undefined } }), (url) => `DPoP proof: htu must be ${url}`],
    [
      'without jti',
      withChange({ claims: { jti: undefined } }),
      'DPoP proof: jti must be a string of 1 to 256 characters',
    ],
    ['without iat', withChange({ claims: { iat: undefined } }), BAD_IAT],
    ['of six minutes ago', ({ prove }) => prove({ claims: { iat: seconds() - 360 } }), BAD_IAT],
    ['of two minutes ahead', ({ prove }) => prove({ claims: { iat: seconds() + 120 } }), BAD_IAT],
    ['that has expired', ({ prove }) => prove({ claims: { exp: seconds() - 1 } }), 'DPoP proof: exp has passed'],
    [
      'that is not yet valid',
      ({ prove }) => prove({ claims: { nbf: seconds() + 60 } }),
      'DPoP proof: nbf has not been reached',
    ],
    [
      'of another payload',
      withChange({ claims: { htcd: 'A'.repeat(43) } }),
      'DPoP proof: htcd must be the SHA-256 digest of the request payload in base64',
    ],
    [
      'with an unknown nonce',
      withChange({ claims: { nonce: 'x' } }),
      'the nonce of the DPoP proof is unknown or has expired',
      'use_dpop_nonce',
    ],
    [
      'that was used before',
      async ({ prove, send: sendTo, statuses }) => {
        const proof = await prove();
        expect((await sendTo(proof)).status).toBe(statuses[0]);
        return proof;
      },
      'the DPoP proof has already been used',
    ],
  ];

  it.each(Object.keys(endpoints).flatMap((name) => faults.map((fault): [string, ...Fault] => [name, ...fault])))(
    'at the %s endpoint %s is refused [T241] [T254] [T255] [T473]',
    async (name, _what, make, description, error = 'invalid_dpop_proof') => {
      const endpoint = endpoints[name]!;
      const text = typeof description === 'string' ? description : description(`${tenant.url}${endpoint.path}`);
      expect(received(await endpoint.send(await make(endpoint)))).toEqual(refusedAt(endpoint, text, error));
      expect((await endpoint.send(await endpoint.prove())).status).toBe(endpoint.statuses[0]);
    },
  );

  it.each(['PAR', 'token'])(
    'without a nonce is refused at the %s endpoint that demands one [T255] [T473]',
    async (name) => {
      const demanded = refusedAt(
        endpoints[name]!,
        'the DPoP proof must have a nonce of the header DPoP-Nonce',
        'use_dpop_nonce',
      );
      const { code } = await offer({}, strict);
      const sendWith = async (claims: object = {}) => {
        const sent = { ...NONE, dpop: await strictWallet.dpop(endpoints[name]!.path, { claims: { ...claims } }) };
        return name === 'PAR'
          ? strictWallet.push(strictWallet.parameters(SCOPE), sent)
          : strictWallet.exchange('', preAuthorized(code), sent);
      };
      const answer = await sendWith();
      expect(received(answer)).toEqual(demanded);
      const nonce = answer.headers.get('dpop-nonce');
      expect((await sendWith({ nonce })).status).toBe(endpoints[name]!.statuses[0]);
    },
  );

  it('without a nonce is refused at the credential endpoint that demands one [T255] [T473]', async () => {
    const { headers } = await strictWallet.nonce();
    const claims = { nonce: headers.get('dpop-nonce') };
    const { access_token: strictToken } = expectStatus(
      await strictWallet.exchange('', preAuthorized((await offer({}, strict)).code), {
        ...NONE,
        dpop: await strictWallet.dpop(TOKEN, { claims }),
      }),
      200,
    );
    expect(received(await strictWallet.requestCredential(strictToken, {}))).toEqual(
      refusedAt(
        endpoints['credential']!,
        'the DPoP proof must have a nonce of the header DPoP-Nonce',
        'use_dpop_nonce',
      ),
    );
    // With the nonce the next check refuses: the request is not encrypted.
    const dpop = await strictWallet.dpop(CREDENTIAL, { claims }, strictToken);
    expect((await strictWallet.requestCredential(strictToken, {}, { dpop })).body.error).toBe(
      'invalid_encryption_parameters',
    );
  });

  it('is of the key that the authorization request named [T240] [T473]', async () => {
    const required = refused(
      400,
      'invalid_dpop_proof',
      'a DPoP proof of the key that dpop_jkt of the authorization request named is required',
    );
    // The proof of the pushed request names its key.
    const code = await wallet.obtainCode(SCOPE, {}, { ...NONE, dpop: await wallet.dpop(PAR) });
    expect(received(await wallet.exchange(code, {}, NONE))).toEqual(required);
    const foreign = { ...NONE, dpop: await wallet.dpop(TOKEN, { by: await makeHolderKey() }) };
    expect(received(await wallet.exchange(code, {}, foreign))).toEqual({ ...required, headers: WITH_NONCE });
    expect((await wallet.exchange(code, {}, { ...NONE, dpop: await wallet.dpop(TOKEN) })).status).toBe(200);
    const parameters = wallet.parameters(SCOPE, { dpop_jkt: 'A'.repeat(43) });
    expect(received(await wallet.push(parameters, { ...NONE, dpop: await wallet.dpop(PAR) }))).toEqual(
      refused(400, 'invalid_dpop_proof', 'the DPoP proof must be made with the key that dpop_jkt names', WITH_NONCE),
    );
  });

  it('is required of a wallet with dpopRequired [T240] [T473]', async () => {
    const required = refused(400, 'invalid_dpop_proof', 'a DPoP proof is required of this client');
    const code = await bound.obtainCode(SCOPE, {}, NONE);
    expect(received(await bound.exchange(code, {}, NONE))).toEqual(required);
    const proven = { ...NONE, dpop: await bound.dpop(TOKEN) };
    expect((await bound.exchange(code, {}, proven)).status).toBe(200);
    expect(received(await redeem((await offer()).code, { client_id: BOUND }))).toEqual(required);
  });

  it('is required with a bound token, for that token and of its key [T250] [T254] [T473]', async () => {
    const { credential } = endpoints as { credential: Endpoint };
    const refusedWith = (description: string) => refusedAt(credential, description);
    const required = 'a DPoP proof is required';
    expect(received(await wallet.requestCredential(token, {}, { dpop: null }))).toEqual(
      refused(401, 'invalid_dpop_proof', required, challengeOf('DPoP', 'invalid_dpop_proof', required)),
    );
    const ath = 'DPoP proof: ath must be the SHA-256 digest of the access token in base64url';
    for (const claims of [{ ath: undefined }, { ath: 'A'.repeat(43) }])
      expect(received(await credential.send(await credential.prove({ claims })))).toEqual(refusedWith(ath));
    expect(received(await credential.send(await credential.prove({ by: await makeHolderKey() })))).toEqual(
      refusedWith('the DPoP proof must be made with the key of the access token'),
    );
  });
});
