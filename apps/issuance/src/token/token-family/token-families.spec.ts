import { projected } from '@attestry/testing';
import { tokenFamilies, type TokenFamilyTables } from './family-sweep.js';

const given = projected(tokenFamilies);
const at = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`;
const began = (familyId: string, userId: string, walletId?: string) =>
  ({
    type: 'TokenFamilyBegan',
    data: { familyId, sessionId: `of-${familyId}`, userId, walletId, refreshToken: { expiresAt: at(9) } },
  }) as const;
const row = (id: string, user_id: string, wallet_id = ''): TokenFamilyTables['issuance_token_families'] => ({
  tenant_id: 't1',
  id,
  session_id: `of-${id}`,
  user_id,
  wallet_id,
  due_at: at(9),
  end_reason: '',
});
const of = { occurredAt: at(2) };

describe('token families that have not ended', () => {
  it('are due when their refresh token expires', () => {
    given(began('f', 'u'), began('g', 'u', 'w')).expectRows({
      issuance_token_families: [row('f', 'u'), row('g', 'u', 'w')],
    });
    given(began('f', 'u'), { type: 'TokenFamilyEnded', data: { familyId: 'f' } }).expectRows({});
  });

  it('are due at once when their person is deleted', () => {
    given(began('f', 'u'), began('g', 'v'), { type: 'UserDeleted', data: { userId: 'u' }, of }).expectRows({
      issuance_token_families: [{ ...row('f', 'u'), due_at: at(2), end_reason: 'personDeleted' }, row('g', 'v')],
    });
  });

  it('are due at once when their wallet is disabled or deleted', () => {
    const ended = [row('f', 'u'), { ...row('g', 'u', 'w'), due_at: at(2), end_reason: 'walletEnded' as const }];
    const families = [began('f', 'u'), began('g', 'u', 'w')];
    given(...families, { type: 'WalletUpdated', data: { id: 'w', disabled: true }, of }).expectRows({
      issuance_token_families: ended,
    });
    given(...families, { type: 'WalletDeleted', data: { id: 'w' }, of }).expectRows({
      issuance_token_families: ended,
    });
    given(...families, { type: 'WalletUpdated', data: { id: 'w', disabled: false }, of }).expectRows({
      issuance_token_families: [row('f', 'u'), row('g', 'u', 'w')],
    });
  });
});
