/** @engines embedded */
import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  createDocumentSigner,
  createIaca,
  deleteDocumentSigner,
  deleteIaca,
  retrieveBrand,
  revokeDocumentSigner,
  updateDocumentSigner,
  updateIaca,
  type DocumentSigner,
  type Iaca,
  type Operation,
} from '@attestry/contracts';
import { copyEvents, StaleEpoch, type Lease } from '@attestry/event-store';
import { serviceContext } from '@attestry/service-kit';
import { CustomerIaca, restoreKeys, waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { DocumentSigners } from '../document-signers/document-signers.js';
import { issuanceService } from '../../index.js';
import { issuerCertificates, issuerCertificatesStream } from '../issuer-certificates/issuer-certificates.state.js';
import { IssuerSigners } from '../issuer-certificates/issuer-signers.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { RenewCertificates } from './renew-certificates.worker.js';

const DAY_MS = 86_400_000;
const MDL = 'org.iso.18013.5.1.mDL';
const TENANT = '60000001-0000-4000-8000-000000000000';
const ISSUER = 'http://60000001.localhost:8080';
const MASTER_KEY = randomBytes(32).toString('base64url');
let folder: string;
/** Milliseconds the clock is ahead. */
let ahead = 0;
const ends: (() => Promise<void>)[] = [];

/** One process on a data folder. */
class Process extends ServiceUnderTest {
  private constructor(private readonly name: string) {
    const clock = { now: () => new Date(Date.now() + ahead) };
    super(issuanceService, { settings: { MASTER_KEY }, baseOf: () => ISSUER, clock });
    this.answer(retrieveBrand, () => ({}));
    ends.push(() => this.close());
  }

  /** The engines alone. */
  static async openAt(name: string): Promise<Process> {
    const opened = new Process(name);
    await opened.openEngines();
    return opened;
  }

  static async start(name: string): Promise<Process> {
    const started = await Process.openAt(name);
    await started.start();
    // The specs run the job themselves: a run of the service could come after the clock was moved.
    await started.get(RenewCertificates).beforeApplicationShutdown();
    return started;
  }

  override get folder(): string {
    return join(folder, this.name);
  }

  call(operation: Operation, request: object): Promise<unknown> {
    return this.admin(operation, request, TENANT);
  }

  async createIaca(body: object = {}): Promise<Iaca> {
    const { id } = (await this.call(createIaca, { body })) as Iaca;
    return (await this.call(updateIaca, { params: { id }, body: { active: true } })) as Iaca;
  }
  loadSigner() {
    return this.get(DocumentSigners).loadSigner(TENANT, { docType: MDL, hasStatus: false }, this.context());
  }
  ensureIssuerSigner() {
    return this.get(IssuerSigners).ensure(TENANT, ISSUER, this.context());
  }
  /** Waits until these kinds are due: the projection follows. */
  async due(...kinds: string[]): Promise<void> {
    const rows = async () =>
      (await this.get(RenewCertificates).due(new Date(Date.now() + ahead), 100)).map(({ kind }) => kind).sort();
    await waitUntil(async () => (await rows()).join() === kinds.join(), { what: `${kinds.join()} to be due` });
  }
  /** @param lease of a holder that still considers itself one */
  async renew(lease?: Lease): Promise<void> {
    const term = { lease: lease ?? (await this.acquireLease()), isHeld: true };
    await this.get(RenewCertificates).runJob(term);
  }
  async acquireLease(holder = 'spec'): Promise<Lease> {
    return (await this.engines.leases.acquire('issuance.spec', holder, 600_000))!;
  }
  /** Raises the epoch as many holders would. */
  async growEpoch(): Promise<void> {
    for (let n = 0; n < 20; n++) await this.engines.leases.release(await this.acquireLease());
  }

  async state() {
    const { streams } = this.engines;
    const mobile = await streams.load(mobileCertificates, mobileCertificatesStream(TENANT));
    const issuer = await streams.load(issuerCertificates, issuerCertificatesStream(TENANT));
    return {
      revisions: [mobile.revision, issuer.revision],
      crls: mobile.state.iacas.map(({ crl }) => crl && Number(crl.number)),
      documentSigners: mobile.state.signers.map(({ isKeyDestroyed = false }) => isKeyDestroyed),
      issuerSigners: issuer.state.signers.map(({ isKeyDestroyed = false }) => isKeyDestroyed),
    };
  }
  async keys(): Promise<string[]> {
    const keys = await this.engines.vault.signingKeys.listSigningKeys(TENANT, 'certificate');
    return keys.map(({ keyId }) => keyId).sort();
  }
  private context() {
    return serviceContext('issuance.spec', TENANT);
  }
}

const fileOf = (name: string) => join(folder, name, 'events.db');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-renewal-'));
  ahead = 0;
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await rm(folder, { recursive: true });
});

