/** @engines embedded postgres */
import { createHash, createPublicKey, X509Certificate, type webcrypto } from 'node:crypto';
import {
  customDomainWithdrawn,
  customDomainVerified,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveIssuerCa,
  retrieveJwtVcIssuer,
  retrieveTypeMetadata,
  sdJwtConfigurations,
  tenantPurged,
  type HttpAnswer,
  type SdJwtConfiguration,
  type SdJwtConfigurationRequest,
  type Operation,
} from '@attestry/contracts';
import { leaseFence, StaleEpoch, type Lease } from '@attestry/event-store';
import { jwkThumbprint, KeyNotFound, type PublicJwk } from '@attestry/keys';
import { serviceContext } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { refusal, ServiceUnderTest } from '@attestry/testing/services';
import { RenewCertificates } from '../renew-certificates/renew-certificates.worker.js';
import { issuanceService } from '../../index.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';
import { IssuerSigners } from './issuer-signers.js';

const DAY_MS = 86_400_000;
const DID = 'did:web:acme.example';
const urlOf = (tenantId: string) => `http://${tenantId.slice(0, 8)}.localhost:8080`;
const service = new ServiceUnderTest(issuanceService, { baseOf: urlOf });
const reserved: { did?: string; algorithms: string[] }[] = [];
const released: string[] = [];

let tenants = 0;
const newTenant = () => `4${String(++tenants).padStart(7, '0')}-0000-4000-8000-000000000000`;
service.answer(reserveIssuerKey, ({ body }) => {
  reserved.push(body);
  return { did: DID, verificationMethod: `${DID}#k`, kmsKeyId: newTenant(), algorithm: 'Ed25519' as const };
});
service.answer(releaseIssuerKey, ({ body }) => void released.push(body.configurationId));
const admin = <O extends Operation>(operation: O, tenantId: string, request: object) =>
  service.admin(operation, request, tenantId);
const load = <O extends Operation>(operation: O, tenantId: string, request?: object, publicUrl = urlOf(tenantId)) =>
  service.visit(operation, request, tenantId, { publicUrl });
