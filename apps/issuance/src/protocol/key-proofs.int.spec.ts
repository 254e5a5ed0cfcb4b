/** @engines embedded postgres */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AppError,
  CONFIGURATION_OPERATIONS,
  createPreAuthorizedOffer,
  exchangeToken,
  issueCredential,
  issueNonce,
  reserveIssuerKey,
  retrieveIssuerMetadata,
  type Caller,
  type ConfigurationOperations,
  type CredentialFormat,
  type CredentialResponse,
  type HttpAnswer,
  type KeyRequirements,
  type NonceResponse,
  type PreAuthorizedOffer,
} from '@attestry/contracts';
import { encodeDidJwk, type PublicJwk } from '@attestry/keys';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RequestOf,
  type RunningServices,
} from '@attestry/service-kit';
import { chosenEngines, TEST_SETTINGS, WalletProvider } from '@attestry/testing';
import { decodeJwt, SignJWT, type JWK, type JWTHeaderParameters } from 'jose';
import { issuanceService } from '../index.js';

const TENANT = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
const FORMATS = Object.keys(CONFIGURATION_OPERATIONS) as CredentialFormat[];
const baseOf = (tenantId: string) => `http://${tenantId.slice(0, 4)}.localhost:8080`;

let folder: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;
let attester: WalletProvider;
let otherAttester: WalletProvider;
/** As they are stored. */
let root: string;
let otherRoot: string;
/** Milliseconds the clock is ahead. */
let ahead = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'key-proofs-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: folder, BASE_DOMAIN: 'localhost:8080' });
  engines = await chosenEngines(await openEngines(config, { clock: { now: () => new Date(Date.now() + ahead) } }));
  engines.bus.serve(reserveIssuerKey.subject, async (data, { tenant }) => {
    const { id } = JSON.parse(tenant!) as { id: string };
    const [algorithm] = (data as RequestOf<typeof reserveIssuerKey>).body.algorithms;
    const { keyId } = await engines.vault.signingKeys.ensureSigningKey(id, 'did', algorithm!);
    const did = 'did:web:acme.example';
    return { ok: true, data: { did, verificationMethod: `${did}#k123456789`, kmsKeyId: keyId, algorithm } };
  });
  services = await startServices([issuanceService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
  [attester, otherAttester] = await Promise.all([WalletProvider.create(), WalletProvider.create()]);
  [root, otherRoot] = [attester, otherAttester].map(({ rootCertificate }) => `${rootCertificate}\n`) as [
    string,
    string,
  ];
});
afterEach(() => {
  ahead = 0;
});
afterAll(async () => {
  await services?.close();
  await engines?.close();
  rmSync(folder, { recursive: true, force: true });
});

let requests = 0;
const contextOf = (operation: string, caller: Caller, tenantId: string) => ({
  tenant: { id: tenantId, host: baseOf(tenantId).slice(7), baseUrl: baseOf(tenantId) },
  caller,
  requestId: `request-${++requests}`,
  operation,
  deadline: Date.now() + 20_000,
  publicUrl: baseOf(tenantId),
});
const call = <T>(
  operation: Parameters<ServiceClient['call']>[0],
  request: object,
  caller: Caller,
  tenantId = TENANT,
): Promise<T> =>
  client.call(operation, request as never, contextOf(operation.name, caller, tenantId) as never) as Promise<T>;
const admin = <T>(operation: Parameters<ServiceClient['call']>[0], request: object, tenantId = TENANT): Promise<T> =>
  call(operation, request, { kind: 'client', clientId: 'c' }, tenantId);
const post = <T>(
  operation: Parameters<ServiceClient['call']>[0],
  text: string,
  headers: Record<string, string>,
  tenantId = TENANT,
): Promise<T> =>
  call(
    operation,
    { raw: { method: 'POST', url: '/', headers, text } },
    { kind: operation.access.kind === 'public' ? 'public' : 'holder' } as Caller,
    tenantId,
  );
