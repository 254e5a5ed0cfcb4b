import { projected } from '@attestry/testing';
import { invitationLinks, type InvitationLinkTables } from './invitation-links.projection.js';

const given = projected(invitationLinks);
const tenantId = 't1';
const invited = (invitationId: string, userId = 'u') =>
  ({
    type: 'MemberInvited',
    data: {
      tenantId,
      userId,
      invitationId,
      secretMac: { pepper: 'p', mac: 'm' },
      expiresAt: '2026-03-01T00:00:00.000Z',
    },
  }) as const;
const row = (id: string, status: string, user_id = 'u'): InvitationLinkTables['invitation'] => ({
  id,
  tenant_id: tenantId,
  user_id,
  pepper: 'p',
  mac: 'm',
  expires_at: '2026-03-01T00:00:00.000Z',
  status,
});

describe('links of invitations', () => {
  it('are open until the same person is invited again', () => {
    given(invited('1'), invited('2', 'v'), invited('3')).expectRows({
      invitation: [row('1', 'replaced'), row('2', 'open', 'v'), row('3', 'open')],
    });
  });

  it('are used by the acceptance', () => {
    given(invited('1'), invited('2'), { type: 'InvitationAccepted', data: { invitationId: '2' } }).expectRows({
      invitation: [row('1', 'replaced'), row('2', 'used')],
    });
  });

  it('are withdrawn by whatever else happens to the member or the tenant', () => {
    for (const type of ['MemberAdded', 'InvitationCancelled', 'MemberRemoved'] as const)
      given(invited('1'), invited('2', 'v'), { type, data: { tenantId, userId: 'u' } }).expectRows({
        invitation: [row('1', 'withdrawn'), row('2', 'open', 'v')],
      });
    const deleted = { type: 'TenantDeleted', data: { tenantId } } as const;
    given(invited('1'), invited('2'), deleted).expectRows({
      invitation: [row('1', 'replaced'), row('2', 'withdrawn')],
    });
    given(invited('1'), deleted, { type: 'TenantPurged', data: { tenantId } }).expectRows({});
  });
});
