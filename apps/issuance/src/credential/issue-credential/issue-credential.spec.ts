import { generateKeyPairSync } from 'node:crypto';
import { SignJWT, type JWTHeaderParameters } from 'jose';
import { MAX_PROOF_LENGTH, type AppError, type RawRequest } from '@attestry/contracts';
import {
  encodeDidJwk,
  encodeDidKey,
  encodeMultikey,
  ReplayGuard,
  type PublicJwk,
  type SecretMac,
} from '@attestry/keys';
import { credentialTexts } from '../credential-issuer/credential-texts.js';
import { MAX_DOCUMENT_BYTES } from '../../formats/document-size.decisions.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { addDuration } from '../../settings/credential-configuration/validity.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { mapClaims } from '../../formats/map-claims.js';
import { makeNonce } from '../../wallets/nonce/nonce.js';
import { checkAccessTokenLocation } from '../../token/access-token/check-access-token-location.js';
import { checkConfiguration } from './check-configuration.js';
import type { OpenedRequest } from '../message-encryption/message-encryption.js';
import { encryptionPolicy } from '../../settings/openid-settings/openid-settings.decisions.js';
import { checkContentType } from '../message-encryption/check-content-type.js';
import { checkDistinctKeys } from './check-distinct-keys.js';
import { checkIssuanceLimit } from '../credential-issuer/check-issuance-limit.js';
import { checkNonce } from './check-nonce.js';
import { parseCredentialRequest } from './parse-credential-request.js';
import { spendNonce } from './spend-nonce.js';
import { verifyJwtProof, type ProofExpectations, type VerifiedProof } from './verify-jwt-proof.js';

const HOSTILE = [undefined, '', 1, true, null, 'foo', []];

const raw = (headers: Record<string, string>, url = '/'): RawRequest => ({ method: 'POST', url, headers, text: '' });
const reasonOf = (error: unknown) => {
  const { code, check } = error as AppError;
  return [code, check];
};
const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return reasonOf(error);
  }
};

/** The `error_description` that the wallet gets. */
const descriptionOf = (run: () => unknown): string | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as AppError).message;
  }
};

/** Opened form of a plain request. */
const plain = (body: unknown): OpenedRequest => ({
  text: typeof body === 'string' ? body : JSON.stringify(body),
  isEncrypted: false,
  policy: encryptionPolicy({}),
});

describe('check-content-type', () => {
  it.each([
    ['application/json', undefined],
    ['application/json; charset=utf-8', undefined],
    ['application/jwt', undefined],
    ['application/x-www-form-urlencoded', ['invalid_credential_request', 'check-content-type']],
    ['', ['invalid_credential_request', 'check-content-type']],
  ])('%j', (type, expected) =>
    expect(outcome(() => checkContentType(raw({ 'content-type': type })))).toEqual(expected),
  );
});

describe('check-access-token-location', () => {
  const refused = ['invalid_token', 'check-access-token-location'];
  it.each([
    ['Bearer abc', { scheme: 'bearer', token: 'abc' }],
    ['bearer abc', { scheme: 'bearer', token: 'abc' }],
    ['dPoP  abc', { scheme: 'dpop', token: 'abc' }],
    ['', refused],
    ['Bearer', refused],
    ['Bearer ', refused],
    ['Bearer a b', refused],
    ['Bearer a, Bearer b', refused],
    ['DPoP', refused],
    ['DPoPx abc', refused],
    ['Basic YTpi', refused],
    ['foo', refused],
  ])('%j', (authorization, expected) =>
    expect(outcome(() => checkAccessTokenLocation(raw({ authorization })))).toEqual(expected),
  );
  it('requests a token without an error code', () => {
    expect(outcome(() => checkAccessTokenLocation(raw({})))).toEqual(refused);
    try {
      checkAccessTokenLocation(raw({}));
    } catch (error) {
      expect((error as AppError).headers).toEqual({ 'www-authenticate': 'Bearer, DPoP algs="ES256"' });
    }
    expect.assertions(2);
  });
  it('refuses a token in the query, whatever the header contains', () =>
    expect(outcome(() => checkAccessTokenLocation(raw({ authorization: 'Bearer abc' }, '/?access_token=abc')))).toEqual(
      ['invalid_request', 'check-access-token-location'],
    ));
});

