import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Leases, readEvent, Streams, type Clock } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { createTable, insertRows, ReadModels, type Projection, type RunningProjection } from '@attestry/read-model';
import {
  CLOCK,
  Health,
  LOGGER,
  PeriodicWork,
  serviceContext,
  startProjection,
  type Logger,
} from '@attestry/service-kit';
import { sql, type Transaction } from 'kysely';
import type { AuthorizationOfferEvent } from '../../sessions/authorization-offer/authorization-offer.events.js';
import { authorizationOffer } from '../../sessions/authorization-offer/authorization-offer.state.js';
import type { IssuanceSessionEvent } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { expireUser } from '../../users/user/user.decisions.js';
import { user, userStream } from '../../users/user/user.state.js';

export interface SessionKeyTables {
  /**
   * Sessions that leave something to end: claims sealed under a session key, or a user who began with the offer. `rights_end_at`: of code
   * and token, the later. `new_user_id`: until a credential is issued to that user. A stored offer with claim sets has a row, too.
   */
  issuance_session_keys: {
    tenant_id: string;
    session_id: string;
    rights_end_at: string;
    /** '' unless issuances of the session are deferred. */
    deferred_until: string;
    new_user_id: string | null;
  };
}
type Row = SessionKeyTables['issuance_session_keys'];

/** When the rights end that a session has after an event; undefined when the event changes nothing. A further right is added here. */
const rightsEndAt = (event: IssuanceSessionEvent): string | undefined => {
  switch (event.type) {
    case 'OfferCreated':
    case 'AuthorizationGranted':
      return event.data.code.expiresAt;
    case 'PreAuthorizedCodeRedeemed':
    case 'AuthorizationCodeRedeemed':
      // Access tokens from a refresh end with the refresh token.
      return (event.data.tokenFamily ?? event.data.accessToken).expiresAt;
    // Their keys are destroyed at once, and again at the end of the rights that they had.
    case 'SessionLocked':
    case 'AuthorizationCodeReplayed':
    case 'TokensRevoked':
    case 'OfferDeleted':
    case 'TransactionCodeRefused':
    case 'ClaimSetsBound':
    case 'IssuanceDeferred':
    case 'DeferredIssuanceApproved':
    case 'DeferredIssuanceDenied':
    case 'DeferredIssuanceCompleted':
    case 'CredentialIssued':
      return undefined;
  }
};

/** When the last deferral ends that is open after an event, '' without one; undefined when the event changes nothing. */
const deferredUntil = (event: IssuanceSessionEvent): string | undefined => {
  switch (event.type) {
    case 'IssuanceDeferred':
    case 'DeferredIssuanceDenied':
    case 'DeferredIssuanceCompleted':
      return event.data.openUntil ?? '';
    default:
      return undefined;
  }
};

type Session = Pick<Row, 'tenant_id' | 'session_id'>;
const tuplesOf = <S extends Session>(sessions: readonly S[], value: (session: S) => string) =>
  sql.join(sessions.map((one) => sql`(${one.tenant_id}, ${one.session_id}, ${value(one)})`));

const writeChanges = async (
  trx: Transaction<SessionKeyTables>,
  ends: readonly (Session & Pick<Row, 'rights_end_at'>)[],
  claimed: readonly Session[],
  deferred: readonly (Session & Pick<Row, 'deferred_until'>)[],
): Promise<void> => {
  const table = sql.table('issuance_session_keys');
  if (ends.length)
    await sql`with ends as (values ${tuplesOf(ends, (one) => one.rights_end_at)})
      update ${table} set rights_end_at = ends.column3 from ends
      where tenant_id = ends.column1 and session_id = ends.column2`.execute(trx);
  if (claimed.length)
    await sql`with claimed as (values ${tuplesOf(claimed, () => '')})
      update ${table} set new_user_id = null from claimed
      where tenant_id = claimed.column1 and session_id = claimed.column2 and new_user_id is not null`.execute(trx);
  if (deferred.length)
    await sql`with deferred as (values ${tuplesOf(deferred, (one) => one.deferred_until)})
      update ${table} set deferred_until = deferred.column3 from deferred
      where tenant_id = deferred.column1 and session_id = deferred.column2`.execute(trx);
};

const AGGREGATES = [issuanceSession, authorizationOffer] as const;

/** Their key lives as long as the offer: a deletion destroys it at once. */
const rowOfOffer = (event: AuthorizationOfferEvent, tenantId: string): Row[] =>
  event.type === 'AuthorizationOfferCreated' && (event.data.storedClaimSets ?? event.data.sealedClaimSets) !== undefined
    ? [
        {
          tenant_id: tenantId,
          session_id: event.data.offerId,
          rights_end_at: event.data.issuerState.expiresAt,
          deferred_until: '',
          new_user_id: null,
        },
      ]
    : [];