const refusalOf = async (attempt: Promise<unknown>): Promise<AppError> => {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

// --- the issuer

type Configured = KeyRequirements & { id: string; type: string };
const bodyOf = ({ create }: ConfigurationOperations, more: object) => ({ ...(create.example as object), ...more });
const configure = (format: CredentialFormat, more: KeyRequirements & { type: string }, tenantId = TENANT) => {
  const operations = CONFIGURATION_OPERATIONS[format];
  return admin<Configured>(operations.create, { body: bodyOf(operations, more) }, tenantId);
};
const proofTypesOf = async (id: string) => {
  const answer = await call<{ $http: { body: object } }>(
    retrieveIssuerMetadata,
    { raw: { headers: {} } },
    { kind: 'public' },
  );
  const metadata = answer.$http.body as {
    credential_configurations_supported: Record<string, Record<string, unknown>>;
  };
  return metadata.credential_configurations_supported[id]!['proof_types_supported'];
};

describe.each(FORMATS)('a configuration of the format %s', (format) => {
  const algorithms = format === 'dc+sd-jwt' || format === 'mso_mdoc' ? ['ES256'] : ['ES256', 'EdDSA'];
  const proof_signing_alg_values_supported = algorithms;

  it('requires key attestations, and announces that [T380] [T381]', async () => {
    const type = `Attested${FORMATS.indexOf(format)}`;
    const operations = CONFIGURATION_OPERATIONS[format];
    const keyAttestation = {
      keyStorage: ['iso_18045_high', 'https://ecosystem.example/level'],
      userAuthentication: ['iso_18045_enhanced-basic'],
      rootCertificates: [root],
    };
    const proofRootCertificates = [otherRoot];
    const created = await configure(format, { type, keyAttestation, proofRootCertificates });
    expect(created).toMatchObject({ keyAttestation, proofRootCertificates });
    const params = { id: created.id };
    expect(await admin(operations.retrieve, { params })).toEqual(created);
    const key_attestations_required = {
      key_storage: keyAttestation.keyStorage,
      user_authentication: keyAttestation.userAuthentication,
    };
    expect(await proofTypesOf(created.id)).toEqual({
      jwt: { proof_signing_alg_values_supported, key_attestations_required },
      attestation: { proof_signing_alg_values_supported: ['ES256'], key_attestations_required },
    });

    const update = (more: KeyRequirements) =>
      admin<Configured>(operations.update, { params, body: bodyOf(operations, { type, ...more }) });
    const { rootCertificates } = keyAttestation;
    expect(await update({ keyAttestation: { rootCertificates } })).toMatchObject({
      keyAttestation: { rootCertificates },
    });
    expect(await proofTypesOf(created.id)).toEqual({
      jwt: { proof_signing_alg_values_supported, key_attestations_required: {} },
      attestation: { proof_signing_alg_values_supported: ['ES256'], key_attestations_required: {} },
    });
    const updated = await update({});
    expect(updated).not.toHaveProperty('keyAttestation');
    expect(updated).not.toHaveProperty('proofRootCertificates');
    expect(await proofTypesOf(created.id)).toEqual({ jwt: { proof_signing_alg_values_supported } });
  });

  it('is refused with a root that is no CA certificate, and changes nothing [T380]', async () => {
    const { create, list } = CONFIGURATION_OPERATIONS[format];
    const type = `Refused${FORMATS.indexOf(format)}`;
    const [leaf] = await attester.certify(makeHolder().jwk as JWK);
    const pem = `-----BEGIN CERTIFICATE-----\n${leaf}\n-----END CERTIFICATE-----`;
    const msg = 'must be the certificate of a CA (basic constraints)';
    for (const [param, more] of [
      ['keyAttestation.rootCertificates.1', { keyAttestation: { rootCertificates: [root, pem] } }],
      ['proofRootCertificates.0', { proofRootCertificates: [pem] }],
    ] as const) {
      const operations = CONFIGURATION_OPERATIONS[format];
      const refused = await refusalOf(admin(create, { body: bodyOf(operations, { type, ...more }) }));
      expect([refused.kind, refused.details]).toEqual(['invalid', [{ msg, param, location: 'body' }]]);
    }
    const { data } = await admin<{ data: unknown[] }>(list, { query: { type } });
    expect(data).toEqual([]);
  });
});

it('keeps a root that has expired since it was configured [T380]', async () => {
  const operations = CONFIGURATION_OPERATIONS['dc+sd-jwt'];
  const keyAttestation = { rootCertificates: [root] };
  const created = await configure('dc+sd-jwt', { type: 'Expiring', keyAttestation });
  const update = (more: KeyRequirements) =>
    admin(operations.update, { params: { id: created.id }, body: bodyOf(operations, { type: 'Expiring', ...more }) });
  ahead = 400 * 86_400_000;
  expect(await update({ keyAttestation: { ...keyAttestation, keyStorage: ['a'] } })).toMatchObject({
    keyAttestation: { keyStorage: ['a'], ...keyAttestation },
  });
  const refused = await refusalOf(update({ proofRootCertificates: [root] }));
  expect(refused.details).toEqual([
    { msg: expect.stringMatching(/^must not be expired: /), param: 'proofRootCertificates.0', location: 'body' },
  ]);
});

// --- the wallet

interface Holder {
  privateKey: KeyObject;
  jwk: PublicJwk;
}
const makeHolder = (): Holder => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) as PublicJwk };
};
const nonceFor = async (tenantId = TENANT) => {
  const { $http } = await post<HttpAnswer>(issueNonce, '', {}, tenantId);
  return ($http.body as NonceResponse).c_nonce;
};
const prove = ({ jwk, privateKey }: Holder, nonce: string, header: Record<string, unknown> = {}) =>
  new SignJWT({ aud: baseOf(TENANT), nonce, iat: Math.floor(Date.now() / 1000) })
    .setProtectedHeader({ alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk, ...header } as JWTHeaderParameters)
    .sign(privateKey);
