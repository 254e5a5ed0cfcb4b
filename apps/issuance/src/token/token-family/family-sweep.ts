import { Inject, Injectable } from '@nestjs/common';
import { Leases, type Clock } from '@attestry/event-store';
import { declareTables, defineProjection, nothing, ReadModels, type EventSource } from '@attestry/read-model';
import { CLOCK, DueRowsJob, Health, LOGGER, serviceContext, type DueRows, type Logger } from '@attestry/service-kit';
import { user } from '../../users/user/user.state.js';
import { wallets } from '../../wallets/registered-wallets/wallets.state.js';
import { TokenFamilies } from './token-families.js';
import type { FamilyEnd } from './token-family.events.js';
import { tokenFamily } from './token-family.state.js';

export interface TokenFamilyTables {
  /** Families that have not ended. `due_at`: end of the refresh token, or when its person or wallet ended, which `end_reason` then names. */
  issuance_token_families: {
    tenant_id: string;
    id: string;
    session_id: string;
    user_id: string;
    /** '' without a registered wallet. */
    wallet_id: string;
    due_at: string;
    end_reason: FamilyEnd | '';
  };
}
type Row = TokenFamilyTables['issuance_token_families'];

const tables = declareTables<TokenFamilyTables>({
  issuance_token_families: {
    text: ['tenant_id', 'id', 'session_id', 'user_id', 'wallet_id', 'due_at', 'end_reason'],
    primaryKey: ['id', 'tenant_id'],
    indexes: {
      issuance_token_families_by_end: ['due_at'],
      issuance_token_families_by_user: ['tenant_id', 'user_id'],
      issuance_token_families_by_wallet: ['tenant_id', 'wallet_id'],
    },
  },
});
const { issuance_token_families: families } = tables;

const endWallet = ({ data }: { data: { id: string } }, { tenantId, occurredAt }: EventSource) =>
  families.set({ tenant_id: tenantId, wallet_id: data.id }, { due_at: occurredAt, end_reason: 'walletEnded' });

export const tokenFamilies = defineProjection({
  name: 'issuance.token-families',
  version: 1,
  aggregates: [tokenFamily, user, wallets],
  tables,
  on: {
    TokenFamilyBegan: ({ data: { familyId, sessionId, userId, walletId, refreshToken } }, { tenantId }) =>
      families.insert({
        tenant_id: tenantId,
        id: familyId,
        session_id: sessionId,
        user_id: userId,
        wallet_id: walletId ?? '',
        due_at: refreshToken.expiresAt,
        end_reason: '',
      }),
    TokenFamilyEnded: ({ data }, { tenantId }) => families.remove({ id: data.familyId, tenant_id: tenantId }),
    UserDeleted: ({ data }, { tenantId, occurredAt }) =>
      families.set({ tenant_id: tenantId, user_id: data.userId }, { due_at: occurredAt, end_reason: 'personDeleted' }),
    WalletUpdated: (event, source) => (event.data.disabled ? endWallet(event, source) : []),
    WalletDeleted: endWallet,
    UserCreated: nothing,
    UserLinked: nothing,
    UserClaimsReplaced: nothing,
    UserExpired: nothing,
    WalletRegistered: nothing,
  },
});

const NAME = 'issuance.token-family-sweep';
const SWEEP_MS = 10_000;

/**
 * Ends the families of deleted persons and of disabled or deleted wallets, with their sessions' tokens and keys; until then each request is
 * refused for its person or wallet. An expired family needs no event: the end of its refresh token is in its first one.
 */
@Injectable()
export class FamilySweep extends DueRowsJob<TokenFamilyTables> {
  constructor(
    readModels: ReadModels,
    leases: Leases,
    families: TokenFamilies,
    health: Health,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    const familiesDue: DueRows<Row> = {
      table: 'issuance_token_families',
      key: ['id', 'tenant_id'],
      order: 'due_at',
      dueUpTo: (now) => now,
      async handle({ tenant_id: tenantId, session_id: sessionId, end_reason: reason }) {
        if (reason) await families.endSession(tenantId, sessionId, reason, serviceContext(NAME, tenantId));
        return 'remove';
      },
      failure: 'token family not ended',
      recovery: 'token family no longer fails to be ended',
    };
    super(
      { readModels, leases, health, clock, logger },
      {
        name: NAME,
        failure: 'ending token families failed',
        pauseMs: SWEEP_MS,
        projection: tokenFamilies,
        rows: [familiesDue],
      },
    );
  }
}