/** A tenant of which everything was renewed once, by a holder of a large epoch. */
const renewedOnce = async (): Promise<Process> => {
  const process = await Process.start('one');
  await process.growEpoch();
  await process.createIaca();
  await process.loadSigner();
  await process.ensureIssuerSigner();
  ahead = 366 * DAY_MS;
  await process.due('crl', 'endedKey', 'issuerSigner', 'mDL');
  await process.renew();
  expect(await process.state()).toMatchObject({
    crls: [expect.any(Number)],
    documentSigners: [true, false],
    issuerSigners: [false, false],
  });
  return process;
};
/** Everything of it is renewed again, and the keys of what is replaced are destroyed. */
const expectRenewal = async (process: Process): Promise<void> => {
  const before = await process.state();
  ahead = 2 * 366 * DAY_MS;
  await process.due('crl', 'endedKey', 'issuerSigner', 'mDL', 'replacedKey');
  await process.renew();
  ahead += 2 * DAY_MS;
  await process.due('replacedKey');
  await process.renew();
  const after = await process.state();
  expect(after).toMatchObject({ documentSigners: [true, false], issuerSigners: [true, true, false] });
  expect(after.crls[0]).toBeGreaterThan(before.crls[0]!);
  // The IACA, the CA and the signers that sign.
  expect(await process.keys()).toHaveLength(4);
};

describe('certificates are renewed', () => {
  it('after their events were copied to another store, whose leases have smaller epochs', async () => {
    const first = await renewedOnce();
    const { epoch } = await first.acquireLease();
    await first.close();
    await (await Process.openAt('other')).close();
    restoreKeys(fileOf('other'), fileOf('one'));
    const [source, target] = [await Process.openAt('one'), await Process.openAt('other')];
    expect(await copyEvents(source.engines.events, target.engines.events)).toMatchObject({ reordered: 0 });
    await source.close();
    await target.close();
    const other = await Process.start('other');
    expect((await other.acquireLease()).epoch).toBeLessThan(epoch);
    await expectRenewal(other);
  });

  it('after the leases were lost', async () => {
    const first = await renewedOnce();
    await first.close();
    const db = new DatabaseSync(fileOf('one'));
    db.exec('DELETE FROM leases');
    db.close();
    const second = await Process.start('one');
    expect((await second.acquireLease()).epoch).toBe(1);
    await expectRenewal(second);
  });

  it('by the holder of the lease alone: one that was paused appends nothing and leaves no key', async () => {
    const process = await renewedOnce();
    const held = await process.acquireLease();
    await process.engines.leases.release(held);
    await process.acquireLease('later');
    const { revisions } = await process.state();
    const keys = await process.keys();
    ahead = 2 * 366 * DAY_MS;
    await process.due('crl', 'endedKey', 'issuerSigner', 'mDL', 'replacedKey');
    await expect(process.renew(held)).rejects.toThrow(StaleEpoch);
    expect((await process.state()).revisions).toEqual(revisions);
    expect((await process.keys()).filter((id) => !keys.includes(id))).toEqual([]);
    await process.renew(await process.acquireLease('later'));
    expect((await process.state()).documentSigners).toEqual([true, false]);
  });
});

