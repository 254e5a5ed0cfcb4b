/** @engines embedded postgres */
import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import {
  AppError,
  createDocumentSigner,
  createIaca,
  customDomainVerified,
  customDomainWithdrawn,
  deleteDocumentSigner,
  deleteIaca,
  listDocumentSigners,
  listIacas,
  retrieveBrand,
  retrieveDocumentSigner,
  retrieveIaca,
  retrieveIacaCrl,
  retrieveIacas,
  revokeDocumentSigner,
  tenantPurged,
  updateDocumentSigner,
  updateIaca,
  updateIacaCrl,
  type DocumentSigner,
  type HttpAnswer,
  type Iaca,
  type IacaList,
  type PageOf,
  type RevokedDocumentSigner,
  type Operation,
} from '@attestry/contracts';
import { readCertificate } from '@attestry/certificates';
import { leaseFence, StaleEpoch, type Lease } from '@attestry/event-store';
import { serviceContext } from '@attestry/service-kit';
import { CustomerIaca, hasOpenssl, readCrl, skipSuite, waitUntil } from '@attestry/testing';
import { refusal, ServiceUnderTest } from '@attestry/testing/services';
import { RenewCertificates } from '../renew-certificates/renew-certificates.worker.js';
import { issuanceService } from '../../index.js';
import { Crls } from './crls.js';
import { DocumentSigners } from './document-signers.js';

const DAY_MS = 86_400_000;
const MDL = 'org.iso.18013.5.1.mDL';
const CARD = 'org.example.card';
const service = new ServiceUnderTest(issuanceService, {
  baseOf: (tenantId) => `http://${tenantId.slice(0, 8)}.localhost:8080`,
});
/** Verified custom domain by tenant. */
const domains = new Map<string, string>();

// A simulated tenant-config.
service.answer(retrieveBrand, (_request, tenantId) => {
  const domain = domains.get(tenantId);
  return domain === undefined ? {} : { domain };
});

let tenants = 0;
const newTenant = () => `5${String(++tenants).padStart(7, '0')}-0000-4000-8000-000000000000`;
const hostOf = (tenantId: string) => new URL(service.baseOf(tenantId)).host;
const admin = (operation: Operation, tenantId: string, request: object = {}): Promise<unknown> =>
  service.admin(operation, request, tenantId);
const verifier = (operation: Operation, tenantId: string, request: object = {}): Promise<unknown> =>
  service.visit(operation, request, tenantId);

const create = (tenantId: string, body: object = {}) => admin(createIaca, tenantId, { body }) as Promise<Iaca>;
const activate = (tenantId: string, id: string, active = true) =>
  admin(updateIaca, tenantId, { params: { id }, body: { active } }) as Promise<Iaca>;
const createActive = async (tenantId: string, body: object = {}) =>
  activate(tenantId, (await create(tenantId, body)).id);
const iacaOf = (tenantId: string, id: string) => admin(retrieveIaca, tenantId, { params: { id } }) as Promise<Iaca>;
const signersOf = async (tenantId: string) =>
  ((await admin(listDocumentSigners, tenantId)) as PageOf<DocumentSigner>).data;
const requestSigner = (tenantId: string, iacaId: string) =>
  admin(createDocumentSigner, tenantId, { body: { iacaId } }) as Promise<DocumentSigner>;
const changeSigner = (tenantId: string, id: string, body: object) =>
  admin(updateDocumentSigner, tenantId, { params: { id }, body }) as Promise<DocumentSigner>;
const revoke = (tenantId: string, id: string) =>
  admin(revokeDocumentSigner, tenantId, { params: { id } }) as Promise<RevokedDocumentSigner>;
const anchors = async (tenantId: string) =>
  ((await verifier(retrieveIacas, tenantId)) as IacaList).iacas.map(
    ({ certificate }) => new X509Certificate(Buffer.from(certificate, 'base64')),
  );
const crlAnswer = async (tenantId: string, id: string, headers: Record<string, string> = {}) => {
  const raw = { method: 'GET', url: '/', headers, text: '' };
  return ((await verifier(retrieveIacaCrl, tenantId, { params: { id }, raw })) as HttpAnswer).$http;
};
const crlOf = async (tenantId: string, { id, certificatePem }: Iaca) =>
  readCrl(Buffer.from((await crlAnswer(tenantId, id)).base64!, 'base64'), certificatePem);
const faultsOf = async (promise: Promise<unknown>) =>
  (await refusal(promise)).details!.map(({ param, msg }) => [param, msg]);
const kindOf = async (promise: Promise<unknown>) => (await refusal(promise)).kind;
const vaultKeys = async (tenantId: string) =>
  (await service.engines.vault.signingKeys.listSigningKeys(tenantId, 'certificate')).length;
const documentSigners = () => service.get(DocumentSigners);
const crls = () => service.get(Crls);
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
const event = (tenantId: string) => serviceContext('issuance.spec', tenantId);
const load = (tenantId: string, docType = MDL) =>
  documentSigners().loadSigner(tenantId, { docType, hasStatus: false }, event(tenantId));
const leafOf = ({ certificate }: Awaited<ReturnType<typeof load>>) =>
  new X509Certificate(Buffer.from(certificate.x5c[0]!, 'base64'));
const dueOf = async (tenantId: string, at = service.now()) =>
  (await service.get(RenewCertificates).due(at, 1000))
    .filter((row) => row.tenant_id === tenantId)
    .map(({ kind }) => kind)
    .sort();
const hostsOf = (pem: string) => readCertificate(new X509Certificate(pem).raw).hosts;
const serialOf = (pem: string) => new X509Certificate(pem).serialNumber;

