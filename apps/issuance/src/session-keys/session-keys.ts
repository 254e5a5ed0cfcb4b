import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Leases, readEvent, type Clock } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { createTable, insertRows, ReadModels, type Projection, type RunningProjection } from '@attestry/read-model';
import {
  CLOCK,
  Health,
  LOGGER,
  PeriodicWork,
  PlatformConfig,
  startProjection,
  type Logger,
} from '@attestry/service-kit';
import { issuanceSession } from '../issuance-session/issuance-session.state.js';

export interface SessionKeyTables {
  /** Sessions whose claims are sealed under a session key, until that key is destroyed. */
  issuance_session_keys: { tenant_id: string; session_id: string; code_expires_at: string };
}

export const sessionKeys: Projection<SessionKeyTables> = {
  name: 'issuance.session-keys',
  version: 1,
  categories: [issuanceSession.category],
  types: Object.keys(issuanceSession.types),
  tables: ['issuance_session_keys'],
  async create(db) {
    await createTable(db, 'issuance_session_keys', {
      text: ['tenant_id', 'session_id', 'code_expires_at'],
      primaryKey: ['code_expires_at', 'tenant_id', 'session_id'],
    });
  },
  async project(trx, events) {
    const rows: SessionKeyTables['issuance_session_keys'][] = [];
    for (const stored of events) {
      if (stored.type !== 'OfferCreated' && stored.type !== 'AuthorizationGranted') continue;
      const event = readEvent(issuanceSession, stored);
      if (event.type !== 'OfferCreated' && event.type !== 'AuthorizationGranted') continue;
      if (event.data.sealedClaims !== undefined)
        rows.push({
          tenant_id: stored.metadata.tenantId,
          session_id: event.data.sessionId,
          code_expires_at: event.data.code.expiresAt,
        });
    }
    await insertRows(trx, 'issuance_session_keys', rows);
  },
};

const SWEEP_MS = 10_000;
const BATCH = 500;

/**
 * Destroys the keys of ended sessions, under which claims of offers were sealed (ADR 0058). A token expires at the latest its whole
 * lifetime after the code that it was exchanged for, so one time per session is enough. Deleted and locked sessions lose their key at once;
 * this sweep destroys it again. A rebuild of the projection restores rows of destroyed keys; destroying those again is no error.
 */
@Injectable()
export class SessionKeys extends PeriodicWork implements OnModuleInit {
  running!: RunningProjection<SessionKeyTables>;

  constructor(
    private readonly readModels: ReadModels,
    leases: Leases,
    private readonly sealing: Sealing,
    private readonly config: PlatformConfig,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(leases, health, logger, {
      name: 'issuance.session-key-sweep',
      failure: 'destroying keys of ended sessions failed',
      pauseMs: SWEEP_MS,
    });
  }

  async onModuleInit(): Promise<void> {
    this.running = await startProjection(this.readModels, this.health, sessionKeys);
  }

  async runJob(): Promise<void> {
    await this.sweep();
  }

  /** Destroys the keys that are due; returns their number. */
  async sweep(): Promise<number> {
    const due = new Date(this.clock.now().getTime() - this.config.accessTokenSeconds * 1000).toISOString();
    let destroyed = 0;
    for (;;) {
      const rows = await this.running.db
        .selectFrom('issuance_session_keys')
        .selectAll()
        .where('code_expires_at', '<', due)
        .orderBy('code_expires_at')
        .limit(BATCH)
        .execute();
      const tenants = Map.groupBy(rows, (row) => row.tenant_id);
      for (const [tenantId, sessions] of tenants) {
        const ids = sessions.map((row) => row.session_id);
        await this.sealing.destroyDataKeys(tenantId, ids);
        await this.running.db
          .deleteFrom('issuance_session_keys')
          .where('tenant_id', '=', tenantId)
          .where('session_id', 'in', ids)
          .where('code_expires_at', '<', due)
          .execute();
      }
      destroyed += rows.length;
      if (rows.length < BATCH) return destroyed;
    }
  }
}
