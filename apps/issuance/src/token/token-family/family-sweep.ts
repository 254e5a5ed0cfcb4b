import { Inject, Injectable } from '@nestjs/common';
import { Leases, readEvent, type Clock, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import {
  CLOCK,
  DueRowsJob,
  Health,
  LOGGER,
  purgingTenants,
  serviceContext,
  type DueRows,
  type Logger,
} from '@attestry/service-kit';
import type { Transaction } from 'kysely';
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

const AGGREGATES = [tokenFamily, user, wallets] as const;

const eventOf = (stored: RecordedEvent) => {
  switch (stored.stream.slice(0, stored.stream.indexOf('-'))) {
    case user.category:
      return readEvent(user, stored);
    case wallets.category:
      return readEvent(wallets, stored);
    default:
      return readEvent(tokenFamily, stored);
  }
};

const endFamilies = (
  trx: Transaction<TokenFamilyTables>,
  { tenantId, occurredAt }: RecordedEvent['metadata'],
  owner: Partial<Pick<Row, 'user_id' | 'wallet_id'>>,
  reason: FamilyEnd,
) => {
  const [[column, id]] = Object.entries(owner) as [['user_id' | 'wallet_id', string]];
  return trx
    .updateTable('issuance_token_families')
    .set({ due_at: occurredAt, end_reason: reason })
    .where('tenant_id', '=', tenantId)
    .where(column, '=', id)
    .execute();
};

export const tokenFamilies: Projection<TokenFamilyTables> = purgingTenants('issuance', {
  name: 'issuance.token-families',
  version: 1,
  categories: AGGREGATES.map(({ category }) => category),
  types: AGGREGATES.flatMap(({ types }) => Object.keys(types)),
  tables: ['issuance_token_families'],
  async create(db) {
    await createTable(db, 'issuance_token_families', {
      text: ['tenant_id', 'id', 'session_id', 'user_id', 'wallet_id', 'due_at', 'end_reason'],
      primaryKey: ['id', 'tenant_id'],
      indexes: {
        issuance_token_families_by_end: ['due_at'],
        issuance_token_families_by_user: ['tenant_id', 'user_id'],
        issuance_token_families_by_wallet: ['tenant_id', 'wallet_id'],
      },
    });
  },
  async project(trx, events) {
    let begun: Row[] = [];
    const flush = async () => {
      await insertRows(trx, 'issuance_token_families', begun);
      begun = [];
    };
    for (const stored of events) {
      const { metadata } = stored;
      const event = eventOf(stored);
      switch (event.type) {
        case 'TokenFamilyBegan': {
          const { familyId, sessionId, userId, walletId, refreshToken } = event.data;
          begun.push({
            tenant_id: metadata.tenantId,
            id: familyId,
            session_id: sessionId,
            user_id: userId,
            wallet_id: walletId ?? '',
            due_at: refreshToken.expiresAt,
            end_reason: '',
          });
          break;
        }
        case 'TokenFamilyEnded':
          await flush();
          await trx
            .deleteFrom('issuance_token_families')
            .where('id', '=', event.data.familyId)
            .where('tenant_id', '=', metadata.tenantId)
            .execute();
          break;
        case 'UserDeleted':
          await flush();
          await endFamilies(trx, metadata, { user_id: event.data.userId }, 'personDeleted');
          break;
        case 'WalletUpdated':
        case 'WalletDeleted':
          if (event.type === 'WalletUpdated' && !event.data.disabled) break;
          await flush();
          await endFamilies(trx, metadata, { wallet_id: event.data.id }, 'walletEnded');
          break;
        case 'UserCreated':
        case 'UserLinked':
        case 'UserClaimsReplaced':
        case 'UserExpired':
        case 'WalletRegistered':
          break;
      }
    }
    await flush();
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
