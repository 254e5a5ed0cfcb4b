/** @engines embedded postgres */
import { deflateRawSync } from 'node:zlib';
import { CompactEncrypt, importJWK, type JWK } from 'jose';
import {
  MAX_JWE_LENGTH,
  MAX_PLAINTEXT_BYTES,
  retrieveBrand,
  retrieveIssuerMetadata,
  sdJwtConfigurations,
  type AppError,
  type Caller,
  type HttpAnswer,
  type Operation,
} from '@attestry/contracts';
import { leaseFence, StaleEpoch, Streams } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { serviceContext } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { createCredentialConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { RenewCertificates } from '../../certificates/renew-certificates/renew-certificates.worker.js';
import { EncryptionKeys } from '../../certificates/encryption-keys/encryption-keys.js';
import { encryptionKeys, encryptionKeysStream } from '../../certificates/encryption-keys/encryption-keys.state.js';
import { issuanceService } from '../../index.js';
import { changeSettings } from '../../settings/openid-settings/openid-settings.decisions.js';
import type { OpenIdSettingsChanged } from '../../settings/openid-settings/openid-settings.events.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { NewKeys } from '../../certificates/new-keys/new-keys.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import { MessageEncryption } from './message-encryption.js';

const DAY_MS = 86_400_000;
const service = new ServiceUnderTest(issuanceService, {
  baseOf: (tenantId) => `http://${tenantId.slice(0, 8)}.localhost:8080`,
});
service.answer(retrieveBrand, () => ({}));

let tenants = 0;
const newTenant = () => `5e${String(++tenants).padStart(6, '0')}-0000-4000-8000-000000000000`;
const call = <O extends Operation>(
  operation: O,
  tenantId: string,
  request: object,
  caller: Caller = { kind: 'client', clientId: 'c' },
) => service.admin(operation, request, tenantId, { caller });
const configure = (tenantId: string, type = 'Course') =>
  call(sdJwtConfigurations.create, tenantId, {
    body: { type, name: type, issuer: { name: 'Acme' }, claimMappings: { name: { mapFrom: 'claims.name' } } },
  });
const metadataOf = async (tenantId: string) => {
  const raw = { method: 'GET', url: '/', headers: {}, text: '' };
  const answer = (await call(retrieveIssuerMetadata, tenantId, { raw }, { kind: 'public' })) as HttpAnswer;
  return answer.$http.body as {
    credential_request_encryption?: { jwks: { keys: JWK[] }; encryption_required: boolean };
    credential_response_encryption?: { encryption_required: boolean };
  };
};
const publishedKey = async (tenantId: string): Promise<JWK> => {
  const { keys } = (await metadataOf(tenantId)).credential_request_encryption!.jwks;
  expect(keys).toHaveLength(1);
  return keys[0]!;
};
const encryptTo = async (jwk: JWK, plaintext: Uint8Array | string = '{"x":1}', header: object = {}) =>
  new CompactEncrypt(Buffer.from(plaintext))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: jwk.kid!, ...header })
    .encrypt(await importJWK(jwk, 'ECDH-ES'));
const here = () => ({
  keys: service.get(EncryptionKeys),
  messages: service.get(MessageEncryption),
});
/** Another process has states in memory of its own, none at first. */
const otherProcess = () => {
  const { events, clock, ids } = service.engines;
  const streams = new Streams(events, clock, ids);
  const recent = new RecentStates(streams, clock);
  const { signingKeys } = service.engines.vault;
  const keys = new EncryptionKeys(streams, recent, new NewKeys(streams, signingKeys), signingKeys, clock);
  return { keys, messages: new MessageEncryption(keys, recent) };
};
const open = async (tenantId: string, text: string, by = here(), type = 'application/jwt') => {
  const raw = { method: 'POST', url: '/', headers: { 'content-type': type }, text };
  try {
    return (await by.messages.openRequest(raw, tenantId)).text;
  } catch (error) {
    expect((error as AppError).code).toBe('invalid_encryption_parameters');
    return (error as AppError).message;
  }
};
const setEncryption = (tenantId: string, encryption: OpenIdSettingsChanged['data']['encryption']) =>
  service
    .get(Streams)
    .runDecision(
      openIdSettings,
      openIdSettingsStream(tenantId),
      (state) => changeSettings(state, { encryption: encryption ?? null }),
      serviceContext('issuance.spec', tenantId),
    );
const vaultKeys = async (tenantId: string) =>
  (await service.engines.vault.signingKeys.listSigningKeys(tenantId, 'encryption')).map(({ keyId }) => keyId);
