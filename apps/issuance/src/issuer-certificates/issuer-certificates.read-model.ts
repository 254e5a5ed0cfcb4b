import { Injectable } from '@nestjs/common';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import { replacedKeyDueAt } from './issuer-certificates.decisions.js';
import { issuerCertificates } from './issuer-certificates.state.js';

export interface IssuerCertificateTables {
  /** The newest signer of each issuer. `due_at`: when the key of the one before it is to be destroyed; after that, or without one, `renew_at`. */
  issuance_issuer_signers: { tenant_id: string; issuer: string; due_at: string; renew_at: string };
}

export const issuerSigners: Projection<IssuerCertificateTables> = purgingTenants('issuance', {
  name: 'issuance.issuer-signers',
  version: 2,
  categories: [issuerCertificates.category],
  types: Object.keys(issuerCertificates.types),
  tables: ['issuance_issuer_signers'],
  async create(db) {
    await createTable(db, 'issuance_issuer_signers', {
      text: ['tenant_id', 'issuer', 'due_at', 'renew_at'],
      primaryKey: ['tenant_id', 'issuer'],
      indexes: { issuance_issuer_signers_by_due: ['due_at'] },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    for (const stored of events) {
      const event = readEvent(issuerCertificates, stored);
      if (event.type === 'IssuerCaCreated') continue;
      const { tenantId } = stored.metadata;
      const { issuer } = event.data;
      const known = trx
        .updateTable('issuance_issuer_signers')
        .where('tenant_id', '=', tenantId)
        .where('issuer', '=', issuer);
      if (event.type === 'IssuerSignerKeyDestroyed') {
        await known.set((row) => ({ due_at: row.ref('renew_at') })).execute();
        continue;
      }
      const { dueAt } = event.data;
      const replaced = { due_at: replacedKeyDueAt(event.data).toISOString(), renew_at: dueAt };
      const { numUpdatedRows } = await known.set(replaced).executeTakeFirst();
      if (numUpdatedRows === 0n)
        await insertRows(trx, 'issuance_issuer_signers', [
          { tenant_id: tenantId, issuer, due_at: dueAt, renew_at: dueAt },
        ]);
    }
  },
});

@Injectable()
export class IssuerSignersReadModel extends ReadModel<IssuerCertificateTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, issuerSigners);
  }

  /** Signers that are to be renewed, or whose replaced key is to be destroyed, the first ones first. */
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
