import { Injectable } from '@nestjs/common';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { Kysely } from 'kysely';
import { credentialConfiguration } from '../../settings/credential-configuration/credential-configuration.state.js';
import { replacedKeyDueAt as replacedEncryptionKeyDueAt } from '../encryption-keys/encryption-keys.decisions.js';
import { encryptionKeys } from '../encryption-keys/encryption-keys.state.js';
import { replacedKeyDueAt } from '../issuer-certificates/issuer-certificates.decisions.js';
import { issuerCertificates } from '../issuer-certificates/issuer-certificates.state.js';
import { endedKeyDueAt } from '../mobile-certificates/destroyed-keys.decisions.js';
import { mobileCertificates } from '../mobile-certificates/mobile-certificates.state.js';

/**
 * Objects of a renewal: the signer of an issuer, a kind of signer of an IACA, the CRL of an IACA. `replacedKey`: the private key of the
 * signer before the newest of an issuer is destroyed. `endedKey`: that of an IACA or of a signer below it. `encryptionKey`: the tenant's
 * key for encrypted requests is made or replaced. `replacedEncryptionKey`: the one before it is destroyed.
 */
export type RenewedKind =
  | 'issuerSigner'
  | 'replacedKey'
  | 'mDL'
  | 'other'
  | 'statusList'
  | 'crl'
  | 'endedKey'
  | 'encryptionKey'
  | 'replacedEncryptionKey';

export interface DueCertificate {
  tenant_id: string;
  kind: RenewedKind;
  /** Issuer, id of the IACA, or of the key; that of the encryption key is the same for every tenant. */
  name: string;
  due_at: string;
}

export interface DueCertificateTables {
  /** The newest of each kind, and when another one is made, or the replaced key destroyed. */
  issuance_due_certificates: DueCertificate;
}

type Renewed = Pick<DueCertificate, 'tenant_id' | 'kind' | 'name'>;
const ENCRYPTION = 'encryption';
const OF_IACA = ['mDL', 'other', 'statusList', 'crl'] as const;