describe('parse-credential-request', () => {
  const request = 'invalid_credential_request';
  const proof = 'invalid_proof';
  const parse = (body: unknown, byIdentifier = false) =>
    outcome(() => parseCredentialRequest(plain(body), byIdentifier));
  const check = 'parse-credential-request';
  const proofs = { jwt: ['a.b.c'] };

  it('reads either way of naming the credential and ignores unknown members', () => {
    expect(parse({ credential_configuration_id: 'c1', proofs, foo: 1, format: 'x' })).toEqual({
      selector: { configurationId: 'c1' },
      proofs: { type: 'jwt', jwts: ['a.b.c'] },
    });
    expect(parse({ credential_identifier: 'i1', proofs })).toEqual(['unknown_credential_identifier', check]);
    expect(parse({ credential_identifier: 'i1', proofs }, true)).toEqual({
      selector: { credentialIdentifier: 'i1' },
      proofs: { type: 'jwt', jwts: ['a.b.c'] },
    });
  });
  it.each(['', '{', '[]', '1', 'null', 'true', '"x"'])('refuses body %j', (body) =>
    expect(parse(body)).toEqual([request, 'request-object']),
  );
  it.each<[object, boolean]>([
    [{}, false],
    [{ credential_configuration_id: 'c', credential_identifier: 'i' }, false],
    [{ credential_configuration_id: 'c', credential_identifier: 'i' }, true],
  ])('refuses %j (by identifier: %j)', (names, byIdentifier) =>
    expect(parse({ ...names, proofs }, byIdentifier)).toEqual([request, check]),
  );
  it.each(HOSTILE.filter((value) => value !== 'foo'))('refuses credential_configuration_id %j', (value) =>
    expect(parse({ credential_configuration_id: value, proofs })).toEqual([request, check]),
  );
  it.each<[unknown, string]>([
    [undefined, proof],
    ['', request],
    [1, request],
    [true, request],
    [null, request],
    ['foo', request],
    [[], request],
    [{}, proof],
    [{ jwt: ['a'], attestation: ['b'] }, request],
    [{ di_vp: ['a'] }, proof],
    [{ jwt: [] }, proof],
    [{ jwt: 'a.b.c' }, request],
    [{ jwt: [''] }, request],
    [{ jwt: [1] }, request],
    [{ jwt: [null] }, request],
    [{ jwt: [[]] }, request],
    [{ jwt: ['x'.repeat(20_000)] }, proof],
    [{ jwt: Array.from({ length: 11 }, () => 'a.b.c') }, request],
  ])('refuses proofs %j', (value, code) =>
    expect(parse({ credential_configuration_id: 'c', proofs: value })).toEqual([code, check]),
  );
  const named = (value: object) => ({ credential_configuration_id: 'c', ...value });
  it.each<[string, unknown, boolean, string]>([
    ['no JSON', '{', false, 'the body must be JSON: it ends too early, at line 1, column 2'],
    ['no object', '[]', false, 'the body must be a JSON object'],
    [
      'encryption',
      named({ credential_response_encryption: {} }),
      false,
      'credential_response_encryption is only allowed in an encrypted request',
    ],
    [
      'both names',
      named({ credential_identifier: 'i' }),
      false,
      'exactly one of credential_configuration_id and credential_identifier is required',
    ],
    [
      'an identifier for a configuration',
      { credential_identifier: 'i' },
      false,
      'credential_configuration_id is required, because the token response returned no credential identifiers',
    ],
    ['a number', { credential_configuration_id: 1 }, false, 'credential_configuration_id must be a string'],
    ['an empty identifier', { credential_identifier: '' }, true, 'credential_identifier must be a string'],
    ['no proofs', named({}), false, 'proofs is missing'],
    ['proofs in text', named({ proofs: 'x' }), false, 'proofs must be an object'],
    ['empty proofs', named({ proofs: {} }), false, 'proofs is empty'],
    [
      'the proof of earlier drafts beside proofs',
      named({ proof: { proof_type: 'jwt', jwt: 'x' }, proofs }),
      false,
      'proof and proofs must not both be sent',
    ],
    ['two kinds of proof', named({ proofs: { jwt: [], di_vp: [] } }), false, 'proofs must have exactly one member'],
    [
      'another kind of proof',
      named({ proofs: { di_vp: ['x'] } }),
      false,
      'the only supported proof types are jwt and attestation',
    ],
    ['no attestation', named({ proofs: { attestation: [] } }), false, 'proofs.attestation is empty'],
    ['an attestation in text', named({ proofs: { attestation: 'x' } }), false, 'proofs.attestation must be an array'],
    [
      'two attestations',
      named({ proofs: { attestation: ['x', 'y'] } }),
      false,
      'proofs.attestation must have exactly one entry',
    ],
    [
      'an attestation that is no text',
      named({ proofs: { attestation: [1] } }),
      false,
      'proofs.attestation must be an array of non-empty strings',
    ],
    [
      'an attestation too long',
      named({ proofs: { attestation: ['x'.repeat(MAX_PROOF_LENGTH + 1)] } }),
      false,
      `a proof must have at most ${MAX_PROOF_LENGTH} characters`,
    ],
    ['a proof of earlier drafts in text', named({ proof: 'x' }), false, 'proof must be an object'],
    ['no proof of earlier drafts', named({ proof: null }), false, 'proof must be an object'],
    ['another type in proof', named({ proof: { proof_type: 'cwt', jwt: 'x' } }), false, 'proof.proof_type must be jwt'],
    ['no type in proof', named({ proof: { jwt: 'x' } }), false, 'proof.proof_type must be jwt'],
    ['no JWT in proof', named({ proof: { proof_type: 'jwt' } }), false, 'proof.jwt must be a non-empty string'],
    [
      'an empty JWT in proof',
      named({ proof: { proof_type: 'jwt', jwt: '' } }),
      false,
      'proof.jwt must be a non-empty string',
    ],
    [
      'a JWT too long in proof',
      named({ proof: { proof_type: 'jwt', jwt: 'x'.repeat(MAX_PROOF_LENGTH + 1) } }),
      false,
      `a proof must have at most ${MAX_PROOF_LENGTH} characters`,
    ],
    ['a proof outside of an array', named({ proofs: { jwt: 'x' } }), false, 'proofs.jwt must be an array'],
    ['no proof', named({ proofs: { jwt: [] } }), false, 'proofs.jwt is empty'],
    [
      'too many proofs',
      named({ proofs: { jwt: Array.from({ length: 11 }, () => 'x') } }),
      false,
      'proofs.jwt must have at most 10 entries',
    ],
    ['an empty proof', named({ proofs: { jwt: [''] } }), false, 'proofs.jwt must be an array of non-empty strings'],
    [
      'a proof too long',
      named({ proofs: { jwt: ['x'.repeat(MAX_PROOF_LENGTH + 1)] } }),
      false,
      `a proof must have at most ${MAX_PROOF_LENGTH} characters`,
    ],
  ])('names the fault to the wallet: %s [T86]', (_, body, byIdentifier, description) =>
    expect(descriptionOf(() => parseCredentialRequest(plain(body), byIdentifier))).toBe(description),
  );

  it('accepts the longest proof, the largest batch and names of maximum length', () => {
    const body = { proofs: { jwt: Array.from({ length: 10 }, () => 'x'.repeat(MAX_PROOF_LENGTH)) } };
    expect(parse(named(body))).toMatchObject({ proofs: { type: 'jwt', jwts: { length: 10 } } });
    const tooLong = 'x'.repeat(100_000);
    expect(
      descriptionOf(() => parseCredentialRequest(plain({ ...body, credential_configuration_id: tooLong }), false)),
    ).toMatch(/^credential_configuration_id must have at most \d+ characters$/);
  });

  it('reads one key attestation, and the proof of earlier drafts as proofs.jwt with one entry [T370] [T379]', () => {
    const selector = { configurationId: 'c' };
    expect(parse(named({ proofs: { attestation: ['a.b.c'] } }))).toEqual({
      selector,
      proofs: { type: 'attestation', jwts: ['a.b.c'] },
    });
    expect(parse(named({ proof: { proof_type: 'jwt', jwt: 'a.b.c' } }))).toEqual({
      selector,
      proofs: { type: 'jwt', jwts: ['a.b.c'] },
    });
  });

  it('refuses response encryption in a plain request', () =>
    expect(parse({ credential_configuration_id: 'c', proofs, credential_response_encryption: {} })).toEqual([
      'invalid_encryption_parameters',
      'message-encryption',
    ]));

  it('names the plaintext of an encrypted request', () => {
    const parseEncrypted = (text: string) =>
      descriptionOf(() => parseCredentialRequest({ ...plain(text), isEncrypted: true }, false));
    expect(parseEncrypted('a.b.c')).toBe(
      'the plaintext of the JWE must be JSON: unexpected character at line 1, column 1',
    );
    expect(parseEncrypted('[]')).toBe('the plaintext of the JWE must be a JSON object');
  });
});