describe('private keys', () => {
  const customerSigner = async (process: Process, isCertified: boolean) => {
    const customer = await CustomerIaca.create();
    const iaca = await process.createIaca({ certificatePem: customer.certificatePem });
    const body = { iacaId: iaca.id };
    const signer = (await process.call(createDocumentSigner, { body })) as DocumentSigner;
    const params = { id: signer.id };
    if (isCertified) {
      const certificatePem = await customer.issue(signer.csrPem!);
      await process.call(updateDocumentSigner, { params, body: { active: true, certificatePem } });
    }
    return { iaca, params };
  };

  it('are destroyed after all when the vault failed after the deletion was stored', async () => {
    const process = await Process.start('one');
    const { signingKeys } = process.engines.vault;
    const destroy = signingKeys.destroySigningKeys.bind(signingKeys);
    let isAway = false;
    signingKeys.destroySigningKeys = (...given) =>
      isAway ? Promise.reject(new Error('the vault is away')) : destroy(...given);
    const managed = await process.createIaca();
    await process.loadSigner();
    const revoked = await customerSigner(process, true);
    const deleted = await customerSigner(process, false);
    expect(await process.keys()).toHaveLength(4);
    isAway = true;
    for (const call of [
      process.call(revokeDocumentSigner, { params: revoked.params }),
      process.call(deleteDocumentSigner, { params: deleted.params }),
      process.call(deleteIaca, { params: { id: managed.id } }),
    ])
      await expect(call).rejects.toMatchObject({ kind: 'internal' });
    expect((await process.state()).documentSigners).toEqual([true]);
    expect(await process.keys()).toHaveLength(4);
    isAway = false;
    await waitUntil(async () => (await process.keys()).length === 0, { what: 'the keys to be destroyed' });
  });

  it('are destroyed after all when the process ended before [T169]', async () => {
    const first = await Process.start('one');
    const managed = await first.createIaca();
    await first.loadSigner();
    const { signingKeys } = first.engines.vault;
    signingKeys.destroySigningKeys = () => Promise.reject(new Error('killed'));
    await expect(first.call(deleteIaca, { params: { id: managed.id } })).rejects.toThrow();
    await first.close();
    const second = await Process.start('one');
    await waitUntil(async () => (await second.keys()).length === 0, { what: 'the keys to be destroyed' });
  });

  it('that were destroyed since a backup are destroyed again when its keys are restored', async () => {
    const process = await Process.start('one');
    await process.ensureIssuerSigner();
    const managed = await process.createIaca();
    await process.loadSigner();
    const revoked = await customerSigner(process, true);
    const deleted = await customerSigner(process, false);
    await process.close();
    await copyFile(fileOf('one'), join(folder, 'backup.db'));
    const second = await Process.start('one');
    const all = await second.keys();
    await second.call(revokeDocumentSigner, { params: revoked.params });
    await second.call(deleteDocumentSigner, { params: deleted.params });
    ahead = 366 * DAY_MS;
    await second.due('crl', 'endedKey', 'issuerSigner', 'mDL');
    await second.renew();
    ahead += 2 * DAY_MS;
    await second.due('replacedKey');
    await second.renew();
    await second.call(deleteIaca, { params: { id: managed.id } });
    // The CA and the newest issuer signer; the CA is older than the backup.
    const left = await second.keys();
    expect([all.length, left.length, left.filter((id) => all.includes(id)).length]).toEqual([6, 2, 1]);
    await second.close();
    restoreKeys(fileOf('one'), join(folder, 'backup.db'));
    const third = await Process.start('one');
    await waitUntil(async () => (await third.keys()).join() === left.filter((id) => all.includes(id)).join(), {
      what: 'the keys to be destroyed again',
    });
  });
});