export const dueCertificates: Projection<DueCertificateTables> = purgingTenants('issuance', {
  name: 'issuance.due-certificates',
  version: 3,
  categories: [
    issuerCertificates.category,
    mobileCertificates.category,
    encryptionKeys.category,
    credentialConfiguration.category,
  ],
  types: [
    ...Object.keys(issuerCertificates.types),
    ...Object.keys(mobileCertificates.types),
    ...Object.keys(encryptionKeys.types),
    ...Object.keys(credentialConfiguration.types),
  ],
  tables: ['issuance_due_certificates'],
  async create(db) {
    await createTable(db, 'issuance_due_certificates', {
      text: ['tenant_id', 'kind', 'name', 'due_at'],
      primaryKey: ['tenant_id', 'kind', 'name'],
      indexes: { issuance_due_certificates_by_due: ['due_at'] },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    for (const stored of events) {
      const { tenantId: tenant_id } = stored.metadata;
      /** Whether there was one before. */
      const set = async (kind: RenewedKind, name: string, dueAt: string | undefined): Promise<boolean> => {
        const { numDeletedRows } = await removeRow(trx, { tenant_id, kind, name });
        if (dueAt !== undefined)
          await insertRows(trx, 'issuance_due_certificates', [{ tenant_id, kind, name, due_at: dueAt }]);
        return numDeletedRows > 0n;
      };
      const setEnd = (keyId: string, lastUse: string) => set('endedKey', keyId, endedKeyDueAt(lastUse).toISOString());
      const stop = async (iacaId: string, kinds: readonly RenewedKind[]) => {
        for (const kind of kinds) await removeRow(trx, { tenant_id, kind, name: iacaId });
      };
      // The key is made with the first configuration. A tenant that has one of an earlier release gets its key by the job.
      if (stored.stream.startsWith(`${credentialConfiguration.category}-`)) {
        const due = { tenant_id, kind: 'encryptionKey', name: ENCRYPTION, due_at: stored.metadata.occurredAt } as const;
        if (!(await hasRow(trx, due))) await insertRows(trx, 'issuance_due_certificates', [due]);
        continue;
      }
      if (stored.stream.startsWith(`${encryptionKeys.category}-`)) {
        const event = readEvent(encryptionKeys, stored);
        if (event.type === 'EncryptionKeyCreated') {
          await set('encryptionKey', ENCRYPTION, event.data.dueAt);
          const { replacedKeyId } = event.data;
          if (replacedKeyId !== undefined)
            await set('replacedEncryptionKey', replacedKeyId, replacedEncryptionKeyDueAt(event.data).toISOString());
        } else await removeRow(trx, { tenant_id, kind: 'replacedEncryptionKey', name: event.data.keyId });
        continue;
      }
      if (stored.stream.startsWith(`${issuerCertificates.category}-`)) {
        const event = readEvent(issuerCertificates, stored);
        if (event.type === 'IssuerSignerCreated') {
          const { issuer, dueAt } = event.data;
          const isReplacement = await set('issuerSigner', issuer, dueAt);
          if (isReplacement) await set('replacedKey', issuer, replacedKeyDueAt(event.data).toISOString());
        } else if (event.type === 'IssuerSignerKeyDestroyed')
          await removeRow(trx, { tenant_id, kind: 'replacedKey', name: event.data.issuer });
        continue;
      }
      const event = readEvent(mobileCertificates, stored);
      switch (event.type) {
        case 'IacaCreated':
          if (event.data.keyId !== undefined) await setEnd(event.data.keyId, event.data.data.notAfter);
          break;
        case 'DocumentSignerIssued':
          await set(event.data.documents, event.data.iacaId, event.data.dueAt);
          await setEnd(event.data.keyId, event.data.signsUntil);
          break;
        case 'DocumentSignerUpdated':
          if (event.data.issued && event.data.keyId !== undefined)
            await setEnd(event.data.keyId, event.data.issued.data.notAfter);
          break;
        case 'CertificateKeysDestroyed':
          for (const name of event.data.destroyedKeys) await removeRow(trx, { tenant_id, kind: 'endedKey', name });
          break;
        case 'CrlPublished':
          await set('crl', event.data.iacaId, event.data.dueAt);
          break;
        // The document signer of an inactive IACA is not renewed until a request needs it; its CRL and its signer of status lists are.
        case 'IacaUpdated':
          if (!event.data.active) await stop(event.data.iacaId, ['mDL', 'other']);
          break;
        case 'IacaDeleted':
          await stop(event.data.iacaId, OF_IACA);
          break;
        default:
          break;
      }
    }
  },
});

const hasRow = async (db: Kysely<DueCertificateTables>, { tenant_id, kind, name }: Renewed): Promise<boolean> => {
  const row = await db
    .selectFrom('issuance_due_certificates')
    .select('due_at')
    .where('tenant_id', '=', tenant_id)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .executeTakeFirst();
  return row !== undefined;
};

const removeRow = (db: Kysely<DueCertificateTables>, { tenant_id, kind, name }: Renewed) =>
  db
    .deleteFrom('issuance_due_certificates')
    .where('tenant_id', '=', tenant_id)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .executeTakeFirst();

@Injectable()
export class DueCertificates extends ReadModel<DueCertificateTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, dueCertificates);
  }

  /** Due renewals, the first ones first. */
  due(now: Date, limit: number): Promise<DueCertificate[]> {
    return this.running.db
      .selectFrom('issuance_due_certificates')
      .selectAll()
      .where('due_at', '<=', now.toISOString())
      .orderBy('due_at')
      .limit(limit)
      .execute();
  }

  /** Unless it was renewed in the meantime. The times of events return with a rebuild. */
  async postpone({ tenant_id, kind, name, due_at }: DueCertificate, until: Date): Promise<void> {
    await this.running.db
      .updateTable('issuance_due_certificates')
      .set({ due_at: until.toISOString() })
      .where('tenant_id', '=', tenant_id)
      .where('kind', '=', kind)
      .where('name', '=', name)
      .where('due_at', '=', due_at)
      .execute();
  }

  /** Removes what is not renewed any more, unless it was renewed in the meantime: the row would be due until its tenant is purged. */
  async remove({ tenant_id, kind, name, due_at }: DueCertificate): Promise<void> {
    await this.running.db
      .deleteFrom('issuance_due_certificates')
      .where('tenant_id', '=', tenant_id)
      .where('kind', '=', kind)
      .where('name', '=', name)
      .where('due_at', '=', due_at)
      .execute();
  }
}