if (!hasOpenssl()) skipSuite('CRLs', 'openssl is not installed (Debian: apt install openssl)');
const itWithOpenssl = hasOpenssl() ? it : it.skip;
beforeAll(async () => {
  await service.open();
  // The specs run the job themselves: a run of the service could come after the clock was moved.
  await worker().beforeApplicationShutdown();
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('a managed IACA', () => {
  it('is created inactive, with the defaults of tenant and region', async () => {
    const tenantId = newTenant();
    const iaca = await create(tenantId);
    const { notBefore, notAfter } = iaca.certificateData;
    expect(iaca).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      active: false,
      certificatePem: expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n/),
      certificateData: { commonName: `${hostOf(tenantId)} IACA`, country: 'ZZ', notBefore, notAfter },
      certificateFingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      isManaged: true,
      crl: { number: '1', thisUpdate: expect.any(String), nextUpdate: expect.any(String) },
      crlDue: false,
    });
    const certificate = new X509Certificate(iaca.certificatePem);
    expect(certificate.verify(certificate.publicKey) && certificate.checkIssued(certificate) && certificate.ca).toBe(
      true,
    );
    expect(certificate.fingerprint256.replaceAll(':', '').toLowerCase()).toBe(iaca.certificateFingerprint);
    expect(certificate.subject).toBe(`C=ZZ\nCN=${hostOf(tenantId)} IACA`);
    expect([new Date(certificate.validFrom), new Date(certificate.validTo)]).toEqual([
      new Date(notBefore),
      new Date(notAfter),
    ]);
    expect(new Date(notAfter).getUTCFullYear() - new Date(notBefore).getUTCFullYear()).toBe(10);
    expect(await anchors(tenantId)).toEqual([]);
    expect(await iacaOf(tenantId, iaca.id)).toEqual(iaca);
    expect(await admin(listIacas, tenantId)).toEqual({ data: [iaca] });
  });

  it('is named after the verified custom domain', async () => {
    const tenantId = newTenant();
    domains.set(tenantId, 'id.acme.example');
    const iaca = await create(tenantId);
    expect(iaca.certificateData.commonName).toBe('id.acme.example IACA');
    expect(hostsOf(iaca.certificatePem)).toEqual(['id.acme.example']);
    const named = await create(tenantId, { commonName: 'Roads' });
    expect(named.certificateData.commonName).toBe('Roads');
    expect(hostsOf(named.certificatePem)).toEqual(['id.acme.example']);
    expect(hostsOf((await create(newTenant())).certificatePem)).toEqual([expect.stringMatching(/^5\d{7}\.localhost$/)]);
  });

  it('is refused with the reason for each member', async () => {
    const tenantId = newTenant();
    const time = 'must be a time in UTC such as 2026-01-31T10:00:00Z';
    const shape = { commonName: 'Zoë', country: 'au', stateOrProvinceName: 'NSW', notBefore: '2026-02-30T00:00:00Z' };
    expect(await faultsOf(create(tenantId, { ...shape, notAfter: 'never' }))).toEqual([
      ['commonName', "must have 1 to 64 characters: letters, digits, spaces and '()+,-./:=?"],
      ['country', 'must be two upper-case letters (ISO 3166-1)'],
      ['stateOrProvinceName', 'must be an upper-case code of ISO 3166-2 such as AU-NSW'],
      ['notBefore', time],
      ['notAfter', time],
    ]);
    for (const clock of ['25:00:00', '10:60:00', '23:59:60'])
      expect(await faultsOf(create(tenantId, { notBefore: `2030-01-31T${clock}Z` }))).toEqual([['notBefore', time]]);
    const rules = { country: 'AU', stateOrProvinceName: 'NZ-AUK', notBefore: '2020-01-01T00:00:00Z' };
    expect(await faultsOf(create(tenantId, { ...rules, notAfter: '2050-01-01T00:00:00Z' }))).toEqual([
      ['stateOrProvinceName', 'must be a code of the country AU, which begins with AU-'],
      ['notBefore', 'must not be in the past'],
      ['notAfter', 'must be at most 20 years after notBefore'],
    ]);
    expect(await faultsOf(create(tenantId, { certificatePem: 'x', country: 'AU' }))).toEqual([
      ['country', 'must not be given with certificatePem'],
    ]);
    expect(await vaultKeys(tenantId)).toBe(0);
  });

  it('is one of three at most, also when more are created concurrently; the keys of refused ones are destroyed', async () => {
    const tenantId = newTenant();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => create(tenantId)));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as AppError] : []));
    expect(refused.map(({ kind, message }) => [kind, message])).toEqual(
      Array(2).fill(['conflict', 'A tenant can have at most 3 IACAs']),
    );
    expect(await vaultKeys(tenantId)).toBe(3);
    const { data } = (await admin(listIacas, tenantId)) as PageOf<Iaca>;
    await admin(deleteIaca, tenantId, { params: { id: data[0]!.id } });
    expect(await vaultKeys(tenantId)).toBe(2);
    await create(tenantId);
    expect((await admin(listIacas, tenantId, { query: { limit: 2 } })) as PageOf<Iaca>).toMatchObject({
      data: [{ id: data[1]!.id }, { id: data[2]!.id }],
      nextCursor: data[2]!.id,
    });
  });

  it('is published while it is active', async () => {
    const tenantId = newTenant();
    const { id, certificateFingerprint } = await createActive(tenantId);
    await create(tenantId);
    const [anchor, ...more] = await anchors(tenantId);
    expect([anchor!.fingerprint256.replaceAll(':', '').toLowerCase(), more]).toEqual([certificateFingerprint, []]);
    expect((await activate(tenantId, id, false)).active).toBe(false);
    expect(await anchors(tenantId)).toEqual([]);
  });

  it('belongs to one tenant', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    const { id } = await createActive(tenantId);
    await load(tenantId);
    const [signer] = await signersOf(tenantId);
    const own = { params: { id } };
    const body = { active: false };
    for (const call of [
      admin(retrieveIaca, other, own),
      admin(updateIaca, other, { ...own, body }),
      admin(deleteIaca, other, own),
      admin(updateIacaCrl, other, { ...own, body: { crlPem: 'x' } }),
      crlAnswer(other, id),
      admin(retrieveDocumentSigner, other, { params: { id: signer!.id } }),
      admin(deleteDocumentSigner, other, { params: { id: signer!.id } }),
      changeSigner(other, signer!.id, body),
      revoke(other, signer!.id),
    ])
      expect(await kindOf(call)).toBe('notFound');
    expect(await faultsOf(requestSigner(other, id))).toEqual([['iacaId', 'must be the id of an IACA of the tenant']]);
    expect([await anchors(other), await signersOf(other)]).toEqual([[], []]);
    expect((await refusal(load(other))).code).toBe('credential_request_denied');
    expect((await iacaOf(tenantId, id)).active).toBe(true);
  });
});

