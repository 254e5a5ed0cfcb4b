import { generateKeyPairSync, webcrypto, type KeyObject } from 'node:crypto';
import { BasicConstraintsExtension, cryptoProvider, X509CertificateGenerator } from '@peculiar/x509';
import { exportJWK, SignJWT, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { readTrustAnchor, type ParsedCertificate } from '@attestry/certificates';
import { jwkThumbprint, type PublicJwk } from '@attestry/keys';
import { InvalidClientAttestation, verifyAttestationPop, verifyClientAttestation } from './client-attestation.js';

cryptoProvider.set(webcrypto as unknown as Crypto);
const NOW = new Date('2026-06-01T12:00:00Z');
const SECONDS = NOW.getTime() / 1000;
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const newKeys = async () =>
  (await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;

let anchor: ParsedCertificate;
let attester: webcrypto.CryptoKeyPair;
let x5c: string[];
const instance = generateKeyPairSync('ec', { namedCurve: 'P-256' });
let instanceJwk: PublicJwk;

beforeAll(async () => {
  const root = await newKeys();
  attester = await newKeys();
  const times = { notBefore: new Date('2026-01-01T00:00:00Z'), notAfter: new Date('2027-01-01T00:00:00Z') };
  const certificate = (subject: string, publicKey: CryptoKey, ca?: true) =>
    X509CertificateGenerator.create({
      ...{ subject, issuer: 'CN=Root', publicKey, signingKey: root.privateKey, signingAlgorithm: ECDSA, ...times },
      extensions: ca ? [new BasicConstraintsExtension(true, undefined, true)] : [],
    });
  anchor = readTrustAnchor((await certificate('CN=Root', root.publicKey, true)).toString('pem'));
  x5c = [Buffer.from((await certificate('CN=Attester', attester.publicKey)).rawData).toString('base64')];
  instanceJwk = (await exportJWK(instance.publicKey)) as PublicJwk;
});

const attestation = (
  claims: JWTPayload = {},
  header: Partial<JWTHeaderParameters> = {},
  key: CryptoKey | KeyObject = attester.privateKey,
) =>
  new SignJWT({ sub: 'wallet', exp: SECONDS + 60, cnf: { jwk: instanceJwk }, ...claims })
    .setProtectedHeader({ typ: 'oauth-client-attestation+jwt', alg: 'ES256', x5c, ...header })
    .sign(key);
const verify = async (jwt: string | Promise<string>, clientId = 'wallet') =>
  verifyClientAttestation(await jwt, { clientId, anchors: [anchor], now: NOW });
const refusalOf = async (attempt: Promise<unknown>): Promise<[string, string]> => {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof InvalidClientAttestation) return [error.code, error.message];
    throw error;
  }
  throw new Error('it was not refused');
};