let leases = 0;
const acquireLease = async (name = `issuance.spec-${++leases}`, holder = 'spec') =>
  (await service.engines.leases.acquire(name, holder, 60_000))!;
const runJob = async () => service.get(RenewCertificates).runJob({ lease: await acquireLease(), isHeld: true });
const untilDue = (tenantId: string, wanted: string) =>
  waitUntil(
    async () =>
      (await service.get(RenewCertificates).due(new Date(Date.now() + service.ahead), 1000)).some(
        ({ tenant_id, kind }) => tenant_id === tenantId && kind === wanted,
      ),
    { what: `${wanted} to be due` },
  );
const UNKNOWN = 'kid is not a current key of credential_request_encryption in the metadata';

beforeAll(async () => {
  await service.open();
  // The specs run the job themselves: a run of the service could come after the clock was moved.
  await service.get(RenewCertificates).beforeApplicationShutdown();
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('the keys of encrypted requests [T314]', () => {
  it('are made with the first configuration, never by reading the metadata', async () => {
    const tenantId = newTenant();
    expect(await metadataOf(tenantId)).not.toHaveProperty('credential_request_encryption');
    expect(await vaultKeys(tenantId)).toEqual([]);
    await Promise.all([configure(tenantId, 'A'), configure(tenantId, 'B')]);
    const jwk = await publishedKey(tenantId);
    expect(Object.keys(jwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    // The key of the lost race is destroyed.
    expect(await vaultKeys(tenantId)).toEqual([jwk.kid]);
    expect(await open(tenantId, await encryptTo(jwk))).toBe('{"x":1}');
    await configure(tenantId, 'C');
    expect((await publishedKey(tenantId)).kid).toBe(jwk.kid);
  });

  it('are of one tenant', async () => {
    const [one, another] = [newTenant(), newTenant()];
    await configure(one);
    await configure(another);
    const foreign = await encryptTo(await publishedKey(another));
    expect(await open(one, foreign)).toBe(UNKNOWN);
    const kid = (await publishedKey(one)).kid!;
    expect(await open(one, await encryptTo({ ...(await publishedKey(another)), kid }))).toBe(
      'the JWE cannot be decrypted with the key of its kid',
    );
  });

  it('are replaced every 30 days; the one before is accepted for a day, then destroyed', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const other = otherProcess();
    const first = await publishedKey(tenantId);
    expect(await open(tenantId, await encryptTo(first), other)).toBe('{"x":1}');
    service.ahead = 29 * DAY_MS;
    await runJob();
    expect((await publishedKey(tenantId)).kid).toBe(first.kid);
    service.ahead = 30 * DAY_MS + 60_000;
    await untilDue(tenantId, 'encryptionKey');
    // Two processes at once; the key of the lost race is destroyed.
    await Promise.all([runJob(), other.keys.renew(tenantId, serviceContext('issuance.spec', tenantId))]);
    const second = await publishedKey(tenantId);
    expect(second.kid).not.toBe(first.kid);
    expect((await vaultKeys(tenantId)).sort()).toEqual([first.kid!, second.kid!].sort());
    for (const by of [here(), other])
      for (const jwk of [first, second]) expect(await open(tenantId, await encryptTo(jwk), by)).toBe('{"x":1}');
    service.ahead += DAY_MS;
    // Refused by time, also before the job has destroyed it.
    expect(await open(tenantId, await encryptTo(first))).toBe(UNKNOWN);
    await untilDue(tenantId, 'replacedEncryptionKey');
    await runJob();
    expect(await vaultKeys(tenantId)).toEqual([second.kid]);
    await expect(service.engines.vault.signingKeys.loadDecrypter(tenantId, first.kid!)).rejects.toThrow(KeyNotFound);
    expect(await open(tenantId, await encryptTo(second), other)).toBe('{"x":1}');
  });

  it('are not made under a lost lease', async () => {
    const tenantId = newTenant();
    const lost = await acquireLease();
    await service.engines.leases.release(lost);
    await acquireLease(lost.name, 'later');
    const context = serviceContext('issuance.spec', tenantId);
    const keys = service.get(EncryptionKeys);
    await expect(keys.renew(tenantId, context, leaseFence(service.engines.leases, lost))).rejects.toThrow(StaleEpoch);
    expect(await vaultKeys(tenantId)).toEqual([]);
  });

  it('are made by the job for a tenant that has configurations and no key', async () => {
    const tenantId = newTenant();
    const id = newTenant();
    const streams = service.get(Streams);
    await streams.runDecision(
      credentialConfiguration,
      credentialConfigurationStream(tenantId, id),
      (state) =>
        createCredentialConfiguration(state, {
          id,
          format: 'dc+sd-jwt',
          type: 'Old',
          issuerKey: undefined,
          content: {},
          createdAt: new Date(),
        }),
      serviceContext('issuance.spec', tenantId),
    );
    await untilDue(tenantId, 'encryptionKey');
    await runJob();
    const { state } = await streams.load(encryptionKeys, encryptionKeysStream(tenantId));
    expect(state.map(({ keyId }) => keyId)).toEqual(await vaultKeys(tenantId));
    expect(state).toHaveLength(1);
    await runJob();
    expect(await vaultKeys(tenantId)).toHaveLength(1);
  });

  it('are used by a process that has read none before, and end with the tenant', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const jwe = await encryptTo(await publishedKey(tenantId));
    service.engines.vault.evict(tenantId);
    const other = otherProcess();
    expect(await open(tenantId, jwe, other)).toBe('{"x":1}');
    await service.engines.vault.destroyTenant(tenantId);
    for (const by of [here(), other]) expect(await open(tenantId, jwe, by)).toBe(UNKNOWN);
  });
});

describe('encrypted requests [T315]', () => {
  const tenantId = newTenant();
  beforeAll(() => configure(tenantId));

  it('may be compressed, up to a size', async () => {
    const jwk = await publishedKey(tenantId);
    const most = `"${'a'.repeat(MAX_PLAINTEXT_BYTES - 2)}"`;
    expect(await open(tenantId, await encryptTo(jwk, most, { zip: 'DEF' }))).toBe(most);
    // The same without compression is within the limit of the JWE.
    const plain = await encryptTo(jwk, most);
    expect([plain.length <= MAX_JWE_LENGTH, await open(tenantId, plain)]).toEqual([true, most]);
    const described = `the request must have at most ${MAX_PLAINTEXT_BYTES} bytes inflated`;
    expect(await open(tenantId, await encryptTo(jwk, `${most} `, { zip: 'DEF' }))).toBe(described);
    // 40 MB in 40 KB: refused after the first part.
    const bomb = await encryptTo(jwk, Buffer.alloc(40_000_000), { zip: 'DEF' });
    expect(bomb.length).toBeLessThan(65_536);
    const before = process.memoryUsage().rss;
    expect(await open(tenantId, bomb)).toBe(described);
    expect(process.memoryUsage().rss - before).toBeLessThan(30_000_000);
    expect(deflateRawSync(Buffer.alloc(40_000_000)).length).toBeGreaterThan(30_000);
  });

  it('are refused when they were changed', async () => {
    const parts = (await encryptTo(await publishedKey(tenantId))).split('.');
    const changed = [...parts.slice(0, 3), Buffer.from('other').toString('base64url'), parts[4]].join('.');
    expect(await open(tenantId, changed)).toBe('the JWE cannot be decrypted with the key of its kid');
    expect(await open(tenantId, [...parts.slice(0, 4), 'AA'].join('.'))).toBe('the JWE is malformed');
  });
});

describe('the settings of encryption [T311]', () => {
  it('require encrypted requests, or switch encryption off', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const jwe = await encryptTo(await publishedKey(tenantId));
    const plain = () => open(tenantId, '{}', here(), 'application/json');
    expect(await plain()).toBe('{}');
    await setEncryption(tenantId, { requestRequired: true });
    const required = 'the request must be encrypted: this issuer requires the content type application/jwt';
    expect([await plain(), await open(tenantId, jwe)]).toEqual([required, '{"x":1}']);
    expect((await metadataOf(tenantId)).credential_request_encryption!.encryption_required).toBe(true);
    await setEncryption(tenantId, { requestRequired: null, responseRequired: true });
    expect(await plain()).toBe(required);
    expect((await metadataOf(tenantId)).credential_response_encryption!.encryption_required).toBe(true);
    await setEncryption(tenantId, { responseRequired: null, enabled: false });
    expect([await plain(), await open(tenantId, jwe)]).toEqual([
      '{}',
      'encrypted requests are disabled by this issuer',
    ]);
    const metadata = await metadataOf(tenantId);
    expect(metadata).not.toHaveProperty('credential_request_encryption');
    expect(metadata).not.toHaveProperty('credential_response_encryption');
    await setEncryption(tenantId, null);
    expect(await open(tenantId, jwe)).toBe('{"x":1}');
  });
});
