import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import type { AppError } from '@attestry/contracts';
import type { Streams } from '@attestry/event-store';
import { pooledBytes, type PublicJwk } from '@attestry/keys';
import type { CertifiedSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { describeClaimFault } from '../claim-faults.decisions.js';
import type { UserObject } from '../map-claims.js';
import type { CredentialFacts } from '../format.js';
import { DcSdJwt } from './dc-sd-jwt.js';
import type { SdJwtContent } from './sd-jwt-configuration.decisions.js';

// No test here publishes a type.
const format = new DcSdJwt(undefined as unknown as Streams);
/** The fault of an offer, as it is shown. */
const faultOf = async (...[configuration, from]: [Parameters<typeof format.check>[1], UserObject]) => {
  const fault = await format.check('t1', configuration, from);
  return fault && describeClaimFault(fault);
};
const keyPair = (curve: 'P-256' | 'Ed25519' = 'P-256') => {
  const { privateKey, publicKey } =
    curve === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  return { privateKey, publicKey, jwk: publicKey.export({ format: 'jwk' }) as unknown as PublicJwk };
};
const [issuer, holder] = [keyPair(), keyPair()];
const signer: CertifiedSigner = {
  keyId: 'k',
  algorithm: 'P-256',
  publicJwk: issuer.jwk,
  publicKey: issuer.publicKey,
  sign: (data) => sign('sha256', data, { key: issuer.privateKey, dsaEncoding: 'ieee-p1363' }),
  signAside: () => Promise.reject(new Error('not used')),
  certificate: {
    x5c: ['MIIBleaf'],
    fingerprint: 'f1',
    notBefore: new Date('2026-01-01T10:00:00Z'),
    notAfter: new Date('2130-01-01T10:00:00Z'),
  },
};
const content: SdJwtContent = {
  name: 'Course',
  description: 'What was learned',
  issuer: { name: 'Acme', logoUrl: 'https://acme.example/logo.png' },
  vct: 'https://acme.example/v1/openid/types/Course/1',
  vctIntegrity: 'sha256-x',
  claimMappings: {
    given_name: { mapFrom: 'claims.given_name', required: true },
    level: { mapFrom: 'claims.level' },
    address: { mapFrom: 'claims.address' },
  },
  expiresIn: { years: 100 },
};
const facts = (
  more: Partial<CredentialFacts<SdJwtContent>> = {},
  changed: Partial<SdJwtContent> = {},
): CredentialFacts<SdJwtContent> => ({
  credentialId: '11111111-1111-4111-8111-111111111111',
  holder: { did: 'did:example:holder', publicJwk: holder.jwk },
  claims: { given_name: 'Ada', address: { country: 'GB', lines: ['a', 'b'] } },
  issuer: 'https://acme.example',
  signer,
  time: new Date('2026-05-01T10:20:30.999Z'),
  random: pooledBytes,
  configuration: {
    status: 'active',
    id: 'c1',
    format: 'dc+sd-jwt',
    type: 'Course',
    content: { ...content, ...changed },
    createdAt: '2026-01-01T00:00:00.000Z',
    version: 1,
  },
  ...more,
});
const issue = async (one = facts()): Promise<string> => (await format.sign('t1', [format.prepare(one)], signer))[0]!;
const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
const library = new SDJwtVcInstance({
  hasher: (data, algorithm) =>
    createHash(algorithm.replace('-', ''))
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest(),
  hashAlg: 'sha-256',
  saltGenerator: () => 'unused',
  verifier: (data, signature) =>
    verify(
      'sha256',
      Buffer.from(data),
      { key: issuer.publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    ),
});
const refusal = (one: CredentialFacts<SdJwtContent>): [string, string, string | undefined] => {
  try {
    format.prepare(one);
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
  throw new Error('it was not refused');
};
const CHECK = 'formats/dc-sd-jwt';

describe('dc+sd-jwt', () => {
  it('refers to the status list, also when the holder discloses nothing', () => {
    const status = { uri: 'https://acme.example/v2/credentials/status-lists/1/token', index: 7 };
    const payloadOf = (one: CredentialFacts<SdJwtContent>) =>
      decoded(format.prepare(one).signingInput.split('.')[1]!) as Record<string, unknown>;
    expect(payloadOf(facts({ status }))['status']).toEqual({ status_list: { idx: 7, uri: status.uri } });
    expect(payloadOf(facts())).not.toHaveProperty('status');
  });

  it('is signed by the issuer signer, named by its certificate alone [T741], as an independent library verifies it', async () => {
    const credential = await issue();
    const [header, payload] = credential.split('.');
    expect(decoded(header!)).toEqual({
      alg: 'ES256',
      typ: 'dc+sd-jwt',
      x5c: ['MIIBleaf'],
    });
    expect(decoded(payload!)).toEqual({
      iss: 'https://acme.example',
      iat: Date.parse('2026-05-01T10:00:00Z') / 1000,
      nbf: Date.parse('2026-05-01T10:00:00Z') / 1000,
      exp: Date.parse('2126-05-01T00:00:00Z') / 1000,
      vct: content.vct,
      'vct#integrity': 'sha256-x',
      cnf: { jwk: holder.jwk },
      _sd: expect.arrayContaining([expect.any(String)]),
      _sd_alg: 'sha-256',
    });
    // One digest for each mapped claim, also of the one without a value.
    expect((decoded(payload!) as { _sd: string[] })._sd).toHaveLength(3);
    expect((await library.verify(credential)).payload).toMatchObject({
      given_name: 'Ada',
      address: { country: 'GB', lines: ['a', 'b'] },
    });
    expect(credential.split('~').slice(1, -1)).toHaveLength(6);
  });

  it('is prepared from its facts alone', () => {
    const random = (length: number) => Buffer.alloc(length, 7);
    const [one, other] = [
      format.prepare(facts({ random })),
      new DcSdJwt(undefined as never).prepare(facts({ random })),
    ];
    expect(one).toEqual(other);
    expect(one).toMatchObject({
      credentialId: facts().credentialId,
      holderKey: holder.jwk,
      validFrom: new Date('2026-05-01T10:00:00Z'),
      validUntil: new Date('2126-05-01T00:00:00Z'),
    });
    expect(format.prepare(facts())).not.toEqual(one);
  });

  it('has neither an end nor the digest of a type that it does not have', async () => {
    const [, payload] = (await issue(facts({}, { expiresIn: undefined, vctIntegrity: undefined }))).split('.');
    expect(decoded(payload!)).not.toHaveProperty('exp');
    expect(decoded(payload!)).not.toHaveProperty('vct#integrity');
  });

  it('begins no earlier than the certificate of its signer', async () => {
    const notBefore = new Date('2026-05-01T10:10:00Z');
    const certified = { ...signer, certificate: { ...signer.certificate, notBefore } };
    const [, payload] = (await issue(facts({ signer: certified }))).split('.');
    expect(decoded(payload!)).toMatchObject({ iat: notBefore.getTime() / 1000, nbf: notBefore.getTime() / 1000 });
  });

  it('is denied beyond the certificate of its signer, and never shortened', () => {
    expect(refusal(facts({}, { expiresIn: { years: 104 } }))).toEqual([
      'credential_request_denied',
      'validUntil must not be later than the end of the certificate of the signer',
      CHECK,
    ]);
    expect(refusal(facts({ time: new Date('2130-01-01T10:00:00Z') }))).toEqual([
      'credential_request_denied',
      'the certificate of the signer is not valid at this time',
      CHECK,
    ]);
  });

  it('is denied when the claims of the user cannot be disclosed; their values are not shown', () =>
    expect(refusal(facts({ claims: { address: { _sd: ['canary'] } } }))).toEqual([
      'credential_request_denied',
      'address must not have a member with the reserved name _sd, which has a meaning of its own in an SD-JWT',
      CHECK,
    ]));

  it('needs a signer with a certificate', () => {
    const { certificate: _, ...key } = signer;
    expect(() => format.prepare(facts({ signer: key }))).toThrow('key k has no certificate');
  });

  it('refuses an offer whose claims can never be disclosed', async () => {
    const { configuration } = facts();
    expect(await faultOf(configuration, { claims: { given_name: 'Ada', unused: { _sd: [] } } })).toBeUndefined();
    expect(await faultOf(configuration, { claims: { address: { _sd: [] } } })).toBe(
      'address must not have a member with the reserved name _sd, which has a meaning of its own in an SD-JWT',
    );
  });

  it('is described in the issuer metadata', () => {
    const { configuration } = facts();
    expect(format.metadataOf(configuration)).toEqual({
      supported: {
        vct: content.vct,
        cryptographic_binding_methods_supported: ['jwk'],
        credential_signing_alg_values_supported: ['ES256'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
        credential_metadata: {
          display: [
            {
              name: 'Course',
              logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' },
              description: 'What was learned',
            },
          ],
          claims: [
            { path: ['given_name'], mandatory: true },
            { path: ['level'], mandatory: false },
            { path: ['address'], mandatory: false },
          ],
        },
      },
      legacy: {
        vct: content.vct,
        cryptographic_binding_methods_supported: ['jwk'],
        cryptographic_suites_supported: ['ES256'],
        display: [expect.objectContaining({ name: 'Course' })],
      },
    });
    const display = [{ locale: 'DE', name: 'Kurs' }];
    const localized = format.metadataOf({ ...configuration, content: { ...content, display } });
    const logo = { uri: 'https://acme.example/logo.png', alt_text: 'Acme' };
    const shown = [{ name: 'Kurs', locale: 'de', logo, description: 'What was learned' }];
    expect(localized).toMatchObject({
      supported: { credential_metadata: { display: shown } },
      legacy: { display: shown },
    });
    const bare = { ...configuration, content: { ...content, claimMappings: {} } };
    expect(format.metadataOf(bare).supported['credential_metadata']).not.toHaveProperty('claims');
  });
});
