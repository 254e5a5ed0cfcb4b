import { Injectable } from '@nestjs/common';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { Kysely } from 'kysely';
import { replacedKeyDueAt } from '../issuer-certificates/issuer-certificates.decisions.js';
import { issuerCertificates } from '../issuer-certificates/issuer-certificates.state.js';
import { mobileCertificates } from '../mobile-certificates/mobile-certificates.state.js';

/**
 * What is renewed: the signer of an issuer, a kind of signer of an IACA, the CRL of an IACA. `replacedKey`: the private key of the
 * signer before the newest of an issuer is destroyed.
 */
export type RenewedKind = 'issuerSigner' | 'replacedKey' | 'mDL' | 'other' | 'statusList' | 'crl';

export interface DueCertificate {
  tenant_id: string;
  kind: RenewedKind;
  /** Issuer, or id of the IACA. */
  name: string;
  due_at: string;
}

export interface DueCertificateTables {
  /** The newest of each kind, and when another one is made, or the replaced key destroyed. */
  issuance_due_certificates: DueCertificate;
}

type Renewed = Pick<DueCertificate, 'tenant_id' | 'kind' | 'name'>;
const OF_IACA = ['mDL', 'other', 'statusList', 'crl'] as const;

export const dueCertificates: Projection<DueCertificateTables> = purgingTenants('issuance', {
  name: 'issuance.due-certificates',
  version: 1,
  categories: [issuerCertificates.category, mobileCertificates.category],
  types: [...Object.keys(issuerCertificates.types), ...Object.keys(mobileCertificates.types)],
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
      const stop = async (iacaId: string, kinds: readonly RenewedKind[]) => {
        for (const kind of kinds) await removeRow(trx, { tenant_id, kind, name: iacaId });
      };
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
        case 'DocumentSignerIssued':
          await set(event.data.documents, event.data.iacaId, event.data.dueAt);
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

  /** What is due, the first ones first. */
  due(now: Date, limit: number): Promise<DueCertificate[]> {
    return this.running.db
      .selectFrom('issuance_due_certificates')
      .selectAll()
      .where('due_at', '<=', now.toISOString())
      .orderBy('due_at')
      .limit(limit)
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
