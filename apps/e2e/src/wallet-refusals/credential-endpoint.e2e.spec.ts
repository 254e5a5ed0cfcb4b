/** @engines embedded */
import { randomUUID } from 'node:crypto';
import {
  ApiClient,
  expectStatus,
  makeHolderKey,
  withBrokenSignature,
  type Answer,
  type HolderKey,
  type OAuthFault,
  type TokenAnswer,
} from '@attestry/testing';
import { CompactEncrypt, exportJWK, importJWK, type JWK } from 'jose';
import {
  attester,
  bearerToken,
  boundToken,
  challengeOf,
  changed,
  collect,
  detailsOf,
  ids,
  NONE,
  offer,
  preAuthorized,
  received,
  redeem,
  refused,
  requestOf,
  seconds,
  startRefusals,
  strict,
  strictWallet,
  tenant,
  tokenRefused,
  wallet,
  WITH_NONCE,
  withHeader,
} from './wallet-refusals.js';

startRefusals('credentials');

describe('a credential request', () => {
  let token: string;
  let key: HolderKey;
  beforeAll(async () => {
    token = await bearerToken();
    key = await makeHolderKey();
  });

  it('is accepted without these faults', async () =>
    expect((await collect(token, await requestOf('Pass'))).status).toBe(200));

  const ONE_OF_TWO = 'exactly one of credential_configuration_id and credential_identifier is required';
  it.each<[string, () => Promise<object | string>, string]>([
    ['that is no JSON', async () => '{"a', 'the body must be JSON: it ends too early, at line 1, column 4'],
    ['that is no object', async () => '[]', 'the body must be a JSON object'],
    [
      'that repeats a member [T474]',
      async () =>
        JSON.stringify(await requestOf('Pass')).replace('{', `{"credential_configuration_id":"${ids['Other']}",`),
      'the body must not repeat a member',
    ],
    [
      'that names no credential',
      async () => requestOf('Pass', {}, { credential_configuration_id: undefined }),
      ONE_OF_TWO,
    ],
    ['that names two', async () => requestOf('Pass', {}, { credential_identifier: 'x' }), ONE_OF_TWO],
    [
      'whose credential is no text',
      async () => requestOf('Pass', {}, { credential_configuration_id: 1 }),
      'credential_configuration_id must be a string',
    ],
    [
      'with proof and proofs',
      async () => requestOf('Pass', {}, { proof: { proof_type: 'jwt', jwt: 'x' } }),
      'proof and proofs must not both be sent',
    ],
    ['whose proofs are no object', async () => requestOf('Pass', {}, { proofs: [] }), 'proofs must be an object'],
    [
      'with proofs of two types',
      async () => requestOf('Pass', {}, { proofs: { jwt: ['x'], attestation: ['x'] } }),
      'proofs must have exactly one member',
    ],
    [
      'whose proofs are no array',
      async () => requestOf('Pass', {}, { proofs: { jwt: 'x' } }),
      'proofs.jwt must be an array',
    ],
    [
      'with eleven proofs',
      async () => requestOf('Pass', {}, { proofs: { jwt: Array<string>(11).fill('x') } }),
      'proofs.jwt must have at most 10 entries',
    ],
  ])('%s is refused [T85] [T473]', async (_, make, description) =>
    expect(received(await collect(token, await make()))).toEqual(
      refused(400, 'invalid_credential_request', description),
    ),
  );

  it('of another media type is refused [T85] [T473]', async () =>
    expect(
      received(await collect(token, JSON.stringify(await requestOf('Pass')), { 'content-type': 'text/plain' })),
    ).toEqual(
      refused(
        400,
        'invalid_credential_request',
        'the content type must be application/json, or application/jwt for an encrypted request',
      ),
    ));

  it('names a credential as the token response does, which exists [T85] [T466] [T473]', async () => {
    const unknown = await requestOf('Pass', {}, { credential_configuration_id: randomUUID() });
    expect(received(await collect(token, unknown))).toEqual(
      refused(
        400,
        'unknown_credential_configuration',
        'credential_configuration_id is not a credential configuration of this issuer',
      ),
    );
    const withoutId = (identifier: string) =>
      requestOf('Pass', {}, { credential_configuration_id: undefined, credential_identifier: identifier });
    expect(received(await collect(token, await withoutId('x')))).toEqual(
      refused(
        400,
        'unknown_credential_identifier',
        'credential_configuration_id is required, because the token response returned no credential identifiers',
      ),
    );
    const { code } = await offer();
    const { access_token: byIdentifier, authorization_details: details } = expectStatus(
      (await redeem(code, { authorization_details: detailsOf(ids['Pass']!) })) as Answer<TokenAnswer>,
      200,
    );
    expect(received(await collect(byIdentifier, await withoutId('x')))).toEqual(
      refused(
        400,
        'unknown_credential_identifier',
        'credential_identifier is not one that the token response returned',
      ),
    );
    const [identifier] = details![0]!.credential_identifiers as [string];
    expect((await collect(byIdentifier, await withoutId(identifier))).status).toBe(200);
  });

  it.each<[string, () => Promise<object>, string]>([
    ['no proofs', async () => requestOf('Pass', {}, { proofs: undefined }), 'proofs is missing'],
    ['empty proofs', async () => requestOf('Pass', {}, { proofs: {} }), 'proofs is empty'],
    ['no proof', async () => requestOf('Pass', {}, { proofs: { jwt: [] } }), 'proofs.jwt is empty'],
    [
      'proofs of another type',
      async () => requestOf('Pass', {}, { proofs: { di_vp: ['x'] } }),
      'the only supported proof types are jwt and attestation',
    ],
    [
      'a proof of another typ',
      async () => requestOf('Pass', { header: { typ: 'JWT' } }),
      'proof: typ must be openid4vci-proof+jwt',
    ],
    [
      'a proof with another alg',
      async () => requestOf('Pass', { header: { alg: 'RS256' } }),
      'proof: alg must be ES256 or EdDSA',
    ],
    [
      'a proof for another issuer',
      async () => requestOf('Pass', { claims: { aud: 'https://other.example' } }),
      'proof: aud must be TENANT, not https://other.example',
    ],
    ['a proof without iat', async () => requestOf('Pass', { claims: { iat: undefined } }), 'proof: iat is missing'],
    [
      'an old proof',
      async () => requestOf('Pass', { claims: { iat: seconds() - 360 } }),
      'proof: iat must be within 300 seconds of the current time',
    ],
    [
      'a proof without nonce',
      async () => requestOf('Pass', { claims: { nonce: undefined } }),
      'proof: nonce is missing',
    ],
    [
      'a proof without key',
      async () => requestOf('Pass', { header: { jwk: undefined } }),
      'proof: exactly one of kid, jwk and x5c is required',
    ],
    [
      'a proof with a private key',
      async () => requestOf('Pass', { header: { jwk: await exportJWK(key.privateKey) } }),
      'proof: jwk is not a usable public key',
    ],
    [
      'a proof of another key',
      async () => requestOf('Pass', { by: await makeHolderKey() }),
      'proof: the signature is invalid',
    ],
    [
      'two proofs of one key',
      async () => requestOf('Pass', {}, { proofs: { jwt: [await wallet.keyProof(key), await wallet.keyProof(key)] } }),
      'each proof must have a different key',
    ],
    [
      'a key attestation that is not asked for',
      async () => requestOf('Pass', {}, { proofs: { attestation: ['a.b.c'] } }),
      'this credential configuration takes plain proofs: send proofs.jwt, or require key attestations with its keyAttestation',
    ],
  ])('with %s is refused [T86] [T473]', async (_, make, description) =>
    expect(received(await collect(token, await make()))).toEqual(
      refused(400, 'invalid_proof', description.replace('TENANT', tenant.url)),
    ),
  );

  it('may name the issuer with the slash of the empty path, and nothing else [T742]', async () => {
    const withAudience = async (aud: unknown) =>
      collect(await bearerToken('Pass'), await requestOf('Pass', { claims: { aud } }));
    for (const aud of [`${tenant.url}/`, [`${tenant.url}/`]]) expect((await withAudience(aud)).status).toBe(200);
    for (const aud of [`${tenant.url}//`, tenant.url.toUpperCase(), `${tenant.url}/?`])
      expect(received(await withAudience(aud))).toEqual(
        refused(400, 'invalid_proof', `proof: aud must be ${tenant.url}, not ${aud}`),
      );
  });

  it('is refused without the key attestation that is required, and with a bad one [T376] [T473]', async () => {
    const bearer = await bearerToken('Attested');
    const proofWith = async (header: (nonce: string) => Promise<Record<string, unknown>>) => {
      const { c_nonce: nonce } = expectStatus(await wallet.nonce(), 200);
      const jwt = [await wallet.keyProof(key, { header: await header(nonce), claims: { nonce } })];
      return { credential_configuration_id: ids['Attested']!, proofs: { jwt } };
    };
    const attestation = (nonce: string) =>
      attester.attestKeys([key.publicJwk], nonce, { key_storage: ['iso_18045_high'] });
    const faults: [Awaited<ReturnType<typeof proofWith>>, string][] = [
      [
        await proofWith(async () => ({})),
        'proof: key_attestation is missing: this credential configuration requires it',
      ],
      [
        await proofWith(async (nonce) => ({ key_attestation: withBrokenSignature(await attestation(nonce)) })),
        'key attestation: the signature is invalid',
      ],
    ];
    for (const [body, description] of faults)
      expect(received(await collect(bearer, body))).toEqual(refused(400, 'invalid_proof', description));
    const good = await proofWith(async (nonce) => ({ key_attestation: await attestation(nonce) }));
    expect((await collect(bearer, good)).status).toBe(200);
  });

  it('is refused with a c_nonce that is unknown, of another tenant, or used [T473]', async () => {
    const unknown = refused(
      400,
      'invalid_nonce',
      'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
    );
    const withNonce = (nonce: string) => requestOf('Pass', { claims: { nonce } });
    expect(received(await collect(token, await withNonce('x')))).toEqual(unknown);
    const { c_nonce: foreign } = expectStatus(await strictWallet.nonce(), 200);
    expect(received(await collect(token, await withNonce(foreign)))).toEqual(unknown);
    const { c_nonce: nonce } = expectStatus(await wallet.nonce(), 200);
    expect((await collect(token, await withNonce(nonce))).status).toBe(200);
    expect(received(await collect(token, await withNonce(nonce)))).toEqual(
      refused(
        400,
        'invalid_nonce',
        'the c_nonce has already been used: get another from the nonce endpoint for each request',
      ),
    );
  });

  it('is refused without an encryption that is required, or with one that is not supported [T315] [T473]', async () => {
    const metadata = await new ApiClient(tenant.url).request<{
      credential_request_encryption: { jwks: { keys: [JWK & { kid: string }] } };
    }>('GET', '/.well-known/openid-credential-issuer');
    const [jwk] = metadata.body.credential_request_encryption.jwks.keys;
    const encrypt = async (body: object, header: object = {}) =>
      new CompactEncrypt(Buffer.from(JSON.stringify(body)))
        .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: jwk.kid, ...header })
        .encrypt(await importJWK(jwk, 'ECDH-ES'));
    const expectRefusal = async (answer: Promise<Answer<OAuthFault>>, description: string) =>
      expect(received(await answer)).toEqual(refused(400, 'invalid_encryption_parameters', description));
    const sendJwe = (jwe: string) => collect(token, jwe, { 'content-type': 'application/jwt' });
    const wanted = (change: object = {}, more: object = {}) => ({
      credential_response_encryption: { jwk: { ...jwk, alg: 'ECDH-ES', ...change }, enc: 'A256GCM', ...more },
    });
    const plain = await requestOf('Pass', {}, wanted());
    await expectRefusal(
      collect(token, plain),
      'credential_response_encryption is only allowed in an encrypted request',
    );
    await expectRefusal(sendJwe('x'), 'the body must be a compact JWE without an encrypted key, as ECDH-ES makes it');
    const jwe = await encrypt(plain);
    await expectRefusal(sendJwe(withHeader(jwe, { alg: 'dir' })), 'alg must be ECDH-ES');
    await expectRefusal(sendJwe(withHeader(jwe, { enc: 'A128CBC-HS256' })), 'enc must be one of A128GCM, A256GCM');
    await expectRefusal(
      sendJwe(await encrypt(plain, { kid: 'x' })),
      'kid is not a current key of credential_request_encryption in the metadata',
    );
    for (const [more, description] of [
      [wanted({ alg: 'RSA-OAEP' }), 'credential_response_encryption.jwk.alg must be ECDH-ES'],
      [wanted({}, { enc: 'A128CBC-HS256' }), 'credential_response_encryption.enc must be one of A128GCM, A256GCM'],
      [wanted({}, { zip: 'GZIP' }), 'credential_response_encryption.zip must be DEF'],
    ] as const)
      await expectRefusal(sendJwe(await encrypt({ ...plain, ...more })), description);
    const accepted = await sendJwe(jwe);
    expect([accepted.status, accepted.headers.get('content-type')]).toEqual([200, 'application/jwt']);

    const { code } = await offer({}, strict);
    const { access_token: strictToken } = expectStatus(await strictWallet.exchange('', preAuthorized(code), NONE), 200);
    const headers = { authorization: `Bearer ${strictToken}`, dpop: null };
    await expectRefusal(
      strictWallet.requestCredential(strictToken, {}, headers),
      'the request must be encrypted: this issuer requires the content type application/jwt',
    );
  });

  it('that cannot be satisfied is denied [T120] [T414] [T436] [T473]', async () => {
    const denied = (description: string) => refused(400, 'credential_request_denied', description);
    const code = await wallet.obtainCode('jwt_vc_json:Required', {}, NONE);
    const { access_token: withoutDegree } = expectStatus(await wallet.exchange(code, {}, NONE), 200);
    for (const [type, bearer, description] of [
      ['Required', withoutDegree, 'the required claim degree has no value: neither the ID token nor UserInfo has it'],
      ['Mobile', await bearerToken('Mobile'), 'no IACA of the issuer is active and valid'],
      ['Sourced', await bearerToken('Sourced'), 'a claims source did not return the claims of the credential'],
    ] as const)
      expect(received(await collect(bearer, await requestOf(type)))).toEqual(denied(description));
    const once = await bearerToken('Once');
    expect((await collect(once, await requestOf('Once'))).status).toBe(200);
    expect(received(await collect(once, await requestOf('Once')))).toEqual(
      denied('the credential configuration allows no more credentials for this offer'),
    );
  });

  it.each([null, 'Basic YTpi', 'Bearer', 'Bearer a b'])(
    'without an access token is refused: %s [T254] [T473]',
    async (authorization) =>
      expect(received(await collect(token, await requestOf('Pass'), { authorization }))).toEqual(
        refused(401, 'invalid_token', 'an access token with the scheme Bearer or DPoP is required', {
          'www-authenticate': 'Bearer, DPoP algs="ES256"',
        }),
      ),
  );

  it('is refused with a token that is unknown, a code, or of a deleted offer [T254] [T473]', async () => {
    const body = await requestOf('Pass');
    for (const other of ['x', changed(token), (await offer()).code])
      expect(received(await collect(other, body))).toEqual(tokenRefused('Bearer'));
    expect(received(await collect(token, body, { authorization: 'DPoP x' }))).toEqual(tokenRefused('DPoP'));
    const { id, code } = await offer();
    const { access_token: deleted } = expectStatus(await redeem(code), 200);
    expectStatus(await tenant.api.offers.delete(id), 204);
    expect(received(await collect(deleted, body))).toEqual(tokenRefused('Bearer'));
  });

  it('is refused with a token in the query, which is not accepted instead of the header [T473]', async () => {
    const query = `?access_token=${token}`;
    for (const headers of [{ authorization: null }, { authorization: `Bearer ${token}` }])
      expect(
        received(await wallet.requestCredential(token, await requestOf('Pass'), { dpop: null, ...headers }, query)),
      ).toEqual(refused(400, 'invalid_request', 'the access token must not be in the query string'));
  });

  it('is refused with another scheme than that of the token [T254] [T473]', async () => {
    const body = await requestOf('Pass');
    const isBound = 'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof';
    expect(received(await collect(await boundToken(), body))).toEqual(tokenRefused('DPoP', isBound));
    const isUnbound = 'the access token is not bound to a DPoP key: send it with the scheme Bearer';
    expect(received(await wallet.requestCredential(token, body))).toEqual(
      tokenRefused('Bearer', isUnbound, WITH_NONCE),
    );
    expect((await collect(token, body)).status).toBe(200);
  });

  it('for a credential that the token does not cover is refused [T254] [T473]', async () => {
    const body = await requestOf('Other');
    const description = 'the access token does not cover this credential configuration';
    const expected = (scheme: 'Bearer' | 'DPoP', headers: object = {}) =>
      refused(403, 'insufficient_scope', description, {
        ...challengeOf(scheme, 'insufficient_scope', description),
        ...headers,
      });
    expect(received(await collect(token, body))).toEqual(expected('Bearer'));
    expect(received(await wallet.requestCredential(await boundToken(), body))).toEqual(expected('DPoP', WITH_NONCE));
    expect((await collect(await bearerToken('Other'), body)).status).toBe(200);
  });
});