const request = (more: Partial<SdJwtConfigurationRequest> = {}): SdJwtConfigurationRequest => ({
  type: 'Course',
  name: 'Course',
  issuer: { name: 'Acme' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name', required: true } },
  ...more,
});
const configure = (tenantId: string, more: Partial<SdJwtConfigurationRequest> = {}) =>
  admin(sdJwtConfigurations.create, tenantId, { body: request(more) }) as Promise<SdJwtConfiguration>;
const replace = (tenantId: string, id: string, more: Partial<SdJwtConfigurationRequest>) =>
  admin(sdJwtConfigurations.update, tenantId, { params: { id }, body: request(more) }) as Promise<SdJwtConfiguration>;
const vaultKeys = async (tenantId: string) =>
  (await service.engines.vault.signingKeys.listSigningKeys(tenantId, 'certificate')).length;
const publishedKeys = async (tenantId: string, issuer = urlOf(tenantId)) =>
  ((await load(retrieveJwtVcIssuer, tenantId, {}, issuer)) as { jwks: { keys: (PublicJwk & { kid: string })[] } }).jwks
    .keys;
const anchors = async (tenantId: string): Promise<X509Certificate[]> => {
  const { certificates } = (await load(retrieveIssuerCa, tenantId)) as { certificates: string[] };
  return certificates.map((pem) => new X509Certificate(pem));
};
const typeAt = async (tenantId: string, vct: string): Promise<{ vct: string; document: string; integrity: string }> => {
  const [, type, version] = /\/v1\/openid\/types\/([^/]+)\/([^/]+)$/.exec(vct)!;
  const { $http } = (await load(retrieveTypeMetadata, tenantId, {
    params: { type: decodeURIComponent(type!), version },
  })) as HttpAnswer;
  const document = $http.body as string;
  const integrity = `sha256-${createHash('sha256').update(document).digest('base64')}`;
  return { ...(JSON.parse(document) as { vct: string }), document, integrity };
};
const signers = () => service.get(IssuerSigners);
const worker = () => service.get(RenewCertificates);
let leases = 0;
const acquireLease = async (name = `issuance.spec-${++leases}`, holder = 'spec') =>
  (await service.engines.leases.acquire(name, holder, 60_000))!;
const fenceOf = (lease: Lease) => leaseFence(service.engines.leases, lease);
/** Runs the worker's job under another lease. */
const runJob = async (isHeld = true) => worker().runJob({ lease: await acquireLease(), isHeld });
/** A lease of a process that was paused while another one obtained it. */
const lostLease = async () => {
  const former = await acquireLease();
  await service.engines.leases.release(former);
  await acquireLease(former.name, 'later');
  return former;
};
const readModel = () => service.get(RenewCertificates);
const isDue = async (tenantId: string, at = Date.now() + service.ahead) =>
  (await readModel().due(new Date(at), 1000)).some(
    ({ tenant_id, kind }) => tenant_id === tenantId && ['issuerSigner', 'replacedKey'].includes(kind),
  );
const event = (tenantId: string) => serviceContext('issuance.spec', tenantId);

beforeAll(async () => {
  await service.open();
  // The specs run the job themselves: a run of the service could come after the clock was moved.
  await worker().beforeApplicationShutdown();
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('the certificates of a tenant', () => {
  it('are made with its first configuration, without any step', async () => {
    const tenantId = newTenant();
    expect((await refusal(load(retrieveJwtVcIssuer, tenantId))).kind).toBe('notFound');
    expect((await refusal(load(retrieveIssuerCa, tenantId))).kind).toBe('notFound');
    expect(await configure(tenantId)).not.toHaveProperty('issuerDid');
    expect(await vaultKeys(tenantId)).toBe(2);
    const [key, ...more] = await publishedKeys(tenantId);
    expect(more).toEqual([]);
    const signer = await signers().loadSigner(tenantId, urlOf(tenantId), event(tenantId));
    expect(key).toEqual({ ...signer.publicJwk, kid: jwkThumbprint(signer.publicJwk), use: 'sig', alg: 'ES256' });
    const leaf = new X509Certificate(Buffer.from(signer.certificate.x5c[0]!, 'base64'));
    const [anchor] = await anchors(tenantId);
    expect(leaf.checkIssued(anchor!) && leaf.verify(anchor!.publicKey)).toBe(true);
    expect(leaf.publicKey.equals(createPublicKey({ key: key as webcrypto.JsonWebKey, format: 'jwk' }))).toBe(true);
    expect(leaf.subjectAltName).toBe(`URI:${urlOf(tenantId)}`);
    // Again it makes none.
    await configure(tenantId, { type: 'Another' });
    expect(await vaultKeys(tenantId)).toBe(2);
  });

  it('have a signer for each credential issuer identifier, also when several requests need it at once', async () => {
    const tenantId = newTenant();
    const [own, custom] = [urlOf(tenantId), 'https://id.acme.example'];
    const load = (issuer: string) => signers().loadSigner(tenantId, issuer, event(tenantId));
    const made = await Promise.all([own, custom, own, custom, custom].map(load));
    const fingerprints = made.map(({ certificate }) => certificate.fingerprint);
    expect(new Set(fingerprints).size).toBe(2);
    // One CA; the keys of lost races are destroyed.
    expect(await anchors(tenantId)).toHaveLength(1);
    expect(await vaultKeys(tenantId)).toBe(3);
    expect(await publishedKeys(tenantId, custom)).toHaveLength(1);
    const leaf = new X509Certificate(Buffer.from(made[1]!.certificate.x5c[0]!, 'base64'));
    expect(leaf.subjectAltName).toBe(`URI:${custom}`);
  });

  it('are renewed before their end, once, and the replaced ones remain published', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const first = await signers().loadSigner(tenantId, urlOf(tenantId), event(tenantId));
    service.ahead = 364 * DAY_MS;
    await runJob();
    expect(await publishedKeys(tenantId)).toHaveLength(1);
    service.ahead = 366 * DAY_MS;
    await waitUntil(() => isDue(tenantId), { what: 'the signer to be due' });
    await runJob(false);
    expect(await publishedKeys(tenantId)).toHaveLength(1);
    await runJob();
    await runJob();
    const keys = await publishedKeys(tenantId);
    expect(keys).toHaveLength(2);
    expect(keys[1]!.kid).toBe(jwkThumbprint(first.publicJwk));
    const renewed = await signers().loadSigner(tenantId, urlOf(tenantId), event(tenantId));
    expect(jwkThumbprint(renewed.publicJwk)).toBe(keys[0]!.kid);
    // The CA is the same.
    expect(await anchors(tenantId)).toHaveLength(1);
    await waitUntil(async () => !(await isDue(tenantId)), { what: 'the signer not to be due' });
    // A process that was paused while another one renewed it.
    service.ahead = 2 * 366 * DAY_MS;
    const renew = (lease: Lease) => signers().renew(tenantId, urlOf(tenantId), event(tenantId), fenceOf(lease));
    await expect(renew(await lostLease())).rejects.toThrow(StaleEpoch);
    expect(await publishedKeys(tenantId)).toHaveLength(2);
    expect(await vaultKeys(tenantId)).toBe(3);
    await renew(await acquireLease());
    expect(await publishedKeys(tenantId)).toHaveLength(3);
  });

  it('are replaced by the request that needs one, when the renewal is so late that a credential could outlive it [T620]', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const load = async () =>
      (await signers().loadSigner(tenantId, urlOf(tenantId), event(tenantId))).certificate.fingerprint;
    const first = await load();
    service.ahead = 369.9 * DAY_MS;
    expect(await load()).toBe(first);
    service.ahead = 370.1 * DAY_MS;
    const made = await Promise.all([load(), load()]);
    expect(new Set([first, ...made]).size).toBe(2);
    expect(await publishedKeys(tenantId)).toHaveLength(2);
    expect(await load()).toBe(made[0]);
  });

  it('have the private key of a replaced signer destroyed a day later, while its certificate remains published', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const issuer = urlOf(tenantId);
    const replaced = await signers().loadSigner(tenantId, issuer, event(tenantId));
    const inVault = () => service.engines.vault.signingKeys.loadSigner(tenantId, replaced.keyId);
    service.ahead = 366 * DAY_MS;
    await waitUntil(() => isDue(tenantId), { what: 'the signer to be due' });
    await runJob();
    await waitUntil(async () => !(await isDue(tenantId)), { what: 'the signer not to be due' });
    // For requests that still sign with it.
    service.ahead += 22 * 3_600_000;
    await runJob();
    expect((await inVault()).keyId).toBe(replaced.keyId);
    service.ahead += 3 * 3_600_000;
    await waitUntil(() => isDue(tenantId), { what: 'the key to be due' });
    await runJob(false);
    expect(await vaultKeys(tenantId)).toBe(3);
    await runJob();
    await expect(inVault()).rejects.toThrow(KeyNotFound);
    // The CA and the signer that signs now.
    expect(await vaultKeys(tenantId)).toBe(2);
    const keys = await publishedKeys(tenantId);
    expect(keys.map(({ kid }) => kid)[1]).toBe(jwkThumbprint(replaced.publicJwk));
    const current = await signers().loadSigner(tenantId, issuer, event(tenantId));
    expect(jwkThumbprint(current.publicJwk)).toBe(keys[0]!.kid);
    expect(current.sign(Buffer.from('x'))).toHaveLength(64);
    await waitUntil(async () => !(await isDue(tenantId)), { what: 'nothing to be due' });
    // It is due again when it is to be renewed.
    expect(await isDue(tenantId, Date.now() + service.ahead + 366 * DAY_MS)).toBe(true);
  });

  it('are made for a custom domain when it is verified, and not for a deleted tenant', async () => {
    const [tenantId, gone] = [newTenant(), newTenant()];
    await service.engines.vault.destroyTenant(gone);
    const verified = (of: string) => ({
      id: `verified-${of}`,
      subject: customDomainVerified.subject,
      headers: { tenantId: of, requestId: 'verify', occurredAt: new Date().toISOString() },
      data: { tenantId: of, domain: 'brand.example', revision: 1 },
    });
    await service.engines.bus.publish([verified(gone), verified(tenantId)]);
    const found = await waitUntil(() => signers().findSigner(tenantId, 'http://brand.example'), { what: 'the signer' });
    const leaf = new X509Certificate(Buffer.from(found!.certificate.x5c[0]!, 'base64'));
    expect(leaf.subjectAltName).toBe('URI:http://brand.example');
    expect(await signers().findSigner(tenantId, urlOf(tenantId))).toBeUndefined();
    expect(await signers().findSigner(gone, 'http://brand.example')).toBeUndefined();
  });

  it('are not renewed for a domain that the tenant has lost, until it is verified again', async () => {
    const tenantId = newTenant();
    const domain = 'lost.example';
    const keys = async () => (await publishedKeys(tenantId, `http://${domain}`)).length;
    const change = (subject: string, revision: number) =>
      service.engines.bus.publish([
        {
          id: `${subject}-${revision}-${tenantId}`,
          subject,
          headers: { tenantId, requestId: 'verify', occurredAt: new Date().toISOString() },
          data: { tenantId, domain, revision },
        },
      ]);
    const rows = async () =>
      (await readModel().due(new Date(Date.now() + 9000 * DAY_MS), 1000))
        .filter((row) => row.tenant_id === tenantId)
        .map(({ kind }) => kind)
        .sort();
    await change(customDomainVerified.subject, 1);
    await waitUntil(async () => (await rows()).join() === 'issuerSigner', { what: 'the signer' });
    await change(customDomainWithdrawn.subject, 2);
    const lost = async () =>
      (await service.engines.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId))).state.domains.length;
    await waitUntil(async () => (await lost()) === 1, { what: 'the withdrawal' });
    service.ahead = 366 * DAY_MS;
    await runJob();
    // It is due again a day later.
    expect([await keys(), await isDue(tenantId), (await rows()).join()]).toEqual([1, false, 'issuerSigner']);
    await change(customDomainVerified.subject, 3);
    await waitUntil(async () => (await lost()) === 0, { what: 'the verification' });
    service.ahead += 1.01 * DAY_MS;
    await runJob();
    expect(await keys()).toBe(2);
    await waitUntil(async () => (await rows()).join() === 'issuerSigner,replacedKey', { what: 'both rows' });
  });

  it('get another CA in time, and the replaced one remains a trust anchor until its end', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const [first] = await anchors(tenantId);
    service.ahead = 3661 * DAY_MS;
    const signer = await signers().loadSigner(tenantId, urlOf(tenantId), event(tenantId));
    const leaf = new X509Certificate(Buffer.from(signer.certificate.x5c[0]!, 'base64'));
    const [newest, oldest] = await anchors(tenantId);
    expect(oldest!.fingerprint256).toBe(first!.fingerprint256);
    expect([leaf.verify(newest!.publicKey), leaf.verify(oldest!.publicKey)]).toEqual([true, false]);
    // The first signer has ended.
    expect(await publishedKeys(tenantId)).toHaveLength(1);
    service.ahead = 7321 * DAY_MS;
    expect(await anchors(tenantId)).toHaveLength(1);
  });

  it('are no longer due when the tenant is purged', async () => {
    const tenantId = newTenant();
    await configure(tenantId);
    const isListed = () => isDue(tenantId, Date.now() + 400 * DAY_MS);
    await waitUntil(isListed, { what: 'the row of the signer' });
    await service.engines.bus.publish([
      {
        id: `purged-${tenantId}`,
        subject: tenantPurged.subject,
        headers: { tenantId, requestId: 'purge', occurredAt: new Date().toISOString() },
        data: { tenantId },
      },
    ]);
    await waitUntil(async () => !(await isListed()), { what: 'the row to be deleted' });
  });

  it('of a deleted tenant hold up no other', async () => {
    const [gone, tenantId] = [newTenant(), newTenant()];
    await configure(gone);
    await configure(tenantId);
    await service.engines.vault.destroyTenant(gone);
    service.ahead = 366 * DAY_MS;
    await waitUntil(async () => (await isDue(gone)) && (await isDue(tenantId)), { what: 'both to be due' });
    await runJob();
    expect(await publishedKeys(tenantId)).toHaveLength(2);
    expect(await isDue(gone)).toBe(false);
  });

  it('that cannot be renewed are tried again later, and hold up no others [T147]', async () => {
    const tenantId = newTenant();
    // More than one run renews, and due before the other one.
    const failing = Array.from({ length: 100 }, newTenant);
    for (const each of failing) await configure(each);
    service.ahead = 3_600_000;
    await configure(tenantId);
    const { createSigningKeys } = service.engines.vault.signingKeys;
    const attempts: string[] = [];
    service.engines.vault.signingKeys.createSigningKeys = async (...given) => {
      if (!failing.includes(given[0]) || given[1] !== 'certificate')
        return createSigningKeys.apply(service.engines.vault.signingKeys, given);
      attempts.push(given[0]);
      throw new Error('no key can be made');
    };
    const published = async () => (await publishedKeys(tenantId)).length;
    try {
      service.ahead = 366 * DAY_MS;
      await waitUntil(
        async () => (await Promise.all([...failing, tenantId].map((each) => isDue(each)))).every(Boolean),
        {
          what: 'all to be due',
        },
      );
      // The encryption keys of the tenants are due before their signers.
      for (let run = 0; run < 4; run++) await runJob();
      // The worker of the process runs every minute too.
      expect(attempts.length).toBeGreaterThanOrEqual(100);
      await runJob();
      await waitUntil(async () => (await published()) === 2, { what: 'the signer to be renewed' });
      expect(await isDue(failing[0]!)).toBe(false);
      expect(service.engines.health.report().checks).toContainEqual({
        ...{ name: 'issuance.certificate-renewal', healthy: true },
        error: 'certificate not renewed (100), the last one: no key can be made',
      });
    } finally {
      service.engines.vault.signingKeys.createSigningKeys = createSigningKeys;
    }
    // Half of the pauses are random.
    service.ahead += 120_000;
    expect(await isDue(failing[0]!)).toBe(true);
    await waitUntil(
      async () => {
        await runJob();
        return service.engines.health
          .report()
          .checks.some(
            ({ name, healthy, error }) => name === 'issuance.certificate-renewal' && healthy && error === undefined,
          );
      },
      { what: 'all to be renewed' },
    );
    for (const each of failing) expect(await publishedKeys(each)).toHaveLength(2);
  });
});