const tokenFor = async (id: string, tenantId = TENANT): Promise<string> => {
  const { uri } = await admin<PreAuthorizedOffer>(createPreAuthorizedOffer, { body: { credentials: [id] } }, tenantId);
  const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, { 'pre-authorized_code': string }>;
  };
  const form = new URLSearchParams({
    grant_type: PRE_AUTHORIZED,
    'pre-authorized_code': offer.grants[PRE_AUTHORIZED]!['pre-authorized_code'],
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await post<{ access_token: string }>(exchangeToken, form.toString(), headers, tenantId)).access_token;
};
const request = (token: string, id: string, proofs: object, tenantId = TENANT) =>
  post<CredentialResponse>(
    issueCredential,
    JSON.stringify({ credential_configuration_id: id, ...proofs }),
    { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    tenantId,
  );
const subjectsOf = ({ credentials }: CredentialResponse) =>
  credentials.map(({ credential }) => decodeJwt(credential as string).sub);

describe('a credential request', () => {
  const configurations = new Map<string, string>();
  beforeAll(async () => {
    const rootCertificates = [root];
    const add = async (type: string, requirements: KeyRequirements & { maxIssuances?: number }, tenantId?: string) => {
      const { id } = await configure('jwt_vc_json', { type, claimMappings: {}, ...requirements } as never, tenantId);
      configurations.set(type, id);
    };
    await add('Required', { keyAttestation: { rootCertificates, keyStorage: ['iso_18045_high'] } });
    await add('Limited', { keyAttestation: { rootCertificates }, maxIssuances: 2 });
    await add('Plain', {});
    await add('Foreign', { keyAttestation: { rootCertificates } }, OTHER);
  });
  const HIGH = { key_storage: ['iso_18045_high'] };
  const start = async (type: string, tenantId = TENANT) => {
    const id = configurations.get(type)!;
    const token = await tokenFor(id, tenantId);
    return (proofs: object) => request(token, id, proofs, tenantId);
  };
  const attest = async (holders: readonly Holder[], nonce?: string, claims: object = HIGH) =>
    attester.attestKeys(
      holders.map(({ jwk }) => jwk as JWK),
      nonce ?? (await nonceFor()),
      { ...claims },
    );

  it('with one key attestation returns a credential for each attested key [T370]', async () => {
    const holders = [makeHolder(), makeHolder(), makeHolder()];
    const send = await start('Required');
    const issued = await send({ proofs: { attestation: [await attest(holders)] } });
    expect(subjectsOf(issued)).toEqual(holders.map(({ jwk }) => encodeDidJwk(jwk)));
  });

  it('with a proof that has a key attestation returns a credential for each attested key [T371]', async () => {
    const holders = [makeHolder(), makeHolder()];
    const send = await start('Required');
    const key_attestation = await attest(holders);
    const proof = await prove(holders[1]!, await nonceFor(), { key_attestation });
    const issued = await send({ proofs: { jwt: [proof] } });
    expect(subjectsOf(issued)).toEqual(holders.map(({ jwk }) => encodeDidJwk(jwk)));
  });

  it('spends the nonces of proof and attestation, together with the events [T375]', async () => {
    const holder = makeHolder();
    const [own, attested] = [await nonceFor(), await nonceFor()];
    const key_attestation = await attest([holder], attested);
    const used = ['invalid_nonce', 'the c_nonce has already been used'];
    const send = await start('Required');
    await send({ proofs: { jwt: [await prove(holder, own, { key_attestation })] } });
    const attempts = [
      { jwt: [await prove(holder, await nonceFor(), { key_attestation })] },
      { jwt: [await prove(holder, own, { key_attestation: await attest([holder]) })] },
      { attestation: [key_attestation] },
      { attestation: [await attest([makeHolder()], own)] },
    ];
    for (const proofs of attempts)
      for (const again of [send, await start('Required')]) {
        const { code, message } = await refusalOf(again({ proofs }));
        expect([code, message]).toEqual(used);
      }
  });

  it('is refused without the attestation that the configuration requires, and spends nothing [T376] [T377]', async () => {
    const holder = makeHolder();
    const nonce = await nonceFor();
    const send = await start('Required');
    const refused = async (proofs: object) => {
      const { code, message } = await refusalOf(send(proofs));
      return [code, message];
    };
    const plain = await prove(holder, nonce);
    const missing = 'proof: key_attestation is missing: this credential configuration requires it';
    expect(await refused({ proofs: { jwt: [plain] } })).toEqual(['invalid_proof', missing]);
    expect(await refused({ proof: { proof_type: 'jwt', jwt: plain } })).toEqual(['invalid_proof', missing]);
    expect(await refused({ proofs: { attestation: [await attest([holder], nonce, {})] } })).toEqual([
      'invalid_proof',
      'key attestation: key_storage must have one of: iso_18045_high',
    ]);
    const foreign = await otherAttester.attestKeys([holder.jwk as JWK], nonce, HIGH);
    expect(await refused({ proofs: { attestation: [foreign] } })).toEqual([
      'invalid_proof',
      'key attestation: x5c must be issued by a configured root certificate that is valid',
    ]);
    expect(await refused({ proofs: { jwt: [plain], attestation: [foreign] } })).toEqual([
      'invalid_credential_request',
      'proofs must have exactly one member',
    ]);
    expect(subjectsOf(await send({ proofs: { attestation: [await attest([holder], nonce)] } }))).toHaveLength(1);
  });

  it('is refused with an attestation where the configuration requires none [T377]', async () => {
    const holder = makeHolder();
    const send = await start('Plain');
    const attestation = await attest([holder]);
    expect(await refusalOf(send({ proofs: { attestation: [attestation] } }))).toMatchObject({
      ...{ code: 'invalid_proof', message: 'key attestations are not supported' },
    });
    const proof = await prove(holder, await nonceFor(), { key_attestation: attestation });
    expect(await refusalOf(send({ proofs: { jwt: [proof] } }))).toMatchObject({
      ...{ code: 'invalid_proof', message: 'proof: key attestations are not supported' },
    });
  });

  it('of another tenant accepts neither its attestations nor the other way round [T375]', async () => {
    const holder = makeHolder();
    const refused = { code: 'invalid_nonce', message: 'the c_nonce is unknown or has expired' };
    const foreign = await attest([holder], await nonceFor(OTHER));
    expect(await refusalOf((await start('Required'))({ proofs: { attestation: [foreign] } }))).toMatchObject(refused);
    const send = await start('Foreign', OTHER);
    expect(await refusalOf(send({ proofs: { attestation: [await attest([holder])] } }))).toMatchObject(refused);
    expect((await send({ proofs: { attestation: [foreign] } })).credentials).toHaveLength(1);
  });

  it('counts each attested key as an issuance [T370]', async () => {
    const send = await start('Limited');
    const attestation = async (count: number) => ({
      proofs: { attestation: [await attest(Array.from({ length: count }, makeHolder))] },
    });
    const denied = {
      code: 'credential_request_denied',
      message: 'the credential configuration allows no more credentials for this offer',
    };
    expect(await refusalOf(send(await attestation(3)))).toMatchObject(denied);
    expect((await send(await attestation(2))).credentials).toHaveLength(2);
    expect(await refusalOf(send(await attestation(1)))).toMatchObject(denied);
  });

  it('with the proof of earlier drafts has an answer of OID4VCI 1.0 [T379]', async () => {
    const holder = makeHolder();
    const send = await start('Plain');
    const proof = { proof_type: 'jwt', jwt: await prove(holder, await nonceFor()) };
    const issued = await send({ proof });
    expect(Object.keys(issued)).toContain('credentials');
    expect(issued).not.toHaveProperty('credential');
    expect(subjectsOf(issued)).toEqual([encodeDidJwk(holder.jwk)]);
    expect(await refusalOf(send({ proof, proofs: { jwt: [proof.jwt] } }))).toMatchObject({
      ...{ code: 'invalid_credential_request', message: 'proof and proofs must not both be sent' },
    });
  });
});