const session = (more: Partial<RedeemedSession> = {}): RedeemedSession => ({
  status: 'redeemed',
  id: 's1',
  origin: { kind: 'preAuthorizedOffer', sealedDocument: '' },
  issuer: 'https://acme.example',
  binding: 'none',
  userId: 'u1',
  entries: [{ credentialConfigurationId: '11111111-1111-4111-8111-111111111111', scope: 's' }],
  accessToken: { tokenId: 't1', kind: 'access', mac: 'mac', keyId: 'p1', expiresAt: '2026-05-01T10:05:00.000Z' },
  issued: {},
  ...more,
});
const configuration = (id: string, maxIssuances?: number) =>
  ({ id, content: { ...(maxIssuances !== undefined && { maxIssuances }) } }) as ActiveConfiguration;

describe('check-configuration', () => {
  const C1 = '11111111-1111-4111-8111-111111111111';
  const C2 = '22222222-2222-4222-8222-222222222222';
  const find = async (_tenantId: string, id: string) => ([C1, C2].includes(id) ? configuration(id) : undefined);
  const check = async (of: RedeemedSession, selector: Parameters<typeof checkConfiguration>[1]) => {
    try {
      return (await checkConfiguration(of, selector, 't1', { find })).configuration.id;
    } catch (error) {
      return reasonOf(error);
    }
  };
  const at = 'check-configuration';

  it.each<[string, unknown]>([
    [C1, C1],
    [C2, ['insufficient_scope', at]],
    ['33333333-3333-4333-8333-333333333333', ['unknown_credential_configuration', at]],
    ['foo', ['unknown_credential_configuration', at]],
  ])('by configuration %s', async (configurationId, expected) =>
    expect(await check(session(), { configurationId })).toEqual(expected),
  );
  it('by identifier', async () => {
    const gone = '33333333-3333-4333-8333-333333333333';
    const granted = session({
      authorizationDetails: [
        { credentialConfigurationId: C1, credentialIdentifiers: ['i1'] },
        { credentialConfigurationId: gone, credentialIdentifiers: ['i3'] },
      ],
    });
    expect(await check(granted, { credentialIdentifier: 'i1' })).toBe(C1);
    for (const credentialIdentifier of ['i2', 'i3', C1])
      expect(await check(granted, { credentialIdentifier })).toEqual(['unknown_credential_identifier', at]);
    expect(await check(granted, { configurationId: gone })).toEqual(['unknown_credential_configuration', at]);
    expect(await check(granted, { configurationId: C2 })).toEqual(['insufficient_scope', at]);
  });
  it('[T740] by configuration, where the token response returned exactly one identifier of it', async () => {
    const granted = (of: Record<string, string[]>) =>
      session({
        authorizationDetails: Object.entries(of).map(([credentialConfigurationId, credentialIdentifiers]) => ({
          credentialConfigurationId,
          credentialIdentifiers,
        })),
      });
    const one = await checkConfiguration(
      granted({ [C2]: ['x', 'y'], [C1]: ['bachelor'] }),
      { configurationId: C1 },
      't1',
      { find },
    );
    expect(one).toEqual({ configuration: configuration(C1), credentialIdentifier: 'bachelor' });
    const several = checkConfiguration(granted({ [C1]: ['bachelor', 'master'] }), { configurationId: C1 }, 't1', {
      find,
    });
    await expect(several).rejects.toMatchObject({
      code: 'invalid_credential_request',
      message: 'credential_identifier is required, because the token response returned several: bachelor, master',
    });
    const many = Array.from({ length: 50 }, (_, i) => `${'x'.repeat(40)}${i}`);
    const error = await checkConfiguration(granted({ [C1]: many }), { configurationId: C1 }, 't1', { find }).catch(
      (refused: Error) => refused,
    );
    expect((error as Error).message).toMatch(/ and others$/);
    expect((error as Error).message.length).toBeLessThan(450);
  });
});

