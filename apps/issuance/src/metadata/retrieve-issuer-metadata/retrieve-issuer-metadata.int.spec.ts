/** @engines embedded postgres */
import { X509Certificate } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import {
  jwtVcConfigurations,
  retrieveAuthorizationServerMetadata,
  retrieveIssuerCa,
  retrieveJwtVcIssuer,
  retrieveIssuerMetadata,
  retrieveOauthKeys,
  webSemanticConfigurations,
  type HttpAnswer,
} from '@attestry/contracts';
import { CredentialFlow, IssuanceUnderTest } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';

const { TENANT, OTHER, PRE_AUTHORIZED: GRANT } = IssuanceUnderTest;

const service = new CredentialFlow(issuanceService);
const { admin, configureFormat: configure, baseOf: issuerOf, brands } = service;
let jwtVc: string;
let ldpVc: string;

beforeAll(async () => {
  await service.open();
  jwtVc = await configure('jwt_vc_json', 'Course');
  ldpVc = await configure('ldp_vc', 'Course');
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('metadata', () => {
  interface IssuerMetadata extends Record<string, unknown> {
    credential_configurations_supported: Record<string, Record<string, unknown>>;
    credentials_supported: Record<string, unknown>[];
  }
  const answerFor = async (
    headers: Record<string, string> = {},
    { tenantId = TENANT, publicUrl = issuerOf(tenantId) }: { tenantId?: string; publicUrl?: string } = {},
  ) => {
    const raw = { method: 'GET', url: '/.well-known/openid-credential-issuer', headers, text: '' };
    const answer = await service.visit(retrieveIssuerMetadata, { raw }, tenantId, { publicUrl });
    const { headers: sent, body } = (answer as HttpAnswer).$http;
    return { headers: sent, body: body as IssuerMetadata };
  };
  const get = async (...args: Parameters<typeof answerFor>) => (await answerFor(...args)).body;

  it('requested under the custom domain names that domain, and the endpoints of the tenant', async () => {
    const own = await get();
    const branded = await get({}, { publicUrl: 'https://brand.example' });
    expect(branded).toEqual({
      ...own,
      credential_issuer: 'https://brand.example',
      authorization_servers: [issuerOf(TENANT)],
    });
    expect(own).toMatchObject({ authorization_servers: [issuerOf(TENANT)] });
  });

  it('has the brand of the verified custom domain, at the latest a second after it changed', async () => {
    expect(await get()).not.toHaveProperty('display');
    brands.set(TENANT, { name: 'Acme', logoUrl: 'https://acme.example/logo.png' });
    service.ahead += 1000;
    const display = [{ name: 'Acme', logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' } }];
    expect(await get()).toMatchObject({ display });
    expect(await get({}, { publicUrl: 'https://brand.example' })).toMatchObject({ display });
    brands.set(TENANT, { name: 'Acme Ltd', logoUrl: 'https://acme.example/logo.png' });
    service.ahead += 1000;
    expect(await get()).toMatchObject({ display: [{ name: 'Acme Ltd' }] });
    brands.delete(TENANT);
    service.ahead += 1000;
    expect(await get()).not.toHaveProperty('display');
  });

  it('is unsigned for an issuer without a signer, which an unauthenticated read does not make [T167]', async () => {
    const publicUrl = 'https://unverified.example';
    const { headers, body } = await answerFor({ accept: 'application/jwt' }, { publicUrl });
    expect(headers).toEqual({ vary: 'Accept-Language, Accept' });
    expect(body).toMatchObject({ credential_issuer: publicUrl });
    await expect(service.visit(retrieveJwtVcIssuer, {}, TENANT, { publicUrl })).rejects.toThrow('Resource Not Found');
  });

  it('is signed with the key of the issuer when the caller prefers that', async () => {
    const issuer = issuerOf(TENANT);
    const sent = { accept: 'application/jwt', 'accept-language': 'de' };
    const { headers, body } = await answerFor(sent);
    expect(headers).toEqual({ vary: 'Accept-Language, Accept', 'content-type': 'application/jwt' });
    const jws = body as unknown as string;
    const { x5c, ...header } = decodeProtectedHeader(jws);
    expect([header, x5c?.length]).toEqual([{ alg: 'ES256', typ: 'openidvci-issuer-metadata+jwt' }, 1]);
    const certificate = new X509Certificate(Buffer.from(x5c![0]!, 'base64'));
    const { certificates } = await service.visit(retrieveIssuerCa);
    expect(certificate.verify(new X509Certificate(certificates[0]!).publicKey)).toBe(true);
    expect(certificate.subjectAltName).toContain(new URL(issuer).host);
    const { payload } = await jwtVerify(jws, certificate.publicKey, {
      currentDate: new Date(Date.now() + service.ahead),
    });
    expect(payload).toEqual({ ...(await get()), sub: issuer, iat: expect.any(Number) as number });
  });

  it('has the display of each configuration in the languages of the caller', async () => {
    const [en, de] = [
      { locale: 'en', name: 'Course' },
      { locale: 'de', name: 'Kurs', background_color: '#a1b2c3' },
    ];
    const names = [
      { name: 'Vorname', locale: 'de' },
      { name: 'Given name', locale: 'en' },
    ];
    const configured = await configure('ldp_vc', 'Multilingual', {
      display: [en, de],
      claimMappings: { givenName: { mapFrom: 'claims.given_name', display: names } },
    });
    const logo = { uri: 'https://acme.example/logo.png', alt_text: 'Acme' };
    const shown = async (headers: Record<string, string>) => {
      const answer = await answerFor(headers);
      const { credential_metadata: shown } = answer.body.credential_configurations_supported[configured]!;
      const legacy = answer.body.credentials_supported.find(({ id }) => id === configured)!;
      expect(legacy['display']).toEqual((shown as { display: unknown }).display);
      return { headers: answer.headers, shown, credentialSubject: legacy['credentialSubject'] };
    };
    expect(await shown({})).toEqual({
      headers: { vary: 'Accept-Language, Accept' },
      shown: {
        display: [
          { ...en, logo },
          { ...de, logo },
        ],
        claims: [{ path: ['credentialSubject', 'givenName'], mandatory: false, display: names }],
      },
      credentialSubject: { givenName: { mandatory: false, display: names } },
    });
    expect(await shown({ 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' })).toEqual({
      headers: { vary: 'Accept-Language, Accept', 'content-language': 'de' },
      shown: {
        display: [{ ...de, logo }],
        claims: [{ path: ['credentialSubject', 'givenName'], mandatory: false, display: [names[0]] }],
      },
      credentialSubject: { givenName: { mandatory: false, display: [names[0]] } },
    });
    expect(await shown({ 'accept-language': 'fr, *' })).toEqual(await shown({}));
    await admin(webSemanticConfigurations.delete, { params: { id: configured } });
  });

  it('describes every configuration, including the newest', async () => {
    const metadata = await get();
    expect(metadata).toMatchObject({
      credential_issuer: issuerOf(TENANT),
      credential_endpoint: `${issuerOf(TENANT)}/v1/openid/credential`,
      nonce_endpoint: `${issuerOf(TENANT)}/v1/openid/nonce`,
      batch_credential_issuance: { batch_size: 10 },
    });
    expect(metadata.credential_configurations_supported[jwtVc]).toEqual({
      format: 'jwt_vc_json',
      id: jwtVc,
      scope: 'jwt_vc_json:Course',
      credential_definition: { type: ['VerifiableCredential', 'Course'] },
      cryptographic_binding_methods_supported: ['did:key', 'did:jwk', 'jwk'],
      credential_signing_alg_values_supported: ['ES256'],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
      credential_metadata: {
        display: [{ name: 'Course name', logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' } }],
        claims: [
          { path: ['credentialSubject', 'givenName'], mandatory: true },
          { path: ['credentialSubject', 'city'], mandatory: false },
          { path: ['credentialSubject', 'level'], mandatory: false },
          { path: ['credentialSubject', 'nick'], mandatory: false },
        ],
      },
    });
    expect(metadata.credential_configurations_supported[ldpVc]).toMatchObject({
      credential_definition: {
        '@context': ['https://www.w3.org/ns/credentials/v2', service.engines.config.contextUrl],
      },
      credential_signing_alg_values_supported: ['eddsa-rdfc-2022'],
    });
    const added = await configure('jwt_vc_json', 'Added');
    expect(Object.keys((await get()).credential_configurations_supported)).toContain(added);
    await admin(jwtVcConfigurations.delete, { params: { id: added } });
    expect(Object.keys((await get()).credential_configurations_supported)).not.toContain(added);
  });

  it("is the tenant's own", async () => {
    const metadata = await get({}, { tenantId: OTHER });
    expect(metadata['credential_configurations_supported']).toEqual({});
  });

  it('of the authorization server lists the supported features', async () => {
    const metadata = await service.visit(retrieveAuthorizationServerMetadata);
    expect(metadata).toMatchObject({
      issuer: issuerOf(TENANT),
      token_endpoint: `${issuerOf(TENANT)}/v1/oauth/token`,
      jwks_uri: `${issuerOf(TENANT)}/v1/oauth/jwks`,
      grant_types_supported: ['authorization_code', GRANT, 'refresh_token'],
      'pre-authorized_grant_anonymous_access_supported': true,
      scopes_supported: expect.arrayContaining(['jwt_vc_json:Course', 'ldp_vc:Course']) as string[],
    });
    expect(await service.visit(retrieveOauthKeys)).toEqual({ keys: [] });
  });
});
