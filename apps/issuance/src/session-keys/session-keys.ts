import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Leases, readEvent, type Clock } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { createTable, insertRows, ReadModels, type Projection, type RunningProjection } from '@attestry/read-model';
import { CLOCK, Health, LOGGER, PeriodicWork, startProjection, type Logger } from '@attestry/service-kit';
import { sql, type Transaction } from 'kysely';
import type { IssuanceSessionEvent } from '../issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from '../issuance-session/issuance-session.state.js';

export interface SessionKeyTables {
  /** Sessions whose claims are sealed under a session key, until that key is destroyed. `rights_end_at`: of code and token, the later. */
  issuance_session_keys: { tenant_id: string; session_id: string; rights_end_at: string };
}

/** When the rights end that a session has after an event; undefined when the event changes nothing. A further right is added here. */
const rightsEndAt = (event: IssuanceSessionEvent): string | undefined => {
  switch (event.type) {
    case 'OfferCreated':
    case 'AuthorizationGranted':
      return event.data.code.expiresAt;
    case 'PreAuthorizedCodeRedeemed':
    case 'AuthorizationCodeRedeemed':
      return event.data.accessToken.expiresAt;
    case 'SessionLocked':
      return event.data.lockedAt;
    case 'AuthorizationCodeReplayed':
      return event.data.replayedAt;
    case 'OfferDeleted':
      return event.data.deletedAt;
    case 'TransactionCodeRefused':
    case 'CredentialIssued':
      return undefined;
  }
};

const changeEnds = async (
  trx: Transaction<SessionKeyTables>,
  ends: readonly SessionKeyTables['issuance_session_keys'][],
): Promise<void> => {
  if (!ends.length) return;
  const values = ends.map((row) => sql`(${row.tenant_id}, ${row.session_id}, ${row.rights_end_at})`);
  await sql`with ends as (values ${sql.join(values)})
    update ${sql.table('issuance_session_keys')} set rights_end_at = ends.column3 from ends
    where tenant_id = ends.column1 and session_id = ends.column2`.execute(trx);
};

export const sessionKeys: Projection<SessionKeyTables> = {
  name: 'issuance.session-keys',
  version: 2,
  categories: [issuanceSession.category],
  types: Object.keys(issuanceSession.types),
  tables: ['issuance_session_keys'],
  async create(db) {
    await createTable(db, 'issuance_session_keys', {
      text: ['tenant_id', 'session_id', 'rights_end_at'],
      primaryKey: ['session_id', 'tenant_id'],
      indexes: { issuance_session_keys_by_end: ['rights_end_at'] },
    });
  },
  async project(trx, events) {
    /** Changes of the batch by stream, the last of each. */
    const begun = new Map<string, SessionKeyTables['issuance_session_keys']>();
    const changed: typeof begun = new Map();
    for (const stored of events) {
      const event = readEvent(issuanceSession, stored);
      const end = rightsEndAt(event);
      if (end === undefined) continue;
      const { stream, metadata } = stored;
      if (event.type === 'OfferCreated' || event.type === 'AuthorizationGranted') {
        if (event.data.sealedClaims === undefined) continue;
        begun.set(stream, { tenant_id: metadata.tenantId, session_id: event.data.sessionId, rights_end_at: end });
        continue;
      }
      const row = begun.get(stream);
      if (row) row.rights_end_at = end;
      else {
        const sessionId = stream.slice(issuanceSessionStream(metadata.tenantId, '').length);
        changed.set(stream, { tenant_id: metadata.tenantId, session_id: sessionId, rights_end_at: end });
      }
    }
    await insertRows(trx, 'issuance_session_keys', [...begun.values()]);
    await changeEnds(trx, [...changed.values()]);
  },
};

const SWEEP_MS = 10_000;
const BATCH = 500;
/** An exchange that began before a code expired is stored by then: its token keeps the key. */
const EXCHANGE_MS = 60_000;
/** How long events stored before a sweep may take to appear in the read model. */
const CATCH_UP_MS = 10_000;

/**
 * Destroys the keys of sessions whose last right has ended, under which claims of offers were sealed (ADR 0058). Deleted and locked
 * sessions lose their key at once; this sweep destroys it again. A rebuild of the projection restores rows of destroyed keys; destroying
 * those again is no error.
 */
@Injectable()
export class SessionKeys extends PeriodicWork implements OnModuleInit {
  running!: RunningProjection<SessionKeyTables>;

  constructor(
    private readonly readModels: ReadModels,
    leases: Leases,
    private readonly sealing: Sealing,
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
    const due = new Date(this.clock.now().getTime() - EXCHANGE_MS).toISOString();
    // A token that is not projected yet must not lose its session's key.
    if (!(await this.running.waitForHead(CATCH_UP_MS))) return 0;
    let destroyed = 0;
    for (;;) {
      const rows = await this.running.db
        .selectFrom('issuance_session_keys')
        .selectAll()
        .where('rights_end_at', '<', due)
        .orderBy('rights_end_at')
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
          .where('rights_end_at', '<', due)
          .execute();
      }
      destroyed += rows.length;
      if (rows.length < BATCH) return destroyed;
    }
  }
}
