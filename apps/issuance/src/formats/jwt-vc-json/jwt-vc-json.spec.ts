import { generateKeyPairSync, sign } from 'node:crypto';
import { decodeJwt, jwtVerify } from 'jose';
import type { PublicJwk, Signer } from '@attestry/keys';
import type { PinnedFacts } from '../format.js';
import type { VcContent } from '../vc-configuration.decisions.js';
import { JwtVcJson } from './jwt-vc-json.js';

const format = new JwtVcJson();
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicJwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
const signer = { sign: (data: Uint8Array) => sign(null, data, privateKey) } as unknown as Signer;
const [did, verificationMethod] = ['did:web:acme.example', 'did:web:acme.example#k1'];
const facts: PinnedFacts<VcContent> = {
  issuer: 'https://acme.example',
  signer,
  random: Buffer.alloc,
  credentialId: '11111111-1111-4111-8111-111111111111',
  holder: { did: 'did:example:holder', publicJwk },
  claims: { given_name: 'Ada' },
  time: new Date('2020-05-01T10:00:00.999Z'),
  configuration: {
    status: 'active',
    id: 'c1',
    format: 'jwt_vc_json',
    type: 'Course',
    issuerKey: { did, verificationMethod, kmsKeyId: 'k', algorithm: 'Ed25519' },
    content: {
      additionalTypes: ['Award'],
      name: 'Course',
      issuer: { name: 'Acme' },
      claimMappings: { given_name: { mapFrom: 'claims.given_name', required: true } },
      expiresIn: { years: 100 },
      contexts: [],
    },
    createdAt: '2026-01-01T00:00:00.000Z',
    version: 1,
  },
};

describe('jwt_vc_json', () => {
  it('is prepared from its facts alone', () => {
    expect(format.prepare(facts)).toEqual(
      new JwtVcJson().prepare({
        ...structuredClone({ ...facts, signer: undefined, random: undefined }),
        signer,
        random: facts.random,
      }),
    );
    expect(format.prepare(facts)).toMatchObject({
      credentialId: facts.credentialId,
      holderKey: publicJwk,
      validFrom: new Date('2020-05-01T10:00:00Z'),
      validUntil: new Date('2120-05-01T10:00:00Z'),
    });
  });

  it('has the members of VCDM 1.1 as a JWT, and is verified by an independent library', async () => {
    const [signed] = await format.sign('t1', [format.prepare(facts)], signer);
    const { protectedHeader } = await jwtVerify(signed!, publicKey);
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: verificationMethod });
    const id = `urn:uuid:${facts.credentialId}`;
    const [from, until] = ['2020-05-01T10:00:00Z', '2120-05-01T10:00:00Z'];
    expect(decodeJwt(signed!)).toEqual({
      iss: did,
      sub: 'did:example:holder',
      nbf: Date.parse(from) / 1000,
      iat: Date.parse(from) / 1000,
      exp: Date.parse(until) / 1000,
      jti: id,
      vc: {
        '@context': ['https://www.w3.org/2018/credentials/v1'],
        id,
        type: ['VerifiableCredential', 'Course', 'Award'],
        issuer: { id: did, name: 'Acme' },
        issuanceDate: from,
        expirationDate: until,
        credentialSubject: { given_name: 'Ada', id: 'did:example:holder' },
        name: 'Course',
      },
    });
  });

  it('refers to the status list', async () => {
    const status = { uri: 'https://acme.example/v2/credentials/status-lists/1/token', index: 7 };
    const [signed] = await format.sign('t1', [format.prepare({ ...facts, status })], signer);
    expect(decodeJwt(signed!)['status']).toEqual({ status_list: { idx: 7, uri: status.uri } });
  });

  it('denies issuance without a required claim', () => {
    expect(format.mapClaims(facts.configuration, { claims: { given_name: 'Ada' } })).toEqual({ given_name: 'Ada' });
    expect(() => format.mapClaims(facts.configuration, { claims: {} })).toThrow(
      expect.objectContaining({ code: 'credential_request_denied' }),
    );
  });

  it('describes itself in the metadata of both versions', () => {
    const definition = { type: ['VerifiableCredential', 'Course', 'Award'] };
    const binding = { cryptographic_binding_methods_supported: ['did:key', 'did:jwk', 'jwk'] };
    expect(format.metadataOf(facts.configuration)).toEqual({
      supported: {
        credential_definition: definition,
        ...binding,
        credential_signing_alg_values_supported: ['EdDSA'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
        credential_metadata: {
          display: [{ name: 'Course' }],
          claims: [{ path: ['credentialSubject', 'given_name'], mandatory: true }],
        },
      },
      legacy: {
        ...definition,
        credentialSubject: { given_name: { mandatory: true } },
        ...binding,
        cryptographic_suites_supported: ['EdDSA'],
        display: [{ name: 'Course' }],
      },
    });
  });

  it('announces what wallets display, in each language', () => {
    const { content } = facts.configuration;
    const claimMappings = {
      given_name: { mapFrom: 'claims.given_name', display: [{ name: 'Vorname', locale: 'de-at' }, { name: 'Name' }] },
      level: { defaultValue: 1 },
    };
    const { supported, legacy } = format.metadataOf({
      ...facts.configuration,
      content: {
        ...content,
        issuer: { name: 'Acme', logoUrl: 'https://acme.example/l.png' },
        credentialBranding: { backgroundColor: '#a1b2c3' },
        display: [{}, { locale: 'DE', name: 'Kurs', background_color: '#000000', text_color: '#ffffff' }],
        claimMappings,
      },
    });
    const logo = { uri: 'https://acme.example/l.png', alt_text: 'Acme' };
    const display = [
      { name: 'Course', logo, background_color: '#a1b2c3' },
      { name: 'Kurs', locale: 'de', logo, background_color: '#000000', text_color: '#ffffff' },
    ];
    const names = [{ name: 'Vorname', locale: 'de-AT' }, { name: 'Name' }];
    expect(supported['credential_metadata']).toEqual({
      display,
      claims: [
        { path: ['credentialSubject', 'given_name'], mandatory: false, display: names },
        { path: ['credentialSubject', 'level'], mandatory: false },
      ],
    });
    expect(legacy).toMatchObject({
      display,
      credentialSubject: { given_name: { mandatory: false, display: names }, level: { mandatory: false } },
    });
  });
});