describe('credential-texts', () => {
  const check = ['credential_request_denied', 'credential-texts'];
  it('are the credentials as JSON, each of at most 384 KiB', () => {
    expect(credentialTexts(['a.b.c', { type: 'x' }])).toEqual(['"a.b.c"', '{"type":"x"}']);
    const longest = 'x'.repeat(MAX_DOCUMENT_BYTES - 2);
    expect(credentialTexts([longest, longest])).toHaveLength(2);
    expect(outcome(() => credentialTexts(['a', `${longest}x`]))).toEqual(check);
    expect(outcome(() => credentialTexts(['é'.repeat(MAX_DOCUMENT_BYTES / 2)]))).toEqual(check);
  });
});

describe('check-issuance-limit', () => {
  it('counts each configuration separately', () =>
    expect(
      outcome(() => checkIssuanceLimit(session({ issued: { c1: 9 } }), configuration('c2', 3), 3, now)),
    ).toBeUndefined());
  it.each<[number | undefined, number, number, boolean]>([
    [undefined, 5, 10, true],
    [3, 0, 3, true],
    [3, 0, 4, false],
    [3, 2, 1, true],
    [3, 3, 1, false],
  ])('of %j with %j issued: %j more', (max, issued, wanted, possible) =>
    expect(
      outcome(() => checkIssuanceLimit(session({ issued: { c1: issued } }), configuration('c1', max), wanted, now)),
    ).toEqual(possible ? undefined : ['credential_request_denied', 'check-issuance-limit']),
  );
});

// --- proofs

const now = new Date('2026-05-01T10:00:00Z');
const seconds = now.getTime() / 1000;
const ISSUER = 'https://acme.example';
const expected = {
  issuer: ISSUER,
  isOtherName: async (name: string) => name === 'https://two.example',
  now,
  windowSeconds: 300,
};
const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const ed = generateKeyPairSync('ed25519');
const x25519 = generateKeyPairSync('x25519');
const jwkOf = (pair: { publicKey: { export(o: { format: 'jwk' }): unknown } }) =>
  pair.publicKey.export({ format: 'jwk' }) as PublicJwk;
const ecJwk = jwkOf(ec);
const edJwk = jwkOf(ed);
const kid = (jwk: PublicJwk) => `${encodeDidKey(jwk)}#${encodeMultikey(jwk)}`;

const make = (
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  key: typeof ec.privateKey = ec.privateKey,
) =>
  new SignJWT({ aud: ISSUER, iat: seconds, nonce: 'n', ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk, ...header } as JWTHeaderParameters)
    .sign(key, { crit: { foo: true } });
