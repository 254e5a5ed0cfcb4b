import { generateKeyPairSync, sign } from 'node:crypto';
import { CredentialRequest, type AppError, type RawRequest } from '@attestry/contracts';
import type { PublicJwk } from '@attestry/keys';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { encryptionPolicy } from '../../settings/openid-settings/openid-settings.decisions.js';
import { mapClaims } from '../../formats/map-claims.js';
import { makeNonce, verifyNonce } from '../../wallets/nonce/nonce.js';
import { checkAccessTokenLocation } from '../../token/access-token/check-access-token-location.js';
import { checkConfiguration } from './check-configuration.js';
import { checkContentType } from '../message-encryption/check-content-type.js';
import { checkDistinctKeys } from './check-distinct-keys.js';
import { checkIssuanceLimit } from '../credential-issuer/check-issuance-limit.js';
import { checkIssuerDomain } from '../../issuer/issuer-domain/check-issuer-domain.js';
import { checkNonce } from './check-nonce.js';
import { parseCredentialRequest } from './parse-credential-request.js';
import { verifyJwtProof, type VerifiedProof } from './verify-jwt-proof.js';

/** Code, `error_description` and check of the refusal. */
const refusal = async (run: () => unknown): Promise<unknown> => {
  try {
    return await run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
};
const raw = (headers: Record<string, string>, url = '/'): RawRequest => ({ method: 'POST', url, headers, text: '' });
const [C1, C2] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
const session = {
  status: 'redeemed',
  id: 's1',
  entries: [{ credentialConfigurationId: C1, scope: 's' }],
  issued: {},
  accessToken: {},
} as unknown as RedeemedSession;
const configuration = (id: string) =>
  ({ id, content: { maxIssuances: 0 }, issuerKey: { did: 'did:web:lost.example' } }) as ActiveConfiguration;
const now = new Date('2026-05-01T10:00:00Z');
const macs = {
  mac: () => ({ pepper: 'p1', mac: 'm'.repeat(43) }),
  verifyMac: (_text: string, { mac }: { mac: string }) => mac === 'm'.repeat(43),
};
const nonce = makeNonce(macs, 't1', now);

describe('refusals of the credential endpoint', () => {
  it('name the content type', async () => {
    expect(await refusal(() => checkContentType(raw({})))).toEqual([
      'invalid_credential_request',
      'the content type must be application/json, or application/jwt for an encrypted request',
      'check-content-type',
    ]);
  });

  it('name the place of the access token', async () => {
    const authorization = 'Bearer abc';
    const at = 'check-access-token-location';
    expect(await refusal(() => checkAccessTokenLocation(raw({ authorization }, '/?access_token=abc')))).toEqual([
      'invalid_request',
      'the access token must not be in the query string',
      at,
    ]);
    expect(await refusal(() => checkAccessTokenLocation(raw({})))).toEqual([
      'invalid_token',
      'an access token with the scheme Bearer or DPoP is required',
      at,
    ]);
    expect(checkAccessTokenLocation(raw({ authorization }, '/?trace=1'))).toMatchObject({ token: 'abc' });
    expect(checkAccessTokenLocation(raw({ authorization: 'Bearer   abc' }))).toMatchObject({ token: 'abc' });
  });

  it('name the credential configuration that is unknown or not covered', async () => {
    const find = async (_tenantId: string, id: string) =>
      [C1, C2].some((known) => known === id) ? configuration(id) : undefined;
    const check = (selector: Parameters<typeof checkConfiguration>[1]) =>
      refusal(() => checkConfiguration(session, selector, 't1', { find }));
    const at = 'check-configuration';
    expect(await check({ credentialIdentifier: 'i1' })).toEqual([
      'unknown_credential_identifier',
      'credential_identifier is not one that the token response returned',
      at,
    ]);
    expect(await check({ configurationId: 'x' })).toEqual([
      'unknown_credential_configuration',
      'credential_configuration_id is not a credential configuration of this issuer',
      at,
    ]);
    const notCovered = 'the access token does not cover this credential configuration';
    expect(await check({ configurationId: C2 })).toEqual(['insufficient_scope', notCovered, at]);
    await expect(checkConfiguration(session, { configurationId: C2 }, 't1', { find })).rejects.toMatchObject({
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", error_description="${notCovered}"` },
    });
    const bound = { ...session, accessToken: { ...session.accessToken, jkt: 'k' } };
    await expect(checkConfiguration(bound, { configurationId: C2 }, 't1', { find })).rejects.toMatchObject({
      headers: {
        'www-authenticate': `DPoP error="insufficient_scope", error_description="${notCovered}", algs="ES256"`,
      },
    });
  });

  it('name the limit, the withdrawn domain, and the claim without a value', async () => {
    expect(await refusal(() => checkIssuanceLimit(session, configuration(C1), 1, now))).toEqual([
      'credential_request_denied',
      'the credential configuration allows no more credentials for this offer',
      'check-issuance-limit',
    ]);
    const host = { id: 't1', host: 'acme.example' };
    const withdrawn = (isWithdrawn: boolean) => ({
      includes: async (tenantId: string, did: string, ownHost: string) =>
        isWithdrawn && [tenantId, did, ownHost].join(' ') === 't1 did:web:lost.example acme.example',
    });
    expect(await refusal(() => checkIssuerDomain(configuration(C1), undefined, host, withdrawn(true)))).toEqual([
      'credential_request_denied',
      'the domain of the issuer has been withdrawn',
      'check-issuer-domain',
    ]);
    expect(
      await refusal(() => checkIssuerDomain(configuration(C1), undefined, host, withdrawn(false))),
    ).toBeUndefined();
    const lost = 'https://lost.example';
    const includes = async (_tenantId: string, issuer: string) => issuer === lost;
    expect(await refusal(() => checkIssuerDomain({}, lost, host, { includes }))).toEqual([
      'credential_request_denied',
      'the domain of the issuer has been withdrawn',
      'check-issuer-domain',
    ]);
    expect(await refusal(() => checkIssuerDomain({}, 'https://acme.example', host, { includes }))).toBeUndefined();
    expect(await refusal(() => mapClaims({ name: { required: true } }, { claims: {} }))).toEqual([
      'credential_request_denied',
      'the required claim name has no value',
      'map-claims',
    ]);
  });

  it('name the fault of a batch of proofs', async () => {
    const proof = { holder: { publicJwk: { kty: 'OKP', crv: 'Ed25519', x: 'x' } } } as VerifiedProof;
    expect(await refusal(() => checkDistinctKeys([proof, proof]))).toEqual([
      'invalid_proof',
      'each proof must have a different key',
      'check-distinct-keys',
    ]);
    expect(await refusal(() => checkNonce([nonce], 't1', now, macs))).toEqual([
      'invalid_nonce',
      'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
      'check-nonce',
    ]);
  });

  it('allow a configuration id of the greatest length', async () => {
    const most = maxLengthsOf(CredentialRequest).get('credential_configuration_id')!;
    const parse = (length: number) =>
      refusal(() =>
        parseCredentialRequest(
          {
            text: JSON.stringify({ credential_configuration_id: 'x'.repeat(length), proofs: { jwt: ['j'] } }),
            isEncrypted: false,
            policy: encryptionPolicy({}),
          },
          false,
        ),
      );
    expect(await parse(most)).toEqual({
      selector: { configurationId: 'x'.repeat(most) },
      proofs: { type: 'jwt', jwts: ['j'] },
    });
    expect(await parse(most + 1)).toEqual([
      'invalid_credential_request',
      `credential_configuration_id must have at most ${most} characters`,
      'parse-credential-request',
    ]);
  });
});

describe('a c_nonce', () => {
  it('has nothing before or after it', () => {
    expect(verifyNonce(macs, 't1', nonce)).toEqual({ id: nonce.slice(0, nonce.indexOf('.p1.')), expiresAt: now });
    for (const other of [`!${nonce}`, ` ${nonce}`, `${nonce}!`, `${nonce}\n`])
      expect(verifyNonce(macs, 't1', other)).toBeUndefined();
  });
});

describe('a key proof', () => {
  const expected = { issuer: 'https://acme.example', isOtherName: async () => false, now, windowSeconds: 300 };
  const check = (payload: string, { alg, pair, cut = 0 }: { alg: string; pair: typeof ec; cut?: number }) => {
    const jwk = pair.publicKey.export({ format: 'jwk' }) as PublicJwk;
    const header = JSON.stringify({ alg, typ: 'openid4vci-proof+jwt', jwk });
    const input = [header, payload].map((part) => Buffer.from(part).toString('base64url')).join('.');
    const signature =
      alg === 'ES256'
        ? sign('sha256', Buffer.from(input), { key: pair.privateKey, dsaEncoding: 'ieee-p1363' })
        : sign(null, Buffer.from(input), pair.privateKey);
    const jwt = `${input}.${signature.subarray(0, 64 - cut).toString('base64url')}`;
    return refusal(async () => (await verifyJwtProof(jwt, expected)).nonce);
  };
  const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ed = generateKeyPairSync('ed25519');
  const payload = JSON.stringify({ aud: 'https://acme.example', iat: now.getTime() / 1000, nonce: 'n' });

  it.each([
    ['ES256', ec],
    ['EdDSA', ed],
  ])('with %s has a signature of 64 bytes', async (alg, pair) => {
    expect(await check(payload, { alg, pair })).toBe('n');
    for (const cut of [1, 32, 63])
      expect(await check(payload, { alg, pair, cut })).toEqual([
        'invalid_proof',
        'proof: the signature is invalid',
        'verify-jwt-proof',
      ]);
  });

  it('has a finite iat', async () =>
    expect(await check('{"aud":"https://acme.example","iat":1e999,"nonce":"n"}', { alg: 'ES256', pair: ec })).toEqual([
      'invalid_proof',
      'proof: iat is missing',
      'verify-jwt-proof',
    ]));
});