export const sessionKeys: Projection<SessionKeyTables> = {
  name: 'issuance.session-keys',
  version: 4,
  categories: AGGREGATES.map(({ category }) => category),
  types: AGGREGATES.flatMap(({ types }) => Object.keys(types)),
  tables: ['issuance_session_keys'],
  async create(db) {
    await createTable(db, 'issuance_session_keys', {
      text: ['tenant_id', 'session_id', 'rights_end_at', 'deferred_until'],
      nullableText: ['new_user_id'],
      primaryKey: ['session_id', 'tenant_id'],
      indexes: { issuance_session_keys_by_end: ['rights_end_at'] },
    });
  },
  async project(trx, events) {
    /** Rows of the batch by stream, the last of each. */
    const begun = new Map<string, Row>();
    const ends = new Map<string, Session & Pick<Row, 'rights_end_at'>>();
    const claimed = new Map<string, Session>();
    const deferred = new Map<string, Session & Pick<Row, 'deferred_until'>>();
    const offers: Row[] = [];
    for (const stored of events) {
      const { stream, metadata } = stored;
      if (stream.startsWith(`${authorizationOffer.category}-`)) {
        offers.push(...rowOfOffer(readEvent(authorizationOffer, stored), metadata.tenantId));
        continue;
      }
      const event = readEvent(issuanceSession, stored);
      const end = rightsEndAt(event);
      if (event.type === 'OfferCreated' || event.type === 'AuthorizationGranted') {
        const { sessionId, storedClaims, sealedClaims, code, userId } = event.data;
        const isNew = event.type === 'OfferCreated' && event.data.newUser === true;
        if (!storedClaims && sealedClaims === undefined && !isNew) continue;
        begun.set(stream, {
          tenant_id: metadata.tenantId,
          session_id: sessionId,
          rights_end_at: code.expiresAt,
          deferred_until: '',
          new_user_id: isNew ? userId : null,
        });
        continue;
      }
      const row = begun.get(stream);
      const session = {
        tenant_id: metadata.tenantId,
        session_id: stream.slice(issuanceSessionStream(metadata.tenantId, '').length),
      };
      const until = deferredUntil(event);
      if (until !== undefined) {
        if (row) row.deferred_until = until;
        else deferred.set(stream, { ...session, deferred_until: until });
      } else if (event.type === 'CredentialIssued') {
        if (row) row.new_user_id = null;
        else claimed.set(stream, session);
      } else if (end !== undefined) {
        if (row) row.rights_end_at = end;
        else ends.set(stream, { ...session, rights_end_at: end });
      }
    }
    await insertRows(trx, 'issuance_session_keys', [...begun.values(), ...offers]);
    await writeChanges(trx, [...ends.values()], [...claimed.values()], [...deferred.values()]);
  },
};

const NAME = 'issuance.session-key-sweep';
const SWEEP_MS = 10_000;
const BATCH = 500;
/** An exchange that began before a code expired is stored by then: its token keeps the key. */
const EXCHANGE_MS = 60_000;
/** How long events stored before a sweep may take to appear in the read model. */
const CATCH_UP_MS = 10_000;

/**
 * Ends what sessions leave once their last right has ended: destroys the keys under which claims of offers were sealed (ADR 0058), and
 * expires users who began with an offer of which no credential was issued (ADR 0071). Deleted and locked
 * sessions lose their key at once; this sweep destroys it again. A rebuild of the projection restores rows of destroyed keys; destroying
 * those again is no error.
 */
@Injectable()
export class SessionKeys extends PeriodicWork implements OnModuleInit {
  running!: RunningProjection<SessionKeyTables>;

  constructor(
    private readonly readModels: ReadModels,
    leases: Leases,
    private readonly streams: Streams,
    private readonly sealing: Sealing,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(leases, health, logger, {
      name: NAME,
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
    // A token that is not projected yet must not lose its session's key. Tables of an earlier release do not have its time.
    if (!(await this.running.waitForHead(CATCH_UP_MS)) || !this.running.readsOwnVersion) return 0;
    let destroyed = 0;
    /** Sessions whose user could not be ended: they wait for the next run and hold up no others. */
    const failed: string[] = [];
    let failure: unknown;
    for (;;) {
      let next = this.running.db
        .selectFrom('issuance_session_keys')
        .selectAll()
        .where('rights_end_at', '<', due)
        .where('deferred_until', '<', due);
      if (failed.length) next = next.where('session_id', 'not in', failed);
      const rows = await next.orderBy('rights_end_at').limit(BATCH).execute();
      const tenants = Map.groupBy(rows, (row) => row.tenant_id);
      for (const [tenantId, sessions] of tenants) {
        const ids = sessions.map((row) => row.session_id);
        await this.sealing.destroyDataKeys(tenantId, ids);
        const ended = await Promise.allSettled(
          sessions.map(async ({ new_user_id: userId }) => userId && (await this.expireUser(tenantId, userId))),
        );
        const done = ids.filter((id, index) => {
          const outcome = ended[index]!;
          if (outcome.status === 'fulfilled') return true;
          failure ??= outcome.reason;
          failed.push(id);
          return false;
        });
        if (done.length)
          await this.running.db
            .deleteFrom('issuance_session_keys')
            .where('tenant_id', '=', tenantId)
            .where('session_id', 'in', done)
            .where('rights_end_at', '<', due)
            .where('deferred_until', '<', due)
            .execute();
      }
      destroyed += rows.length;
      if (rows.length < BATCH || failed.length >= BATCH) break;
    }
    if (failed.length) throw new Error(`${failed.length} users of ended offers not ended`, { cause: failure });
    return destroyed;
  }

  private async expireUser(tenantId: string, userId: string): Promise<void> {
    await this.streams.runDecision(
      user,
      userStream(tenantId, userId),
      (state) => expireUser(state, userId),
      serviceContext(NAME, tenantId),
    );
  }
}