const verify = async (jwt: string): Promise<unknown> => {
  try {
    return (await verifyJwtProof(jwt, expected)).holder.did;
  } catch (error) {
    return reasonOf(error);
  }
};
/** The `error_description` of the refusal. */
const refusalOf = async (jwt: string, more: Partial<ProofExpectations> = {}): Promise<string | undefined> => {
  try {
    await verifyJwtProof(jwt, { ...expected, ...more });
    return undefined;
  } catch (error) {
    return (error as AppError).message;
  }
};
/** Header and payload unchanged, with a signature that does not match. */
const unsigned = (header: unknown, payload: unknown) =>
  [header, payload, 'x'.repeat(64)]
    .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
    .join('.');

describe('verify-jwt-proof', () => {
  const refused = ['invalid_proof', 'verify-jwt-proof'];

  it('accepts each way of naming a key', async () => {
    expect(await verify(await make())).toBe(encodeDidJwk(ecJwk));
    expect(await verify(await make({}, { jwk: undefined, kid: kid(ecJwk) }))).toBe(encodeDidKey(ecJwk));
    expect(await verify(await make({}, { jwk: undefined, kid: encodeDidJwk(ecJwk) }))).toBe(encodeDidJwk(ecJwk));
    expect(await verify(await make({}, { alg: 'EdDSA', jwk: edJwk }, ed.privateKey))).toBe(encodeDidJwk(edJwk));
  });

  it('accepts an iss, which is ignored here, and one audience in an array', async () =>
    expect(await verify(await make({ iss: 'x', aud: [ISSUER] }))).toBe(encodeDidJwk(ecJwk)));
  it('may name the issuer by another of its names [T591]', async () => {
    for (const aud of ['https://two.example', ['https://two.example']])
      expect(await verify(await make({ aud }))).toBe(encodeDidJwk(ecJwk));
  });
  it.each([5, null, { name: ISSUER }, [[ISSUER]], ['a', 'b']])(
    'has no other name in an aud that is no text: %j',
    async (aud) => {
      const answer = await refusalOf(await make({ aud }), { isOtherName: async () => true });
      expect(answer).toContain(`aud must be ${ISSUER}, not a value that is no string`);
    },
  );

  it.each<[string, Record<string, unknown>]>([
    ...[
      undefined,
      '',
      1,
      true,
      null,
      'foo',
      [],
      ['https://acme.example', 'x'],
      'https://acme.example/',
      'https://ACME.example',
    ].map((aud): [string, Record<string, unknown>] => ['aud', { aud }]),
    ...[undefined, '', true, null, 'foo', [], seconds - 301, seconds + 301, String(seconds)].map(
      (iat): [string, Record<string, unknown>] => ['iat', { iat }],
    ),
    ...[undefined, '', 1, true, null, []].map((nonce): [string, Record<string, unknown>] => ['nonce', { nonce }]),
    ...['', true, null, 'foo', [], seconds].map((exp): [string, Record<string, unknown>] => ['exp', { exp }]),
  ])('refuses %s: %j', async (_, claims) => {
    // Signed without the library, which refuses some of these.
    const payload = { aud: ISSUER, iat: seconds, nonce: 'n', ...claims };
    const { CompactSign } = await import('jose');
    const jwt = await new CompactSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk })
      .sign(ec.privateKey);
    expect(await verify(jwt)).toEqual(refused);
  });

  it('accepts iat at the limits of the window', async () => {
    for (const iat of [seconds - 300, seconds + 300])
      expect(await verify(await make({ iat }))).toBe(encodeDidJwk(ecJwk));
  });

  it.each<[string, Record<string, unknown>]>([
    ...[undefined, '', 'JWT', 'openid4vci-proof+JWT', 1, null].map((typ): [string, Record<string, unknown>] => [
      'typ',
      { typ },
    ]),
    ...[undefined, '', 'none', 'HS256', 'RS256', 'ES384', 'EdDSA', 1, null].map(
      (alg): [string, Record<string, unknown>] => ['alg', { alg }],
    ),
    ['no key', { jwk: undefined }],
    ['two keys', { kid: kid(ecJwk) }],
    ['x5c', { x5c: ['x'] }],
    ['x5c alone', { jwk: undefined, x5c: ['x'] }],
    ['crit', { crit: ['foo'], foo: 1 }],
    ['b64', { b64: true }],
    ['a private key', { jwk: { ...ecJwk, d: 'x' } }],
    ['a symmetric key', { jwk: { kty: 'oct', k: 'x' } }],
    ['a point off the curve', { jwk: { ...ecJwk, y: ecJwk.x } }],
    ['a key of another kind', { jwk: jwkOf(x25519) }],
    ['the key of another alg', { jwk: edJwk }],
    ['the key of somebody else', { jwk: jwkOf(generateKeyPairSync('ec', { namedCurve: 'prime256v1' })) }],
    ...['', 1, true, null, 'foo', [], 'did:web:acme.example#k', `${kid(ecJwk)}x`, 'did:jwk:e30#0'].map(
      (value): [string, Record<string, unknown>] => ['kid', { jwk: undefined, kid: value }],
    ),
    ...['', 1, true, null, 'foo', []].map((jwk): [string, Record<string, unknown>] => ['jwk', { jwk }]),
  ])('refuses %s: %j', async (_, header) => {
    const [, payload, signature] = (await make()).split('.');
    const changed = { alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk, ...header };
    const input = `${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${payload}`;
    const { sign } = await import('node:crypto');
    const signed = sign('sha256', Buffer.from(input), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' });
    expect(await verify(`${input}.${signed.toString('base64url')}`)).toEqual(refused);
    expect(await verify(`${input}.${signature}`)).toEqual(refused);
  });

  it.each(['', 'foo', 'a.b', 'a.b.c', 'a.b.c.d', '..', `${'a'.repeat(10)}.!.c`])('refuses %j', async (jwt) =>
    expect(await verify(jwt)).toEqual(refused),
  );
  it.each<[unknown, unknown]>([
    [{ alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk }, 'no json'],
    [{ alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk }, []],
    [[], {}],
    ['no json', {}],
    [
      { alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk },
      { aud: ISSUER, iat: seconds, nonce: 'n' },
    ],
  ])('refuses %j . %j', async (header, payload) => expect(await verify(unsigned(header, payload))).toEqual(refused));

  const proofWith = async (
    claims: Record<string, unknown>,
    header: Record<string, unknown> = {},
    key = ec.privateKey,
  ) => {
    const parts = [
      { alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk, ...header },
      { aud: ISSUER, iat: seconds, nonce: 'n', ...claims },
    ];
    const input = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const { sign } = await import('node:crypto');
    const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  };
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['x5c is not supported', {}, { x5c: ['x'] }],
    ['exactly one of kid, jwk and x5c is required', {}, { kid: kid(ecJwk) }],
    ['exactly one of kid, jwk and x5c is required', {}, { jwk: undefined }],
    ['jwk is not a usable public key', {}, { jwk: { kty: 'oct', k: 'x' } }],
    ['kid is not a usable DID URL', {}, { jwk: undefined, kid: 'did:web:acme.example#k' }],
    ['typ must be openid4vci-proof+jwt', {}, { typ: 'JWT' }],
    ['alg must be ES256 or EdDSA', {}, { alg: 'HS256' }],
    ['alg does not match the key', {}, { alg: 'EdDSA' }],
    ['critical header parameters are not supported', {}, { crit: ['foo'], foo: 1 }],
    ['critical header parameters are not supported', {}, { b64: true }],
    [`aud must be ${ISSUER}, not x`, { aud: 'x' }, {}],
    [`aud must be ${ISSUER}, not ${ISSUER}//`, { aud: `${ISSUER}//` }, {}],
    [`aud must be ${ISSUER}, not https://${'x'.repeat(192)}...`, { aud: `https://${'x'.repeat(500)}` }, {}],
    [`aud must be ${ISSUER}, not an address with a user name or password`, { aud: 'https://u:secret@x.example' }, {}],
    [`aud must be ${ISSUER}, not a value that is no string`, { aud: [] }, {}],
    [`aud must be ${ISSUER}, not x`, { aud: ['x'] }, {}],
    [`aud must be ${ISSUER}, not a value that is no string`, { aud: [ISSUER, 'x'] }, {}],
    [`aud is missing: it must be ${ISSUER}`, { aud: undefined }, {}],
    ['iat is missing', { iat: undefined }, {}],
    ['iat is missing', { iat: String(seconds) }, {}],
    ['iat must be within 300 seconds of the current time', { iat: seconds - 301 }, {}],
    ['iat must be within 300 seconds of the current time', { iat: seconds + 301 }, {}],
    ['exp has passed', { exp: seconds }, {}],
    ['exp has passed', { exp: String(seconds + 10) }, {}],
    ['nonce is missing', { nonce: undefined }, {}],
    ['nonce is missing', { nonce: '' }, {}],
    ['nonce is missing', { nonce: 1 }, {}],
  ])('names the fault to the wallet: %s (%j, %j) [T86]', async (description, claims, header) => {
    const jwt = await proofWith(claims, header);
    expect(await refusalOf(jwt)).toBe(`proof: ${description}`);
  });

  it('names unreadable and unsigned proofs to the wallet', async () => {
    const header = { alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: ecJwk };
    expect(await refusalOf('a.b')).toBe('proof: must be a compact JWS');
    expect(await refusalOf(`${await make()}.x`)).toBe('proof: must be a compact JWS');
    expect(await refusalOf(` ${await make()}`)).toBe('proof: must be a compact JWS');
    expect(await refusalOf(unsigned('no json', {}))).toBe('proof: the header must be JSON');
    expect(await refusalOf(unsigned(header, 'no json'))).toBe('proof: the payload must be a JWT claims set');
    expect(await refusalOf(unsigned(header, { aud: ISSUER, iat: seconds, nonce: 'n' }))).toBe(
      'proof: the signature is invalid',
    );
    const [start, payload] = (await make()).split('.');
    expect(await refusalOf(`${start}.${payload}.AAAA`)).toBe('proof: the signature is invalid');
  });

  it('accepts an exp in the future and returns the nonce', async () =>
    expect(await verifyJwtProof(await proofWith({ exp: seconds + 1 }), expected)).toMatchObject({ nonce: 'n' }));

  it('compares iss with the client id, if there is one', async () => {
    const clientId = 'wallet';
    expect(await refusalOf(await proofWith({ iss: 'wallet' }), { clientId })).toBeUndefined();
    expect(await refusalOf(await proofWith({}), { clientId })).toBeUndefined();
    expect(await refusalOf(await proofWith({ iss: 'other' }), { clientId })).toBe('proof: iss must be the client id');
  });

  it('refuses a modified signature and one in DER', async () => {
    const jwt = await make();
    const [header, payload, signature] = jwt.split('.') as [string, string, string];
    const bytes = Buffer.from(signature, 'base64url');
    bytes[10]! ^= 1;
    expect(await verify(`${header}.${payload}.${bytes.toString('base64url')}`)).toEqual(refused);
    const { sign } = await import('node:crypto');
    const der = sign('sha256', Buffer.from(`${header}.${payload}`), ec.privateKey);
    expect(await verify(`${header}.${payload}.${der.toString('base64url')}`)).toEqual(refused);
  });
});

