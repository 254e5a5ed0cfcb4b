import { Inject, Injectable } from '@nestjs/common';
import { Leases, Streams, type Clock } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { declareTables, defineProjection, nothing, ReadModels, type EventSource } from '@attestry/read-model';
import { CLOCK, DueRowsJob, Health, LOGGER, serviceContext, type DueRows, type Logger } from '@attestry/service-kit';
import { authorizationOffer } from '../../sessions/authorization-offer/authorization-offer.state.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
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

const tables = declareTables<SessionKeyTables>({
  issuance_session_keys: {
    text: ['tenant_id', 'session_id', 'rights_end_at', 'deferred_until'],
    nullableText: ['new_user_id'],
    primaryKey: ['session_id', 'tenant_id'],
    indexes: { issuance_session_keys_by_end: ['rights_end_at'] },
  },
});
const { issuance_session_keys: rows } = tables;

const begin = (tenant_id: string, session_id: string, rights_end_at: string, new_user_id: string | null = null) =>
  rows.insert({ tenant_id, session_id, rights_end_at, deferred_until: '', new_user_id });
const set = ({ tenantId, id }: EventSource, values: Partial<Row>) =>
  rows.set({ session_id: id, tenant_id: tenantId }, values);

/** Access tokens from a refresh end with the refresh token. */
const redeem = ({ data }: { data: Redeemed }, source: EventSource) =>
  set(source, { rights_end_at: (data.tokenFamily ?? data.accessToken).expiresAt });
type Redeemed = Record<'accessToken', { expiresAt: string }> & { tokenFamily?: { expiresAt: string } };

/** When the last deferral ends that is open. */
const defer = ({ data }: { data: { openUntil?: string } }, source: EventSource) =>
  set(source, { deferred_until: data.openUntil ?? '' });

/** Its keys are destroyed at once, and again at the end of the rights that it had. */
const ended = nothing;

export const sessionKeys = defineProjection({
  name: 'issuance.session-keys',
  version: 4,
  aggregates: [issuanceSession, authorizationOffer],
  tables,
  // The keys of a purged tenant are destroyed; rows that are due then are removed as all others.
  outlivesTenant: true,
  on: {
    PreAuthorizedOfferCreated: ({ data: { sessionId, storedClaims, code, newUser, userId } }, { tenantId }) =>
      storedClaims || newUser ? begin(tenantId, sessionId, code.expiresAt, newUser ? userId : null) : [],
    AuthorizationGranted: ({ data: { sessionId, storedClaims, code } }, { tenantId }) =>
      storedClaims ? begin(tenantId, sessionId, code.expiresAt) : [],
    // Their key lives as long as the offer: a deletion destroys it at once.
    AuthorizationOfferCreated: ({ data: { offerId, storedClaimSets, issuerState } }, { tenantId }) =>
      storedClaimSets ? begin(tenantId, offerId, issuerState.expiresAt) : [],
    PreAuthorizedCodeRedeemed: redeem,
    AuthorizationCodeRedeemed: redeem,
    IssuanceDeferred: defer,
    DeferredIssuanceDenied: defer,
    DeferredIssuanceCompleted: defer,
    CredentialIssued: (_, source) => set(source, { new_user_id: null }),
    SessionLocked: ended,
    AuthorizationCodeReplayed: ended,
    TokensRevoked: ended,
    PreAuthorizedOfferDeleted: ended,
    TransactionCodeRefused: nothing,
    ClaimSetsBound: nothing,
    DeferredIssuanceApproved: nothing,
    AuthorizationOfferDeleted: nothing,
  },
});

const NAME = 'issuance.session-key-sweep';
const SWEEP_MS = 10_000;
/** An exchange that began before a code expired is stored by then: its token keeps the key. */
const EXCHANGE_MS = 60_000;
/** A token that is not projected yet must not lose its session's key. */
const CATCH_UP_MS = 10_000;

/**
 * Ends what sessions leave once their last right has ended: destroys the keys under which claims of offers were sealed (ADR 0058), and
 * expires users who began with an offer of which no credential was issued (ADR 0071). Deleted and locked
 * sessions lose their key at once; this sweep destroys it again. A rebuild of the projection restores rows of destroyed keys; destroying
 * those again is no error.
 */
@Injectable()
export class SessionKeys extends DueRowsJob<SessionKeyTables> {
  constructor(
    readModels: ReadModels,
    leases: Leases,
    streams: Streams,
    sealing: Sealing,
    health: Health,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    const endedSessions: DueRows<Row> = {
      table: 'issuance_session_keys',
      key: ['session_id', 'tenant_id'],
      order: 'rights_end_at',
      dueUpTo: (now) => new Date(now.getTime() - EXCHANGE_MS),
      also: { column: 'deferred_until', is: 'due' },
      prepare: (tenantId, sessions) => {
        const ids = sessions.map((row) => row.session_id);
        return sealing.destroyDataKeys(tenantId, ids);
      },
      async handle({ tenant_id: tenantId, new_user_id: userId }) {
        if (userId)
          await streams.runDecision(
            user,
            userStream(tenantId, userId),
            (state) => expireUser(state, userId),
            serviceContext(NAME, tenantId),
          );
        return 'remove';
      },
      failure: 'ended session not swept',
      recovery: 'ended session no longer fails to be swept',
    };
    super(
      { readModels, leases, health, clock, logger },
      {
        name: NAME,
        failure: 'destroying keys of ended sessions failed',
        pauseMs: SWEEP_MS,
        projection: sessionKeys,
        catchUpMs: CATCH_UP_MS,
        rows: [endedSessions],
      },
    );
  }
}
