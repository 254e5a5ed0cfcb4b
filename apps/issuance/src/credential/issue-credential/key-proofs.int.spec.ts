/** @engines embedded postgres */
import {
  AppError,
  CONFIGURATION_OPERATIONS,
  issueCredential,
  retrieveIssuerMetadata,
  type ConfigurationOperations,
  type CredentialFormat,
  type CredentialResponse,
  type KeyRequirements,
  type Operation,
} from '@attestry/contracts';
import { encodeDidJwk } from '@attestry/keys';
import { WalletProvider } from '@attestry/testing';
import { IssuanceUnderTest, makeWalletKey as makeHolder, type WalletKey } from '@attestry/testing/services';
import { decodeJwt, type JWK } from 'jose';
import { issuanceService } from '../../index.js';

const { TENANT, OTHER } = IssuanceUnderTest;
const FORMATS = Object.keys(CONFIGURATION_OPERATIONS) as CredentialFormat[];

const issuance = new IssuanceUnderTest(issuanceService);
const { nonce: nonceFor } = issuance;
let attester: WalletProvider;
let otherAttester: WalletProvider;
/** Stored form of the root certificates. */
let root: string;
let otherRoot: string;

beforeAll(async () => {
  await issuance.open();
  [attester, otherAttester] = await Promise.all([WalletProvider.create(), WalletProvider.create()]);
  [root, otherRoot] = [attester, otherAttester].map(({ rootCertificate }) => `${rootCertificate}\n`) as [
    string,
    string,
  ];
});
afterEach(() => {
  issuance.ahead = 0;
});
afterAll(() => issuance.remove());

const admin = <T>(operation: Operation, request: object, tenantId?: string): Promise<T> =>
  issuance.admin(operation, request, tenantId) as Promise<T>;
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
  const { body } = await issuance.send<{
    credential_configurations_supported: Record<string, Record<string, unknown>>;
  }>(retrieveIssuerMetadata, {});
  return body.credential_configurations_supported[id]!['proof_types_supported'];
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
    // Others of the tenant have none: the answer warns of them.
    const { warnings: _, ...stored } = created as Configured & { warnings?: unknown };
    expect(await admin(operations.retrieve, { params })).toEqual(stored);
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
      expect(refused.kind).toBe('invalid');
      expect(refused.details).toContainEqual({ msg, param, location: 'body' });
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
  issuance.ahead = 400 * 86_400_000;
  expect(await update({ keyAttestation: { ...keyAttestation, keyStorage: ['a'] } })).toMatchObject({
    keyAttestation: { keyStorage: ['a'], ...keyAttestation },
  });
  const refused = await refusalOf(update({ proofRootCertificates: [root] }));
  expect(refused.details).toEqual([
    { msg: expect.stringMatching(/^must not be expired: /), param: 'proofRootCertificates.0', location: 'body' },
  ]);
});

// --- the wallet

const prove = (key: WalletKey, nonce: string, header: object = {}) => issuance.proveKey(key, TENANT, { nonce, header });
const tokenFor = async (id: string, tenantId = TENANT): Promise<string> => {
  const { code } = await issuance.offer({ credentials: [id] }, tenantId);
  return (await issuance.redeem(code, {}, {}, tenantId)).body.access_token;
};
/** @throws AppError */
const request = (token: string, id: string, proofs: object, tenantId = TENANT) =>
  issuance.call(
    issueCredential,
    {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      text: JSON.stringify({ credential_configuration_id: id, ...proofs }),
    },
    tenantId,
  ) as Promise<CredentialResponse>;
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
  const attest = async (holders: readonly WalletKey[], nonce?: string, claims: object = HIGH) =>
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
    const used = [
      'invalid_nonce',
      'the c_nonce has already been used: get another from the nonce endpoint for each request',
    ];
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

  it('is no attestation where the configuration requires none, which ignores one in a header [T377]', async () => {
    const holder = makeHolder();
    const send = await start('Plain');
    const attestation = await attest([holder]);
    expect(await refusalOf(send({ proofs: { attestation: [attestation] } }))).toMatchObject({
      ...{ code: 'invalid_proof', message: expect.stringContaining('takes plain proofs: send proofs.jwt') as string },
    });
    const proof = await prove(holder, await nonceFor(), { key_attestation: attestation });
    expect(subjectsOf(await send({ proofs: { jwt: [proof] } }))).toHaveLength(1);
  });

  it('of another tenant accepts neither its attestations nor the other way round [T375]', async () => {
    const holder = makeHolder();
    const refused = {
      code: 'invalid_nonce',
      message: 'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
    };
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