describe('a client attestation', () => {
  it('names the key of the wallet instance', async () => {
    const jkt = jwkThumbprint(instanceJwk);
    expect((await verify(attestation())).jkt).toBe(jkt);
    expect((await verify(attestation({ iat: SECONDS - 29 * 86_400, nbf: SECONDS, wallet_name: 'W' }))).jkt).toBe(jkt);
  });

  it.each<[string, () => Promise<string>, string]>([
    ['no JWS', () => Promise.resolve('a.b'), 'must be a compact JWS'],
    ['two headers', async () => `${await attestation()}, ${await attestation()}`, 'must be a compact JWS'],
    ['too many characters', () => attestation({ x: 'x'.repeat(16_384) }), 'must have at most 16384 characters'],
    ['another type [T344]', () => attestation({}, { typ: 'JWT' }), 'typ must be oauth-client-attestation+jwt'],
    [
      'another algorithm [T345]',
      () => attestation({}, { alg: 'ES384' }, generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
      'alg must be ES256',
    ],
    [
      'critical parameters',
      () => attestation({}, { crit: ['b64'], b64: true }),
      'critical header parameters are not supported',
    ],
    ['another client [T347]', () => attestation({ sub: 'other' }), 'sub must be the client_id of the request'],
    ['no client [T347]', () => attestation({ sub: undefined }), 'sub must be the client_id of the request'],
    ['no end [T348]', () => attestation({ exp: undefined }), 'exp is missing'],
    ['its end [T348]', () => attestation({ exp: SECONDS }), 'exp has passed'],
    ['a later beginning', () => attestation({ nbf: SECONDS + 61 }), 'nbf has not been reached'],
    ['the future [T348]', () => attestation({ iat: SECONDS + 61 }), 'iat must not be in the future'],
    ['no key [T349]', () => attestation({ cnf: {} }), 'cnf.jwk must be a public P-256 key without private members'],
    ['no chain [T346]', () => attestation({}, { x5c: undefined }), 'x5c must be an array of base64 certificates'],
    ['an empty chain [T346]', () => attestation({}, { x5c: [] }), 'x5c must have 1 to 5 certificates'],
    ['another key [T346]', () => attestation({}, {}, instance.privateKey), 'the signature is invalid'],
  ])('with %s is refused', async (_, make, fault) => {
    expect(await refusalOf(verify(make()))).toEqual(['invalid_client', `client attestation: ${fault}`]);
  });

  it('with a private key of the instance is refused [T349]', async () => {
    const jwk = await exportJWK(instance.privateKey);
    expect(await refusalOf(verify(attestation({ cnf: { jwk } })))).toEqual([
      'invalid_client',
      'client attestation: cnf.jwk must be a public P-256 key without private members',
    ]);
  });

  it('must be replaced after 30 days [T348]', async () =>
    expect(await refusalOf(verify(attestation({ iat: SECONDS - 30 * 86_400 - 1 })))).toEqual([
      'use_fresh_attestation',
      'client attestation: iat must be at most 30 days ago',
    ]));

  it('needs a root of the wallet that it names [T346]', async () => {
    const attempt = verifyClientAttestation(await attestation(), { clientId: 'wallet', anchors: [], now: NOW });
    expect(await refusalOf(attempt)).toEqual([
      'invalid_client',
      'client attestation: x5c must be issued by a configured root certificate that is valid',
    ]);
  });
});

describe('its proof of possession', () => {
  const audiences = ['https://acme.example', 'acme.example'];
  const pop = (claims: JWTPayload = {}, header: Partial<JWTHeaderParameters> = {}, key = instance.privateKey) =>
    new SignJWT({ aud: audiences[0], jti: 'j1', iat: SECONDS, ...claims })
      .setProtectedHeader({ typ: 'oauth-client-attestation-pop+jwt', alg: 'ES256', ...header })
      .sign(key);
  const verifyPop = async (jwt: Promise<string>) => {
    const proven = await verify(attestation());
    return verifyAttestationPop(await jwt, { instance: proven, audiences, now: NOW });
  };

  it('is for this issuer, by its identifier or its host, and names its single use', async () => {
    const accepted = { jti: 'j1', expiresAt: new Date((SECONDS + 301) * 1000) };
    expect(await verifyPop(pop())).toEqual(accepted);
    // A URL type writes the slash [T742].
    expect(await verifyPop(pop({ aud: `${audiences[0]}/` }))).toEqual(accepted);
    expect(await verifyPop(pop({ aud: ['acme.example'], challenge: 'c', iat: SECONDS - 300 }))).toEqual({
      ...{ jti: 'j1', challenge: 'c' },
      expiresAt: new Date((SECONDS + 1) * 1000),
    });
  });

  it.each<[string, () => Promise<string>, string]>([
    [
      'another algorithm [T337]',
      () => pop({}, { alg: 'ES384' }, generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
      'alg must be ES256',
    ],
    ['another type [T336]', () => pop({}, { typ: 'dpop+jwt' }), 'typ must be oauth-client-attestation-pop+jwt'],
    [
      'another audience [T338]',
      () => pop({ aud: 'https://other.example' }),
      'aud must be https://acme.example, not https://other.example',
    ],
    [
      'two audiences [T338]',
      () => pop({ aud: audiences }),
      'aud must be https://acme.example, not a value that is no string',
    ],
    ['no id [T339]', () => pop({ jti: undefined }), 'jti must be a string of 1 to 256 characters'],
    ['a long id [T339]', () => pop({ jti: 'x'.repeat(257) }), 'jti must be a string of 1 to 256 characters'],
    ['an old date [T340]', () => pop({ iat: SECONDS - 301 }), 'iat must be within 300 seconds of the current time'],
    ['a late date [T340]', () => pop({ iat: SECONDS + 301 }), 'iat must be within 300 seconds of the current time'],
    ['its end', () => pop({ exp: SECONDS }), 'exp has passed'],
    ['a number as challenge', () => pop({ challenge: 1 }), 'challenge must be a string'],
    [
      'another key [T341]',
      () => pop({}, {}, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
      'the signature is invalid',
    ],
  ])('with %s is refused', async (_, make, fault) => {
    expect(await refusalOf(verifyPop(make()))).toEqual(['invalid_client', `client attestation PoP: ${fault}`]);
  });
});