describe('issuerDid', () => {
  it('is reserved with any key that can sign, and released with the configuration', async () => {
    const tenantId = newTenant();
    const { id, issuerDid } = await configure(tenantId, { issuerDid: DID });
    expect(issuerDid).toBe(DID);
    expect(reserved).toEqual([expect.objectContaining({ did: DID, algorithms: ['P-256', 'Ed25519'] })]);
    expect((await refusal(replace(tenantId, id, { issuerDid: 'did:web:other.example' }))).details).toEqual([
      { value: 'did:web:other.example', msg: 'must not change', param: 'issuerDid', location: 'body' },
    ]);
    await admin(sdJwtConfigurations.delete, tenantId, { params: { id } });
    expect(released).toContain(id);
    const without = await configure(tenantId);
    expect((await refusal(replace(tenantId, without.id, { issuerDid: DID }))).details).toEqual([
      { value: DID, msg: 'must not change', param: 'issuerDid', location: 'body' },
    ]);
    await admin(sdJwtConfigurations.delete, tenantId, { params: { id: without.id } });
    expect(reserved).toHaveLength(1);
    expect(released).not.toContain(without.id);
  });
});

describe('type metadata', () => {
  const vctOf = (tenantId: string, version: number, type = 'Course') =>
    `${urlOf(tenantId)}/v1/openid/types/${type}/${version}`;

  it('has a version for each change of what it describes, and every one remains', async () => {
    const tenantId = newTenant();
    const { id, vct } = await configure(tenantId);
    expect(vct).toBe(vctOf(tenantId, 1));
    const first = await typeAt(tenantId, vct);
    expect(first).toMatchObject({
      vct,
      name: 'Course',
    });
    expect((first as unknown as { claims: object[] }).claims).toEqual(
      expect.arrayContaining([
        { path: ['given_name'], mandatory: true, sd: 'always' },
        { path: ['iat'], sd: 'never' },
      ]),
    );
    // Lifetime and issuer are not described, nor display without a language; the address that is returned may be sent back.
    expect((await replace(tenantId, id, { display: [{ name: 'Any language' }] })).vct).toBe(vct);
    expect((await replace(tenantId, id, { expiresIn: { days: 3 }, issuer: { name: 'B' } })).vct).toBe(vct);
    expect((await replace(tenantId, id, { vct })).vct).toBe(vct);
    const changed = await replace(tenantId, id, { description: 'What was learned', vct });
    expect(changed.vct).toBe(vctOf(tenantId, 2));
    expect(await typeAt(tenantId, vct)).toEqual(first);
    expect(await typeAt(tenantId, changed.vct)).toMatchObject({ vct: changed.vct, description: 'What was learned' });
    await admin(sdJwtConfigurations.delete, tenantId, { params: { id } });
    expect(await typeAt(tenantId, vct)).toEqual(first);
    // A later configuration of the type continues its versions.
    expect((await configure(tenantId)).vct).toBe(vctOf(tenantId, 3));
    for (const version of ['4', '999999999'])
      expect((await refusal(load(retrieveTypeMetadata, tenantId, { params: { type: 'Course', version } }))).kind).toBe(
        'notFound',
      );
    for (const version of ['0', '-1', '01', 'x'])
      expect(
        (await refusal(load(retrieveTypeMetadata, tenantId, { params: { type: 'Course', version } }))).details,
      ).toMatchObject([{ param: 'version', msg: 'must be a positive integer' }]);
  });

  it('is not published for an own vct, of which a change needs another one', async () => {
    const tenantId = newTenant();
    const vct = 'urn:example:course';
    const { id, ...created } = await configure(tenantId, { vct });
    expect(created.vct).toBe(vct);
    expect((await refusal(typeAt(tenantId, vctOf(tenantId, 1)))).kind).toBe('notFound');
    expect((await replace(tenantId, id, { vct, expiresIn: { days: 3 } })).vct).toBe(vct);
    expect((await replace(tenantId, id, { vct, display: [{ locale: 'de', name: 'Kurs' }] })).vct).toBe(vct);
    for (const change of [{ name: 'B' }, { description: 'd' }, { claimMappings: {} }])
      expect((await refusal(replace(tenantId, id, { vct, ...change }))).details).toEqual([
        {
          value: vct,
          msg: 'must be another one, because name, description or claims of the type change',
          param: 'vct',
          location: 'body',
        },
      ]);
    expect((await replace(tenantId, id, { vct: 'urn:example:course:2', name: 'B' })).vct).toBe('urn:example:course:2');
    expect((await replace(tenantId, id, { name: 'B' })).vct).toBe(vctOf(tenantId, 1));
  });

  it('of another type is not taken over', async () => {
    const tenantId = newTenant();
    const vct = vctOf(tenantId, 1, 'Other');
    expect((await refusal(configure(tenantId, { vct }))).details).toEqual([
      { value: vct, msg: 'must not be an address of type metadata of this tenant', param: 'vct', location: 'body' },
    ]);
    const dots = `${urlOf(tenantId)}/v1/openid/types/../1`;
    expect((await refusal(configure(tenantId, { type: '..', vct: dots }))).details).toMatchObject([{ param: 'vct' }]);
    const escaped = await configure(tenantId, { type: 'a/../b?c' });
    expect(escaped.vct).toBe(vctOf(tenantId, 1, 'a%2F..%2Fb%3Fc'));
    expect((await typeAt(tenantId, escaped.vct)).vct).toBe(escaped.vct);
  });
});
