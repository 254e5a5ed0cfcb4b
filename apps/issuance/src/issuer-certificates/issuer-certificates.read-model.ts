import { Injectable } from '@nestjs/common';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import { issuerCertificates } from './issuer-certificates.state.js';

export interface IssuerCertificateTables {
  /** The newest signer of each issuer. */
  issuance_issuer_signers: { tenant_id: string; issuer: string; due_at: string };
}

export const issuerSigners: Projection<IssuerCertificateTables> = purgingTenants('issuance', {
  name: 'issuance.issuer-signers',
  version: 1,
  categories: [issuerCertificates.category],
  types: Object.keys(issuerCertificates.types),
  tables: ['issuance_issuer_signers'],
  async create(db) {
    await createTable(db, 'issuance_issuer_signers', {
      text: ['tenant_id', 'issuer', 'due_at'],
      primaryKey: ['tenant_id', 'issuer'],
      indexes: { issuance_issuer_signers_by_due: ['due_at'] },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    for (const stored of events) {
      const event = readEvent(issuerCertificates, stored);
      if (event.type !== 'IssuerSignerCreated') continue;
      const { issuer, dueAt } = event.data;
      const { tenantId } = stored.metadata;
      await insertRows(trx, 'issuance_issuer_signers', [{ tenant_id: tenantId, issuer, due_at: dueAt }]);
      await trx
        .updateTable('issuance_issuer_signers')
        .set({ due_at: dueAt })
        .where('tenant_id', '=', tenantId)
        .where('issuer', '=', issuer)
        .execute();
    }
  },
});

@Injectable()
export class IssuerSignersReadModel extends ReadModel<IssuerCertificateTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, issuerSigners);
  }

  /** Signers that are due, the first ones first. */
  due(now: Date, limit: number): Promise<{ tenant_id: string; issuer: string }[]> {
    return this.running.db
      .selectFrom('issuance_issuer_signers')
      .select(['tenant_id', 'issuer'])
      .where('due_at', '<=', now.toISOString())
      .orderBy('due_at')
      .limit(limit)
      .execute();
  }

  /** The tenant's keys were destroyed: its rows would be due until they are purged. */
  async removeTenant(tenantId: string): Promise<void> {
    await this.running.db.deleteFrom('issuance_issuer_signers').where('tenant_id', '=', tenantId).execute();
  }
}