const proofOf = (jwk: PublicJwk) => ({ holder: { publicJwk: jwk } }) as VerifiedProof;

describe('check-distinct-keys', () => {
  it('requires a distinct key for each proof', () => {
    expect(outcome(() => checkDistinctKeys([proofOf(ecJwk), proofOf(edJwk)]))).toBeUndefined();
    expect(outcome(() => checkDistinctKeys([proofOf(ecJwk), proofOf(edJwk), proofOf({ ...ecJwk })]))).toEqual([
      'invalid_proof',
      'check-distinct-keys',
    ]);
  });
});

describe('check-nonce', () => {
  const mac = (text: string, context?: string): SecretMac => ({
    pepper: 'p1',
    mac: Buffer.from(`${text}|${context}`.padEnd(60)).toString('base64url').slice(0, 20).padEnd(43, text.slice(-20)),
  });
  const macs = {
    mac,
    verifyMac: (text: string, given: SecretMac, context?: string) =>
      mac(text, context).mac === given.mac && given.pepper === 'p1',
  };
  const nonce = makeNonce(macs, 't1', new Date(now.getTime() + 1000));
  const check = (value: string, at = now) => outcome(() => checkNonce([value], 't1', at, macs).length);
  const refused = ['invalid_nonce', 'check-nonce'];

  it('accepts its own nonces until they expire', () => {
    expect(check(nonce)).toBe(1);
    expect(check(nonce, new Date(now.getTime() + 1000))).toEqual(refused);
  });
  it.each(['foo', '...', `x${nonce}`, `${nonce}=`, nonce.toUpperCase(), nonce.replace('.p1.', '.p2.')])(
    'refuses %s',
    (value) => expect(check(value)).toEqual(refused),
  );
  it('does not accept a forged expiry', () => {
    const [end, ...rest] = nonce.split('.');
    expect(check([(Number.parseInt(end!, 36) + 1_000_000).toString(36), ...rest].join('.'))).toEqual(refused);
  });
  it('counts a nonce once when several proofs contain it', () =>
    expect(checkNonce([nonce, nonce], 't1', now, macs)).toHaveLength(1));
});