describe('document signers of a managed IACA', () => {
  it('are made when they are needed, once for all requests, and for mDL apart [T115]', async () => {
    const tenantId = newTenant();
    const denied = await refusal(load(tenantId));
    expect([denied.code, denied.message]).toEqual([
      'credential_request_denied',
      'no IACA of the issuer is active and valid',
    ]);
    const { certificateData } = await createActive(tenantId);
    const made = await Promise.all(Array.from({ length: 4 }, () => load(tenantId)));
    expect(new Set(made.map(({ certificate }) => certificate.fingerprint)).size).toBe(1);
    const other = await load(tenantId, CARD);
    expect(await vaultKeys(tenantId)).toBe(3);
    const [anchor] = await anchors(tenantId);
    const days = ({ certificate: { notBefore, notAfter } }: typeof other) =>
      (notAfter.getTime() - notBefore.getTime()) / DAY_MS;
    expect([days(made[0]!), days(other)]).toEqual([457, 3650]);
    for (const signer of [made[0]!, other]) {
      const leaf = leafOf(signer);
      expect(leaf.checkIssued(anchor!) && leaf.verify(anchor!.publicKey) && !leaf.ca).toBe(true);
      expect(leaf.keyUsage).toEqual(['1.0.18013.5.1.2']);
      expect(leaf.subject).toBe(`C=ZZ\nCN=${hostOf(tenantId)} DS`);
      expect(signer.certificate.fingerprint).toBe(leaf.fingerprint256.replaceAll(':', '').toLowerCase());
      // The key of the certificate signs.
      const data = Buffer.from('to be signed');
      const key = { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' as const };
      expect(verify('sha256', data, key, await signer.signAside(data))).toBe(true);
      expect(createPublicKey({ key: signer.publicJwk as never, format: 'jwk' }).equals(leaf.publicKey)).toBe(true);
    }
    expect(certificateData.country).toBe('ZZ');
    const listed = await signersOf(tenantId);
    expect(listed.map(({ active, isManaged }) => [active, isManaged])).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(listed[0]).not.toHaveProperty('csrPem');
  });

  it('are renewed in time, once, by the holder of the lease; keys are destroyed a day after their last use [T115, T169]', async () => {
    const tenantId = newTenant();
    await createActive(tenantId, { country: 'AU' });
    const first = await load(tenantId);
    service.ahead = 28 * DAY_MS;
    await waitUntil(async () => (await dueOf(tenantId)).join() === 'crl', { what: 'the CRL alone to be due' });
    service.ahead = 29 * DAY_MS + 3_600_000;
    await waitUntil(async () => (await dueOf(tenantId)).includes('mDL'), { what: 'the signer to be due' });
    await runJob(false);
    expect(await signersOf(tenantId)).toHaveLength(1);
    await runJob();
    await runJob();
    expect(await signersOf(tenantId)).toHaveLength(2);
    const second = await load(tenantId);
    expect(second.certificate.fingerprint).not.toBe(first.certificate.fingerprint);
    await waitUntil(async () => (await dueOf(tenantId)).length === 0, { what: 'nothing to be due' });
    // A process that was paused while another one renewed it.
    service.ahead = 2 * 30 * DAY_MS;
    const [{ iacaId }] = (await signersOf(tenantId)) as [DocumentSigner];
    const target = { iacaId, documents: 'mDL' as const };
    const renew = (lease: Lease) => documentSigners().renew(tenantId, target, event(tenantId), fenceOf(lease));
    await expect(renew(await lostLease())).rejects.toThrow(StaleEpoch);
    expect([(await signersOf(tenantId)).length, await vaultKeys(tenantId)]).toEqual([2, 3]);
    await renew(await acquireLease());
    expect([(await signersOf(tenantId)).length, await vaultKeys(tenantId)]).toEqual([3, 4]);
    // The key of the second one ended a minute ago.
    service.ahead = 60 * DAY_MS + 3_660_000;
    await waitUntil(async () => (await dueOf(tenantId)).includes('endedKey'), { what: 'the keys to be due' });
    await runJob();
    expect(await vaultKeys(tenantId)).toBe(2);
    await waitUntil(async () => !(await dueOf(tenantId)).includes('endedKey'), { what: 'no key to be due' });
    expect((await signersOf(tenantId)).map(({ active }) => active)).toEqual([false, false, true]);
    // The first ended.
    service.ahead = 458 * DAY_MS;
    expect(await signersOf(tenantId)).toHaveLength(2);
  });

  it('are replaced by a request where no renewal has run, and not under an inactive IACA', async () => {
    const tenantId = newTenant();
    const { id } = await createActive(tenantId);
    const first = await load(tenantId);
    service.ahead = 31 * DAY_MS;
    expect((await load(tenantId)).certificate.fingerprint).not.toBe(first.certificate.fingerprint);
    await activate(tenantId, id, false);
    service.ahead = 62 * DAY_MS;
    const due = 'crl,endedKey,endedKey';
    await waitUntil(async () => (await dueOf(tenantId)).join() === due, { what: 'the CRL and the keys to be due' });
    await runJob();
    expect([(await signersOf(tenantId)).length, await vaultKeys(tenantId)]).toEqual([2, 1]);
    expect((await refusal(load(tenantId))).code).toBe('credential_request_denied');
    await activate(tenantId, id);
    await load(tenantId);
    expect(await signersOf(tenantId)).toHaveLength(3);
  });

  it('are not made beyond the end of the IACA [T115]', async () => {
    const tenantId = newTenant();
    const notAfter = new Date(Math.floor(Date.now() / 1000) * 1000 + 20 * DAY_MS).toISOString();
    const { id } = await createActive(tenantId, { notAfter });
    expect((await load(tenantId)).certificate.notAfter).toEqual(new Date(notAfter));
    const [{ id: signerId }] = (await signersOf(tenantId)) as [DocumentSigner];
    service.ahead = 19 * DAY_MS;
    await waitUntil(async () => (await dueOf(tenantId)).join() === 'crl', { what: 'the CRL alone to be due' });
    await runJob();
    await waitUntil(async () => (await dueOf(tenantId, new Date(notAfter))).length === 0, {
      what: 'nothing to be due',
    });
    service.ahead = 21 * DAY_MS;
    expect((await refusal(load(tenantId))).message).toBe('no IACA of the issuer is active and valid');
    expect(await anchors(tenantId)).toEqual([]);
    await activate(tenantId, id, false);
    expect(await faultsOf(activate(tenantId, id))).toEqual([
      ['active', `must be false, because the certificate ended at ${notAfter}`],
    ]);
    // Nothing is left to sign: no CRL either.
    await waitUntil(async () => (await dueOf(tenantId)).join() === 'endedKey,endedKey', { what: 'the keys to be due' });
    await runJob();
    expect(await vaultKeys(tenantId)).toBe(0);
    expect(await revoke(tenantId, signerId)).toMatchObject({ revoked: true, crlDue: false });
    await admin(deleteIaca, tenantId, { params: { id } });
  });

  it('are neither requested, changed nor deleted', async () => {
    const tenantId = newTenant();
    const { id } = await createActive(tenantId);
    await load(tenantId);
    const [signer] = await signersOf(tenantId);
    expect(await faultsOf(requestSigner(tenantId, id))).toEqual([
      ['iacaId', 'must be an unmanaged IACA: signers of managed ones are made automatically'],
    ]);
    const fault =
      'must be the id of a document signer of an unmanaged IACA: those of managed ones are renewed automatically';
    const own = { params: { id: signer!.id } };
    expect(await faultsOf(changeSigner(tenantId, signer!.id, { active: false }))).toEqual([['id', fault]]);
    expect(await faultsOf(admin(deleteDocumentSigner, tenantId, own))).toEqual([['id', fault]]);
    expect(await admin(retrieveDocumentSigner, tenantId, own)).toEqual(signer);
    await load(tenantId);
  });

  it('are deleted with it, and so are their keys and their renewal', async () => {
    const tenantId = newTenant();
    const { id } = await createActive(tenantId);
    await Promise.all([load(tenantId), load(tenantId, CARD)]);
    const later = new Date(Date.now() + 400 * DAY_MS);
    await waitUntil(async () => (await dueOf(tenantId, later)).length === 5, { what: 'the rows of the IACA' });
    await admin(deleteIaca, tenantId, { params: { id } });
    expect([await vaultKeys(tenantId), await signersOf(tenantId), await anchors(tenantId)]).toEqual([0, [], []]);
    expect(await kindOf(crlAnswer(tenantId, id))).toBe('notFound');
    expect(await kindOf(iacaOf(tenantId, id))).toBe('notFound');
    await waitUntil(async () => (await dueOf(tenantId, later)).length === 0, { what: 'the rows to be deleted' });
  });

  it('are no longer due when the tenant is purged; those of a deleted one hold up no other', async () => {
    const [gone, purged, tenantId] = [newTenant(), newTenant(), newTenant()];
    for (const one of [gone, purged, tenantId]) {
      await createActive(one);
      await load(one);
    }
    await service.engines.vault.destroyTenant(gone);
    await service.engines.bus.publish([
      {
        id: `purged-${purged}`,
        subject: tenantPurged.subject,
        headers: { tenantId: purged, requestId: 'purge', occurredAt: new Date().toISOString() },
        data: { tenantId: purged },
      },
    ]);
    service.ahead = 29.5 * DAY_MS;
    await waitUntil(async () => (await dueOf(purged)).length === 0, { what: 'the rows to be deleted' });
    await waitUntil(async () => (await dueOf(gone)).length === 2 && (await dueOf(tenantId)).length === 2, {
      what: 'both to be due',
    });
    await runJob();
    expect(await signersOf(tenantId)).toHaveLength(2);
    expect(await dueOf(gone)).toEqual([]);
    service.ahead = 31.5 * DAY_MS;
    const keyDue = async (one: string) => (await dueOf(one)).includes('endedKey');
    await waitUntil(async () => (await keyDue(gone)) && (await keyDue(tenantId)), { what: 'the keys to be due' });
    await runJob();
    expect(await vaultKeys(tenantId)).toBe(2);
    expect(await dueOf(gone)).toEqual([]);
  });
});

describe('the CRL of a managed IACA', () => {
  itWithOpenssl('is signed by it, and has a larger number after each revocation', async () => {
    const tenantId = newTenant();
    const iaca = await createActive(tenantId);
    const first = await crlOf(tenantId, iaca);
    expect(first).toContain('No Revoked Certificates');
    expect(first).toMatch(/X509v3 CRL Number: \n\s+1\n/);
    const before = await load(tenantId);
    const [signer] = await signersOf(tenantId);
    const answer = await revoke(tenantId, signer!.id);
    expect(answer).toEqual({ revoked: true, revocationDate: expect.stringMatching(/\.000Z$/), crlDue: false });
    const second = await crlOf(tenantId, iaca);
    expect(second).toContain(`Serial Number: ${serialOf(signer!.certificatePem!)}`);
    expect(second).toMatch(/X509v3 CRL Number: \n\s+6\n/);
    expect((await iacaOf(tenantId, iaca.id)).crl!.number).toBe('6');
    // It signs nothing more, and cannot.
    expect(await vaultKeys(tenantId)).toBe(1);
    expect((await load(tenantId)).certificate.fingerprint).not.toBe(before.certificate.fingerprint);
    expect(await revoke(tenantId, signer!.id)).toEqual(answer);
    expect((await iacaOf(tenantId, iaca.id)).crl!.number).toBe('6');
    expect((await signersOf(tenantId))[0]).toMatchObject({ active: false, revocationDate: answer.revocationDate });
  });

  it('is served with a validator', async () => {
    const tenantId = newTenant();
    const { id } = await create(tenantId);
    const { headers, base64 } = await crlAnswer(tenantId, id);
    expect([headers, base64]).toEqual([{ etag: '"1"' }, expect.any(String)]);
    for (const known of ['"1"', '"0", "1"', 'W/"1"', '*'])
      expect(await crlAnswer(tenantId, id, { 'if-none-match': known })).toEqual({
        status: 304,
        headers: { etag: '"1"' },
      });
    expect((await crlAnswer(tenantId, id, { 'if-none-match': '"0"' })).base64).toBe(base64);
  });

  itWithOpenssl('is renewed before its end, also while the IACA is inactive', async () => {
    const tenantId = newTenant();
    const iaca = await create(tenantId);
    service.ahead = 15.1 * DAY_MS;
    await waitUntil(async () => (await dueOf(tenantId)).join() === 'crl', { what: 'the CRL to be due' });
    await runJob();
    await runJob();
    const { crl } = await iacaOf(tenantId, iaca.id);
    expect(crl!.number).toBe('2');
    expect(new Date(crl!.nextUpdate).getTime() - service.now().getTime()).toBeGreaterThan(29.9 * DAY_MS);
    await crlOf(tenantId, iaca);
    service.ahead = 40 * DAY_MS;
    const stale = crls().renew(tenantId, iaca.id, event(tenantId), fenceOf(await lostLease()));
    await expect(stale).rejects.toThrow(StaleEpoch);
    expect((await iacaOf(tenantId, iaca.id)).crl!.number).toBe('2');
  });

  it('is not uploaded', async () => {
    const tenantId = newTenant();
    const { id } = await create(tenantId);
    expect(await faultsOf(admin(updateIacaCrl, tenantId, { params: { id }, body: { crlPem: 'x' } }))).toEqual([
      ['id', 'must be the id of an unmanaged IACA: the CRL of a managed one is signed by the platform'],
    ]);
  });
});

describe('an unmanaged IACA', () => {
  const register = async (tenantId: string, given?: CustomerIaca) => {
    const customer = given ?? (await CustomerIaca.create());
    return { customer, iaca: await createActive(tenantId, { certificatePem: customer.certificatePem }) };
  };
  const certify = async (tenantId: string, iacaId: string, customer: CustomerIaca) => {
    const { id, csrPem } = await requestSigner(tenantId, iacaId);
    return changeSigner(tenantId, id, { active: true, certificatePem: await customer.issue(csrPem!) });
  };

  it('is registered with its certificate alone', async () => {
    const tenantId = newTenant();
    const customer = await CustomerIaca.create();
    const iaca = await create(tenantId, { certificatePem: customer.certificatePem });
    expect(iaca).toMatchObject({
      active: false,
      isManaged: false,
      crlDue: false,
      certificatePem: customer.certificatePem,
    });
    expect(iaca.certificateData).toMatchObject({
      commonName: 'Customer IACA',
      country: 'AU',
      stateOrProvinceName: 'AU-NSW',
    });
    expect(iaca).not.toHaveProperty('crl');
    expect(await kindOf(crlAnswer(tenantId, iaca.id))).toBe('notFound');
    expect(await vaultKeys(tenantId)).toBe(0);
    expect(await faultsOf(create(tenantId, { certificatePem: customer.certificatePem }))).toEqual([
      ['certificatePem', 'must not be the certificate of another IACA of the tenant'],
    ]);
  });

  it('is refused with every rule that its certificate breaks', async () => {
    const tenantId = newTenant();
    const customer = await CustomerIaca.create();
    const owner = newTenant();
    const { iaca } = await register(owner, customer);
    const { csrPem } = await requestSigner(owner, iaca.id);
    const leaf = await customer.issue(csrPem!);
    expect(await faultsOf(create(tenantId, { certificatePem: leaf }))).toEqual(
      expect.arrayContaining([
        ['certificatePem', 'must be signed by its own key'],
        ['certificatePem', 'must have critical basic constraints of a CA with path length 0'],
      ]),
    );
    expect(await faultsOf(create(tenantId, { certificatePem: 'no PEM' }))).toEqual([
      ['certificatePem', 'must be one certificate in PEM, beginning with -----BEGIN CERTIFICATE-----'],
    ]);
    const broken = customer.certificatePem.replace(/\n.{8}/, '\nAAAAAAAA');
    expect(await faultsOf(create(tenantId, { certificatePem: broken }))).toEqual([
      ['certificatePem', 'must be an X.509 certificate: its content cannot be decoded'],
    ]);
    const trailing = Buffer.from(customer.certificatePem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
    const longer = `-----BEGIN CERTIFICATE-----\n${Buffer.concat([trailing, Buffer.of(0)]).toString('base64')}\n-----END CERTIFICATE-----`;
    expect(await faultsOf(create(tenantId, { certificatePem: longer }))).toEqual([
      ['certificatePem', 'must be encoded in DER: bytes follow the value'],
    ]);
    const { certificatePem: longest } = await CustomerIaca.create(21 * 366);
    expect(await faultsOf(create(tenantId, { certificatePem: longest }))).toEqual([
      ['certificatePem', 'must be correct: notAfter must be at most 20 years after notBefore'],
    ]);
    service.ahead = 3651 * DAY_MS;
    expect((await faultsOf(create(tenantId, { certificatePem: customer.certificatePem })))[0]).toEqual([
      'certificatePem',
      expect.stringMatching(/^must not be expired: it ended at /),
    ]);
  });

  it('signs by a document signer whose certificate its owner issued', async () => {
    const tenantId = newTenant();
    const { customer, iaca } = await register(tenantId);
    expect((await refusal(load(tenantId))).message).toBe('no document signer of the issuer is active and valid');
    const requested = await requestSigner(tenantId, iaca.id);
    expect(requested).toEqual({
      id: expect.any(String),
      iacaId: iaca.id,
      active: false,
      isManaged: false,
      csrPem: expect.stringMatching(/^-----BEGIN CERTIFICATE REQUEST-----\n/),
    });
    expect(await faultsOf(changeSigner(tenantId, requested.id, { active: true }))).toEqual([
      ['certificatePem', 'is required for an active document signer'],
    ]);
    const certificatePem = await customer.issue(requested.csrPem!);
    const certified = await changeSigner(tenantId, requested.id, { active: true, certificatePem });
    expect(certified).toMatchObject({ active: true, csrPem: requested.csrPem, certificatePem });
    const signer = await load(tenantId);
    const leaf = leafOf(signer);
    expect(leaf.raw).toEqual(new X509Certificate(certificatePem).raw);
    const data = Buffer.from('to be signed');
    const key = { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' as const };
    expect(verify('sha256', data, key, await signer.signAside(data))).toBe(true);
    // The one that was changed last.
    const second = await certify(tenantId, iaca.id, customer);
    expect((await load(tenantId, CARD)).certificate.fingerprint).toBe(second.certificateFingerprint);
    await changeSigner(tenantId, second.id, { active: false });
    expect((await load(tenantId)).certificate.fingerprint).toBe(certified.certificateFingerprint);
    await admin(deleteDocumentSigner, tenantId, { params: { id: requested.id } });
    expect(await vaultKeys(tenantId)).toBe(1);
    expect((await refusal(load(tenantId))).message).toBe('no document signer of the issuer is active and valid');
    expect(await kindOf(admin(retrieveDocumentSigner, tenantId, { params: { id: requested.id } }))).toBe('notFound');
    // Nothing of it is renewed by the platform; the key of the other one is destroyed after its end.
    const later = new Date(Date.now() + 9000 * DAY_MS);
    await waitUntil(async () => (await dueOf(tenantId, later)).join() === 'endedKey', { what: 'one row' });
    service.ahead = 459 * DAY_MS;
    await runJob();
    expect(await vaultKeys(tenantId)).toBe(0);
    expect(await faultsOf(changeSigner(tenantId, second.id, { active: false, certificatePem }))).toEqual(
      expect.arrayContaining([['certificatePem', 'must contain the public key of csrPem']]),
    );
    const again = { active: false, certificatePem: second.certificatePem! };
    expect(await faultsOf(changeSigner(tenantId, second.id, again))).toEqual([
      ['certificatePem', expect.stringMatching(/^must not be expired: it ended at /)],
    ]);
  });

  it('refuses a certificate of another key or another IACA', async () => {
    const tenantId = newTenant();
    const { customer, iaca } = await register(tenantId);
    const [first, second] = [await requestSigner(tenantId, iaca.id), await requestSigner(tenantId, iaca.id)];
    const swapped = { active: true, certificatePem: await customer.issue(second.csrPem!) };
    expect(await faultsOf(changeSigner(tenantId, first.id, swapped))).toEqual([
      ['certificatePem', 'must contain the public key of csrPem'],
    ]);
    const foreign = { active: false, certificatePem: await (await CustomerIaca.create()).issue(first.csrPem!) };
    expect(await faultsOf(changeSigner(tenantId, first.id, foreign))).toEqual(
      expect.arrayContaining([['certificatePem', 'must be issued by the IACA of the signer']]),
    );
    await changeSigner(tenantId, first.id, { active: false, certificatePem: await customer.issue(first.csrPem!) });
    const another = { active: true, certificatePem: await customer.issue(first.csrPem!, 30) };
    expect(await faultsOf(changeSigner(tenantId, first.id, another))).toEqual([
      ['certificatePem', 'must not change: create another document signer for another certificate'],
    ]);
  });

  it('has at most five document signers, and keys of refused ones are destroyed', async () => {
    const tenantId = newTenant();
    const { iaca } = await register(tenantId);
    const outcomes = await Promise.allSettled(Array.from({ length: 7 }, () => requestSigner(tenantId, iaca.id)));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as AppError] : []));
    expect(refused.map(({ kind, message }) => [kind, message])).toEqual(
      Array(2).fill(['conflict', 'A tenant can have at most 5 document signers of unmanaged IACAs']),
    );
    expect(await vaultKeys(tenantId)).toBe(5);
  });

  it('publishes the CRL that its owner signed; a revoked signer stops at once', async () => {
    const tenantId = newTenant();
    const { customer, iaca } = await register(tenantId);
    const upload = (crlPem: string) =>
      admin(updateIacaCrl, tenantId, { params: { id: iaca.id }, body: { crlPem } }) as Promise<Iaca>;
    const first = await upload(await customer.signCrl());
    expect(first).toMatchObject({ crl: { number: '1' }, crlDue: false });
    expect(await crlOf(tenantId, iaca)).toContain('No Revoked Certificates');
    const signer = await certify(tenantId, iaca.id, customer);
    await load(tenantId);
    const answer = await revoke(tenantId, signer.id);
    expect(answer).toEqual({ revoked: true, revocationDate: expect.any(String), crlDue: true });
    expect((await refusal(load(tenantId))).code).toBe('credential_request_denied');
    expect(await vaultKeys(tenantId)).toBe(0);
    // The members that GET returns change nothing.
    const { active, certificatePem } = await changeSigner(tenantId, signer.id, {
      active: false,
      certificatePem: signer.certificatePem,
    });
    expect([active, certificatePem]).toEqual([false, signer.certificatePem]);
    for (const body of [{ active: true }, { active: true, certificatePem: signer.certificatePem }])
      expect(await faultsOf(changeSigner(tenantId, signer.id, body))).toEqual([
        ['active', `must be false, because the document signer was revoked at ${answer.revocationDate}`],
      ]);
    expect((await iacaOf(tenantId, iaca.id)).crlDue).toBe(true);
    // Without the signer it is still due.
    expect((await upload(await customer.signCrl())).crlDue).toBe(true);
    customer.revoke(signer.certificatePem!);
    expect(await upload(await customer.signCrl())).toMatchObject({ crl: { number: '3' }, crlDue: false });
    expect(await crlOf(tenantId, iaca)).toContain(`Serial Number: ${serialOf(signer.certificatePem!)}`);
    expect(await revoke(tenantId, signer.id)).toEqual({ ...answer, crlDue: false });
    service.ahead = 31 * DAY_MS;
    expect((await iacaOf(tenantId, iaca.id)).crlDue).toBe(true);
  });

  it('refuses a CRL of another IACA, an older one, and what is none', async () => {
    const tenantId = newTenant();
    const { customer, iaca } = await register(tenantId);
    const upload = (crlPem: string) => admin(updateIacaCrl, tenantId, { params: { id: iaca.id }, body: { crlPem } });
    const [older, newer] = [await customer.signCrl(), await customer.signCrl()];
    const published = await upload(newer);
    expect(await upload(newer)).toEqual(published);
    expect(await faultsOf(upload(older))).toEqual([
      ['crlPem', 'must have a CRL number larger than 2, that of the list it replaces'],
    ]);
    expect(await faultsOf(upload(await (await CustomerIaca.create()).signCrl()))).toEqual(
      expect.arrayContaining([['crlPem', 'must be signed by the IACA with ECDSA and SHA-256, SHA-384 or SHA-512']]),
    );
    expect(await faultsOf(upload('none'))).toEqual([['crlPem', 'must be an X.509 CRL in DER or PEM']]);
    service.ahead = 31 * DAY_MS;
    expect(await faultsOf(upload(await customer.signCrl()))).toEqual([
      ['crlPem', 'must have a time nextUpdate in the future'],
    ]);
  });

  it('takes no negative CRL number, and none after the largest until it is registered again [T168]', async () => {
    const tenantId = newTenant();
    const { customer, iaca } = await register(tenantId);
    const upload = (crlPem: string, { id } = iaca) =>
      admin(updateIacaCrl, tenantId, { params: { id }, body: { crlPem } }) as Promise<Iaca>;
    expect(await faultsOf(upload(await customer.signCrl(Uint8Array.of(2, 1, 0xff))))).toEqual([
      ['crlPem', 'must have a CRL number from 0 to 2^159 - 1'],
    ]);
    const largest = await upload(await customer.signCrl(Uint8Array.of(2, 20, 0x7f, ...Array<number>(19).fill(0xff))));
    expect(largest.crl!.number).toBe(String(2n ** 159n - 1n));
    const next = await customer.signCrl();
    expect(await faultsOf(upload(next))).toEqual([
      [
        'crlPem',
        'must not replace the list with the largest CRL number, 2^159 - 1: register another IACA, or delete this one and register it again',
      ],
    ]);
    await admin(deleteIaca, tenantId, { params: { id: iaca.id } });
    expect(await upload(next, (await register(tenantId, customer)).iaca)).toMatchObject({ crl: { number: '1' } });
  });

  it('that its owner revoked a signer of by CRL alone does not sign by it', async () => {
    const tenantId = newTenant();
    const { customer, iaca } = await register(tenantId);
    const signer = await certify(tenantId, iaca.id, customer);
    customer.revoke(signer.certificatePem!);
    await admin(updateIacaCrl, tenantId, { params: { id: iaca.id }, body: { crlPem: await customer.signCrl() } });
    expect((await refusal(load(tenantId))).code).toBe('credential_request_denied');
  });

  it('whose CRL lists a certificate refuses it later', async () => {
    const tenantId = newTenant();
    const { customer, iaca } = await register(tenantId);
    const { id, csrPem } = await requestSigner(tenantId, iaca.id);
    const certificatePem = await customer.issue(csrPem!);
    customer.revoke(certificatePem);
    await admin(updateIacaCrl, tenantId, { params: { id: iaca.id }, body: { crlPem: await customer.signCrl() } });
    expect(await faultsOf(changeSigner(tenantId, id, { active: true, certificatePem }))).toEqual([
      ['certificatePem', 'must not be revoked by the CRL of its IACA'],
    ]);
    await changeSigner(tenantId, id, { active: true, certificatePem: await customer.issue(csrPem!) });
    await load(tenantId);
  });
});

