/** @engines embedded */
import {
  expectStatus,
  makeHolderKey,
  ProtocolWallet,
  WalletProvider,
  withBrokenSignature,
  type Answer,
  type JwtChange,
  type OAuthFault,
  type SentProofs,
} from '@attestry/testing';
import { decodeProtectedHeader, exportJWK } from 'jose';
import {
  attested,
  ATTESTED,
  attester,
  COMBINED,
  combined,
  ISSUED_NONCE,
  offer,
  PAR,
  preAuthorized,
  received,
  refused,
  SCOPE,
  seconds,
  startRefusals,
  tenant,
  TOKEN,
  WITH_NONCE,
  withHeader,
} from './wallet-refusals.js';

startRefusals('attestations');

describe('a client attestation', () => {
  interface Endpoint {
    accepted: number;
    send(by: ProtocolWallet, sent: SentProofs): Promise<Answer<OAuthFault>>;
  }
  const endpoints: Record<string, Endpoint> = {
    PAR: { accepted: 201, send: (by, sent) => by.push(by.parameters(SCOPE), sent) },
    token: {
      accepted: 200,
      send: async (by, sent) => by.exchange('', preAuthorized((await offer()).code, { client_id: by.clientId }), sent),
    },
  };
  const names = Object.keys(endpoints);
  const paths: Record<string, string> = { PAR, token: TOKEN };
  /** A DPoP proof is not sent, so that no nonce is offered. */
  const separate = (sent: SentProofs): SentProofs => ({ dpop: null, ...sent });
  const attest = (change?: JwtChange) => attested.attest(change);

  type Row = [
    what: string,
    make: () => Promise<SentProofs>,
    description: string | (() => string),
    status?: number,
    error?: string,
  ];
  const ofAttestation: Row[] = [
    [
      'no attestation',
      async () => ({ attestation: null }),
      'the header OAuth-Client-Attestation is required of this client',
    ],
    ['an empty attestation', async () => ({ attestation: '' }), 'client attestation: must be a compact JWS'],
    [
      'two attestations',
      async () => ({ attestation: `${await attest()}, ${await attest()}` }),
      'client attestation: must be a compact JWS',
    ],
    [
      'an attestation of another typ',
      async () => ({ attestation: await attest({ header: { typ: 'JWT' } }) }),
      'client attestation: typ must be oauth-client-attestation+jwt',
    ],
    [
      'an attestation with another alg',
      async () => ({ attestation: withHeader(await attest(), { alg: 'RS256' }) }),
      'client attestation: alg must be ES256',
    ],
    [
      'an attestation with alg none',
      async () => ({ attestation: withHeader(await attest(), { alg: 'none' }) }),
      'client attestation: alg must be ES256',
    ],
    [
      'an attestation without x5c',
      async () => ({ attestation: await attest({ header: { x5c: undefined } }) }),
      'client attestation: x5c must be an array of base64 certificates',
    ],
    [
      'the attestation of another provider',
      async () => ({
        attestation: await (await WalletProvider.create()).attest(ATTESTED, attested.instanceKey.publicJwk),
      }),
      'client attestation: x5c must be issued by a configured root certificate that is valid',
    ],
    [
      'the root certificate in x5c',
      async () => {
        const { x5c } = decodeProtectedHeader(await attest()) as { x5c: string[] };
        const root = attester.rootCertificate.replace(/-----[^-]+-----|\s/g, '');
        return { attestation: await attest({ header: { x5c: [...x5c, root] } }) };
      },
      'client attestation: x5c certificate 2 must not be the trust anchor itself',
    ],
    [
      'the attestation of another client',
      async () => ({ attestation: await attest({ claims: { sub: COMBINED } }) }),
      'client attestation: sub must be the client_id of the request',
    ],
    [
      'an attestation without sub',
      async () => ({ attestation: await attest({ claims: { sub: undefined } }) }),
      'client attestation: sub must be the client_id of the request',
    ],
    [
      'an attestation without exp',
      async () => ({ attestation: await attest({ claims: { exp: undefined } }) }),
      'client attestation: exp is missing',
    ],
    [
      'an expired attestation',
      async () => ({ attestation: await attest({ claims: { exp: seconds() - 1 } }) }),
      'client attestation: exp has passed',
    ],
    [
      'an old attestation',
      async () => ({ attestation: await attest({ claims: { iat: seconds() - 31 * 86_400 } }) }),
      'client attestation: iat must be at most 30 days ago',
      400,
      'use_fresh_attestation',
    ],
    [
      'an attestation without key',
      async () => ({ attestation: await attest({ claims: { cnf: {} } }) }),
      'client attestation: cnf.jwk must be a public P-256 key without private members',
    ],
    [
      'an attestation with a private key',
      async () => {
        const jwk = await exportJWK(attested.instanceKey.privateKey);
        return { attestation: await attest({ claims: { cnf: { jwk } } }) };
      },
      'client attestation: cnf.jwk must be a public P-256 key without private members',
    ],
    [
      'an attestation with another signature',
      async () => ({ attestation: withBrokenSignature(await attest()) }),
      'client attestation: the signature is invalid',
    ],
  ];
  const pop = async (change: JwtChange) => ({ pop: await attested.pop(change) });
  const badAudience = () => `client attestation PoP: aud must be ${tenant.url}, not https://other.example`;
  const noAudience = () => `client attestation PoP: aud is missing: it must be ${tenant.url}`;
  const ofPossession: Row[] = [
    [
      'no proof of possession',
      async () => ({ pop: null }),
      'the header OAuth-Client-Attestation-PoP is required of this client',
    ],
    ['an empty proof of possession', async () => ({ pop: '' }), 'client attestation PoP: must be a compact JWS'],
    [
      'two proofs of possession',
      async () => ({ pop: `${await attested.pop()}, ${await attested.pop()}` }),
      'client attestation PoP: must be a compact JWS',
    ],
    [
      'a proof of possession of another typ',
      () => pop({ header: { typ: 'JWT' } }),
      'client attestation PoP: typ must be oauth-client-attestation-pop+jwt',
    ],
    [
      'a proof of possession with another alg',
      () => pop({ header: { alg: 'RS256' } }),
      'client attestation PoP: alg must be ES256',
    ],
    ['a proof of possession for another issuer', () => pop({ claims: { aud: 'https://other.example' } }), badAudience],
    ['a proof of possession without aud', () => pop({ claims: { aud: undefined } }), noAudience],
    [
      'a proof of possession without jti',
      () => pop({ claims: { jti: undefined } }),
      'client attestation PoP: jti must be a string of 1 to 256 characters',
    ],
    [
      'a proof of possession without iat',
      () => pop({ claims: { iat: undefined } }),
      'client attestation PoP: iat must be within 300 seconds of the current time',
    ],
    [
      'an old proof of possession',
      () => pop({ claims: { iat: seconds() - 360 } }),
      'client attestation PoP: iat must be within 300 seconds of the current time',
    ],
    [
      'a proof of possession of another key',
      async () => pop({ by: await makeHolderKey() }),
      'client attestation PoP: the signature is invalid',
    ],
    [
      'an unknown challenge',
      () => pop({ claims: { challenge: 'x' } }),
      'the challenge is unknown or has expired',
      400,
      'use_attestation_challenge',
    ],
  ];

  // First: after 20 refusals of a wallet by one check in a minute the others are combined.
  it.each(names)('that fails at the %s endpoint is in the events of the tenant [T331]', async (name) => {
    const { headers } = await endpoints[name]!.send(attested, separate({ pop: null }));
    const requestIds = [headers.get('x-request-id')!];
    const { data } = expectStatus(await tenant.api.analytics.list({ requestIds }), 200);
    expect(data.find(({ type }) => type.endsWith('_FAIL'))).toMatchObject({
      type: name === 'PAR' ? 'OPENID_PAR_FAIL' : 'OPENID_TOKEN_FAIL',
      metadata: {
        error: {
          status: 401,
          code: 'invalid_client',
          message: 'the header OAuth-Client-Attestation-PoP is required of this client',
        },
      },
    });
  });

  it.each(names.flatMap((name) => [...ofAttestation, ...ofPossession].map((row): [string, ...Row] => [name, ...row])))(
    'at the %s endpoint: with %s a request is refused [T331] [T332] [T343] [T473]',
    async (name, _what, make, description, status = 401, error = 'invalid_client') => {
      const { send: sendTo, accepted } = endpoints[name]!;
      const text = typeof description === 'string' ? description : description();
      expect(received(await sendTo(attested, separate(await make())))).toEqual(
        refused(status, error, text, {
          ...(error === 'use_attestation_challenge' && { 'oauth-client-attestation-challenge': ISSUED_NONCE }),
        }),
      );
      expect((await sendTo(attested, separate({}))).status).toBe(accepted);
    },
  );

  it.each(names)(
    'at the %s endpoint its proof of possession is used once, with a challenge of a refusal [T332] [T342] [T473]',
    async (name) => {
      const { send: sendTo, accepted } = endpoints[name]!;
      const once = separate({ pop: await attested.pop() });
      expect((await sendTo(attested, once)).status).toBe(accepted);
      const used = 'the proof of possession of the client attestation has already been used';
      expect(received(await sendTo(attested, once))).toEqual(refused(401, 'invalid_client', used));

      const stale = await sendTo(attested, separate({ pop: await attested.pop({ claims: { challenge: 'x' } }) }));
      const challenge = stale.headers.get('oauth-client-attestation-challenge');
      const withChallenge = separate({ pop: await attested.pop({ claims: { challenge } }) });
      expect((await sendTo(attested, withChallenge)).status).toBe(accepted);
    },
  );

  const byInstance = async (name: string, change: JwtChange = {}): Promise<SentProofs> => ({
    pop: null,
    dpop: await combined.dpop(paths[name]!, { by: combined.instanceKey, ...change }),
  });
  it.each<[string, (name: string) => Promise<SentProofs>, ReturnType<typeof refused>]>([
    [
      'no attestation',
      async (name) => ({ ...(await byInstance(name)), attestation: null }),
      refused(401, 'invalid_client', 'the header OAuth-Client-Attestation is required of this client', WITH_NONCE),
    ],
    [
      'no DPoP proof',
      async () => ({ pop: null, dpop: null }),
      refused(400, 'invalid_dpop_proof', 'a DPoP proof of the attested key is required of this client'),
    ],
    [
      'the DPoP proof of another key',
      async (name) => byInstance(name, { by: combined.dpopKey }),
      refused(
        401,
        'invalid_client',
        'the DPoP proof must be made with the key in cnf.jwk of the client attestation',
        WITH_NONCE,
      ),
    ],
    [
      'both proofs',
      async (name) => ({ ...(await byInstance(name)), pop: await combined.pop() }),
      refused(
        401,
        'invalid_client',
        'the header OAuth-Client-Attestation-PoP must not be sent: the DPoP proof is the proof of possession',
        WITH_NONCE,
      ),
    ],
    [
      'an unknown challenge',
      async (name) => byInstance(name, { claims: { nonce: 'x' } }),
      refused(400, 'use_dpop_nonce', 'the nonce of the DPoP proof is unknown or has expired', WITH_NONCE),
    ],
  ])(
    'of a wallet with dpopRequired: with %s a request is refused at both endpoints [T330] [T331] [T473]',
    async (_, make, expected) => {
      for (const name of names) {
        const { send: sendTo, accepted } = endpoints[name]!;
        expect(received(await sendTo(combined, await make(name)))).toEqual(expected);
        expect((await sendTo(combined, await byInstance(name))).status).toBe(accepted);
      }
    },
  );

  it('excludes dpop_jkt where the DPoP key is attested [T333] [T473]', async () => {
    const parameters = combined.parameters(SCOPE, { dpop_jkt: 'A'.repeat(43) });
    expect(received(await combined.push(parameters, await byInstance('PAR')))).toEqual(
      refused(400, 'invalid_request', 'dpop_jkt must not be sent by a wallet whose DPoP key is attested', WITH_NONCE),
    );
  });
});