describe('spend-nonce', () => {
  const nonces = [
    { id: 'n', expiresAt: now },
    { id: 'm', expiresAt: now },
  ];
  class Guard extends ReplayGuard {
    constructor(override readonly spendAll: ReplayGuard['spendAll']) {
      super();
    }
    async close(): Promise<void> {}
  }
  it('spends all nonces of the tenant in one call, once', async () => {
    const spent: unknown[] = [];
    const write = spendNonce(nonces, 't1', new Guard(async (...args) => spent.push(args) > 0));
    expect(spent).toEqual([]);
    await Promise.all([write.store(), write.store()]);
    await expect(write.store()).resolves.toBeUndefined();
    const values = ['n', 'm'].map((value) => ({ scope: 'c_nonce', value, expiresAt: now }));
    expect(spent).toEqual([['t1', values]]);
    const proof = { jkt: 'k', jti: 'j', expiresAt: now };
    await spendNonce(nonces, 't1', new Guard(async (...args) => spent.push(args) > 0), proof).store();
    expect(spent[1]).toEqual(['t1', [{ scope: 'dpop', value: 'k.j', expiresAt: now }, ...values]]);
  });
  it('refuses a used nonce and fails when the replay guard fails', async () => {
    const used = spendNonce(nonces, 't1', new Guard(async () => false));
    await expect(used.store()).rejects.toMatchObject({ code: 'invalid_nonce' });
    const broken = spendNonce(
      nonces,
      't1',
      new Guard(async () => {
        throw new Error('disk');
      }),
    );
    await expect(broken.store()).rejects.toThrow('disk');
  });
});

