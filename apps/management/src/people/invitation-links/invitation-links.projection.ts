import { readEvent } from '@attestry/event-store';
import { createTable, type Projection } from '@attestry/read-model';
import type { Transaction } from 'kysely';
import { tenant } from '../../tenants/tenant/tenant.state.js';

/** `used` by an acceptance, `replaced` by a newer invitation of the same person, `withdrawn` by anything else. */
export type InvitationStatus = 'open' | 'used' | 'replaced' | 'withdrawn';

export interface InvitationLinkTables {
  /** `pepper` and `mac`: the MAC of the link's secret. */
  invitation: {
    id: string;
    tenant_id: string;
    user_id: string;
    pepper: string;
    mac: string;
    expires_at: string;
    status: string;
  };
}

/** Every invitation by its id, with its outcome: a link is checked with one row, however long the tenant's history is. */
export const invitationLinks: Projection<InvitationLinkTables> = {
  name: 'management.invitation-links',
  version: 1,
  categories: [tenant.category],
  types: Object.keys(tenant.types),
  tables: ['invitation'],
  async create(db) {
    await createTable(db, 'invitation', {
      text: ['id', 'tenant_id', 'user_id', 'pepper', 'mac', 'expires_at', 'status'],
      primaryKey: ['id'],
      indexes: { invitation_of_user: ['tenant_id', 'user_id'] },
    });
  },
  async project(trx, events) {
    for (const stored of events) {
      const event = readEvent(tenant, stored);
      switch (event.type) {
        case 'MemberInvited': {
          const { tenantId, userId, invitationId, secretMac, expiresAt } = event.data;
          await end(trx, 'replaced', tenantId, userId);
          await trx
            .insertInto('invitation')
            .values({
              id: invitationId,
              tenant_id: tenantId,
              user_id: userId,
              pepper: secretMac.pepper,
              mac: secretMac.mac,
              expires_at: expiresAt,
              status: 'open',
            })
            // In a redelivered batch an earlier event has ended it.
            .onConflict((conflict) => conflict.column('id').doUpdateSet({ status: 'open' }))
            .execute();
          break;
        }
        case 'InvitationAccepted':
          await trx
            .updateTable('invitation')
            .set({ status: 'used' })
            .where('id', '=', event.data.invitationId)
            .execute();
          break;
        case 'MemberAdded':
        case 'InvitationCancelled':
        case 'MemberRemoved':
          await end(trx, 'withdrawn', event.data.tenantId, event.data.userId);
          break;
        case 'TenantDeleted':
          await end(trx, 'withdrawn', event.data.tenantId);
          break;
        case 'TenantPurged':
          await trx.deleteFrom('invitation').where('tenant_id', '=', event.data.tenantId).execute();
          break;
        default:
      }
    }
  },
};

/** Ends the links of one person, or of the whole tenant. */
const end = async (
  trx: Transaction<InvitationLinkTables>,
  status: InvitationStatus,
  tenantId: string,
  userId?: string,
): Promise<void> => {
  const open = trx.updateTable('invitation').set({ status }).where('tenant_id', '=', tenantId);
  const one = userId === undefined ? open : open.where('user_id', '=', userId);
  await one.where('status', '=', 'open').execute();
};