describe('signers under a domain that the tenant has lost', () => {
  let revision = 0;
  const domainChanged = (tenantId: string, domain: string, isVerified: boolean) =>
    service.engines.bus.publish([
      {
        id: `domain-${++revision}`,
        subject: (isVerified ? customDomainVerified : customDomainWithdrawn).subject,
        headers: { tenantId, requestId: 'domain', occurredAt: new Date().toISOString() },
        data: { tenantId, domain, revision },
      },
    ]);
  const entriesOf = (crl: string) => crl.match(/Serial Number: \w+[\s\S]*?Certificate Hold/g)?.length ?? 0;
  const isDenied = (tenantId: string) =>
    load(tenantId).then(
      () => false,
      ({ code, message }: AppError) =>
        code === 'credential_request_denied' && message === 'the domain of the issuer has been withdrawn',
    );

  itWithOpenssl('are in the CRL as certificateHold and sign nothing, until the domain is verified again', async () => {
    const tenantId = newTenant();
    const elsewhere = await createActive(tenantId);
    domains.set(tenantId, 'id.acme.example');
    const iaca = await createActive(tenantId);
    await activate(tenantId, elsewhere.id, false);
    await load(tenantId);
    const [revokedSigner] = await signersOf(tenantId);
    await revoke(tenantId, revokedSigner!.id);
    const { certificate } = await load(tenantId);
    const [, signer] = await signersOf(tenantId);
    const before = (await iacaOf(tenantId, elsewhere.id)).crl;

    await domainChanged(tenantId, 'id.acme.example', false);
    await waitUntil(() => isDenied(tenantId), { what: 'the hold' });
    const held = await crlOf(tenantId, iaca);
    expect(entriesOf(held)).toBe(1);
    for (const { certificatePem } of [revokedSigner!, signer!])
      expect(held).toContain(`Serial Number: ${serialOf(certificatePem!)}`);
    // The other IACA does not depend on the domain.
    expect((await iacaOf(tenantId, elsewhere.id)).crl).toEqual(before);
    expect((await activate(tenantId, elsewhere.id)).active).toBe(true);
    expect(leafOf(await load(tenantId)).issuer).toContain(hostOf(tenantId));
    await activate(tenantId, elsewhere.id, false);

    // A CRL that is renewed meanwhile has them too; so has that of another revocation.
    service.ahead = 15.1 * DAY_MS;
    await waitUntil(async () => (await dueOf(tenantId)).includes('crl'), { what: 'the CRL to be due' });
    await runJob();
    expect(entriesOf(await crlOf(tenantId, iaca))).toBe(1);
    service.ahead = 0;

    await domainChanged(tenantId, 'another.example', true);
    await domainChanged(tenantId, 'id.acme.example', true);
    await waitUntil(async () => !(await isDenied(tenantId)), { what: 'the end of the hold' });
    const released = await crlOf(tenantId, iaca);
    expect(entriesOf(released)).toBe(0);
    expect(released).toContain(`Serial Number: ${serialOf(revokedSigner!.certificatePem!)}`);
    expect(released).not.toContain(serialOf(signer!.certificatePem!));
    expect((await load(tenantId)).certificate.fingerprint).toBe(certificate.fingerprint);
  });

  itWithOpenssl('of an unmanaged IACA make its CRL due', async () => {
    const tenantId = newTenant();
    const customer = await CustomerIaca.create();
    const iaca = await createActive(tenantId, { certificatePem: customer.certificatePem });
    const { id, csrPem } = await requestSigner(tenantId, iaca.id);
    const certificatePem = await customer.issue(csrPem!);
    await changeSigner(tenantId, id, { active: true, certificatePem });
    await load(tenantId);
    const [domain] = hostsOf(customer.certificatePem);
    await domainChanged(tenantId, domain!, false);
    await waitUntil(() => isDenied(tenantId), { what: 'the hold' });
    expect((await iacaOf(tenantId, iaca.id)).crlDue).toBe(true);
    customer.revoke(certificatePem);
    const body = { crlPem: await customer.signCrl() };
    expect(await admin(updateIacaCrl, tenantId, { params: { id: iaca.id }, body })).toMatchObject({ crlDue: false });
    await domainChanged(tenantId, domain!, true);
    // The owner's CRL lists it until another one does not.
    await waitUntil(
      async () => (await refusal(load(tenantId))).message === 'no document signer of the issuer is active and valid',
      { what: 'the end of the hold' },
    );
  });

  it('are held for each name of their own certificate too, of which their lists are', async () => {
    const tenantId = newTenant();
    const customer = await CustomerIaca.create();
    const [address] = hostsOf(customer.certificatePem);
    const iaca = await createActive(tenantId, { certificatePem: customer.certificatePem });
    const certify = async (...hosts: string[]) => {
      const { id, csrPem } = await requestSigner(tenantId, iaca.id);
      const names = hosts.map((host) => ({ type: 'url' as const, value: `https://${host}` }));
      return changeSigner(tenantId, id, { active: true, certificatePem: await customer.issue(csrPem!, 300, names) });
    };
    const plain = await certify(address!);
    expect((await load(tenantId)).certificate.domains).toEqual([address]);
    const named = await certify('x.example', 'a.example');
    const { certificate } = await load(tenantId);
    expect(certificate.fingerprint).toBe(named.certificateFingerprint);
    expect(certificate.domains).toEqual(['a.example', address, 'x.example']);
    await domainChanged(tenantId, 'x.example', false);
    const signedBy = async ({ certificateFingerprint }: DocumentSigner) =>
      (await load(tenantId)).certificate.fingerprint === certificateFingerprint;
    await waitUntil(() => signedBy(plain), { what: 'the hold' });
    await domainChanged(tenantId, 'a.example', false);
    await domainChanged(tenantId, address!, false);
    await waitUntil(() => isDenied(tenantId), { what: 'the hold of both' });
    await domainChanged(tenantId, 'x.example', true);
    await domainChanged(tenantId, address!, true);
    // Another name of it is still lost.
    await waitUntil(async () => !(await isDenied(tenantId)) && (await signedBy(plain)), {
      what: 'the end of one hold',
    });
    await domainChanged(tenantId, 'a.example', true);
    await waitUntil(() => signedBy(named), { what: 'the end of the other' });
  });

  it('of another tenant at the same domain are not held', async () => {
    const [first, second] = [newTenant(), newTenant()];
    for (const tenantId of [first, second]) {
      domains.set(tenantId, 'handed.example');
      await createActive(tenantId);
      await load(tenantId);
    }
    await domainChanged(first, 'handed.example', false);
    await waitUntil(() => isDenied(first), { what: 'the hold' });
    await domainChanged(second, 'handed.example', true);
    expect(await isDenied(second)).toBe(false);
    await domainChanged(first, 'handed.example', true);
    await waitUntil(async () => !(await isDenied(first)), { what: 'the end of the hold' });
  });
});