describe('map-claims', () => {
  const claims = JSON.parse('{"a":{"b":"x","n":null},"https://x":1,"zero":0,"no":false,"__proto__":{"p":1}}') as Record<
    string,
    unknown
  >;
  const map = (mapping: object) => outcome(() => mapClaims({ out: mapping }, { claims }));
  it.each<[object, unknown]>([
    [{ mapFrom: 'claims.a.b' }, { out: 'x' }],
    [{ mapFrom: "claims['https://x']" }, { out: 1 }],
    [{ mapFrom: 'claims.zero', defaultValue: 7 }, { out: 0 }],
    [{ mapFrom: 'claims.no', required: true }, { out: false }],
    [{ mapFrom: 'claims.missing' }, {}],
    [{ mapFrom: 'claims.missing', defaultValue: 7 }, { out: 7 }],
    [{ mapFrom: 'claims.a.n', defaultValue: 7 }, { out: 7 }],
    [{ mapFrom: 'claims.a.b.length' }, {}],
    [{ mapFrom: 'claims.toString' }, {}],
    [{ mapFrom: 'claims.constructor.name' }, {}],
    [{ mapFrom: 'authenticationProvider.subjectId', defaultValue: 7 }, { out: 7 }],
    [{ defaultValue: [1], required: true }, { out: [1] }],
    [{ mapFrom: 'claims.missing', required: true }, ['credential_request_denied', 'map-claims']],
    [{ mapFrom: 'claims.a.n', required: true }, ['credential_request_denied', 'map-claims']],
  ])('%j', (mapping, expected) => expect(map(mapping)).toEqual(expected));

  it.each<[string, object, object | undefined, string]>([
    ['claims.b', {}, undefined, ''],
    ['claims.b', {}, { requested: true }, ': neither the ID token nor UserInfo has it'],
    [
      'claims.b',
      {},
      { requested: true, failure: 'the answer had status 500' },
      ': the ID token does not have it, and UserInfo failed: the answer had status 500',
    ],
    [
      'claims.b',
      {},
      { requested: false },
      ': the ID token does not have it, and UserInfo was not requested in the sign-in',
    ],
    [
      'claims.b',
      { b: null },
      { requested: false },
      ': claims.b is null, so the provider has no value for it, or one that cannot be used',
    ],
    ['claims.b.c', { b: {} }, { requested: true }, ': claims.b has no value at claims.b.c'],
    ['claims.b.c', {}, { requested: true }, ': neither the ID token nor UserInfo has it'],
    ['authenticationProvider.url', {}, { requested: true }, ''],
  ])('a required claim from %s of %j names what lacks it: %j [T642]', (mapFrom, own, userInfo, detail) =>
    expect(
      descriptionOf(() =>
        mapClaims(
          { out: { mapFrom, required: true } },
          { claims: own as never, ...(userInfo && { userInfo: userInfo as never }) },
        ),
      ),
    ).toBe(`the required claim out has no value${detail}`),
  );

  it.each([...Object.getOwnPropertyNames(Object.prototype), 'prototype'].filter((name) => name !== '__proto__'))(
    'reads only own members: %s as claim, mapping, path and absent [T609]',
    (name) => {
      const own = { [name]: { [name]: 'x' } };
      for (const mapFrom of [`claims.${name}`, `claims.${name}.${name}`]) {
        expect(mapClaims({ [name]: { mapFrom } }, { claims: {} })).toEqual({});
        expect(mapClaims({ [name]: { mapFrom, defaultValue: 1 } }, { claims: { other: {} } })).toEqual({ [name]: 1 });
        expect(JSON.stringify(mapClaims({ [name]: { mapFrom, required: true } }, { claims: own }))).toBe(
          JSON.stringify({ [name]: mapFrom === `claims.${name}` ? { [name]: 'x' } : 'x' }),
        );
        expect(outcome(() => mapClaims({ [name]: { mapFrom, required: true } }, { claims: {} }))).toEqual([
          'credential_request_denied',
          'map-claims',
        ]);
      }
    },
  );

  it('reads own members __proto__ and constructor as members like any other', () => {
    const claims = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}') as object;
    const mapping = { out: { mapFrom: 'claims.prototype' }, admin: { mapFrom: 'claims.admin' } };
    expect(mapClaims(mapping, { claims: { ...claims } })).toEqual({});
  });
});

describe('add-duration', () => {
  it.each([
    ['2026-01-31T10:00:00Z', { months: 1 }, '2026-02-28T10:00:00.000Z'],
    ['2024-02-29T10:00:00Z', { years: 1 }, '2025-02-28T10:00:00.000Z'],
    [
      '2026-05-01T10:00:00Z',
      { years: 1, months: 13, weeks: 1, days: 1, hours: 1, minutes: 1, seconds: 1 },
      '2028-06-09T11:01:01.000Z',
    ],
    ['2026-05-01T10:00:00Z', { years: 9000 }, '9999-12-31T23:59:59.000Z'],
  ])('%s and %j', (from, duration, end) => expect(addDuration(new Date(from), duration).toISOString()).toBe(end));
});
