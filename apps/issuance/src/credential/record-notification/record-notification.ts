import { Inject } from '@nestjs/common';
import { recordNotification, type HolderContext, type HttpAnswer, type RawRequest } from '@attestry/contracts';
import { EventStore, pagesBackwards, readEvent, Streams, type Clock } from '@attestry/event-store';
import { CLOCK, LOGGER, Operation, OperationRecorder, type Logger, type RequestOf } from '@attestry/service-kit';
import { AccessTokens } from '../../token/access-token/access-tokens.js';
import { notifyCredentials } from '../credential-notification/credential-notification.decisions.js';
import {
  credentialNotification,
  credentialNotificationStream,
} from '../credential-notification/credential-notification.state.js';
import { isOfDeferral } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import type { CredentialIssuedData } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { DpopProofs } from '../../wallets/dpop/dpop-proofs.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { recordOutcome, type WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { invalidNotificationId, parseNotification } from './parse-notification.js';

/** Notifications are about the last responses of a session: of earlier ones no events are read. */
const MOST_PAGES = 4;

/**
 * Notification endpoint, OID4VCI 1.0 §11. A notification id is the id that all credentials of one response have in their events: it is valid
 * for a token of their session only (ADR 0092).
 */
@Operation(recordNotification)
export class RecordNotification {
  constructor(
    private readonly streams: Streams,
    private readonly store: EventStore,
    private readonly accessTokens: AccessTokens,
    private readonly dpop: DpopProofs,
    readonly recorder: OperationRecorder,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
  ) {}

  execute(request: RequestOf<typeof recordNotification>, context: HolderContext): Promise<void | HttpAnswer> {
    const raw = rawOf(request);
    const answer = recordOutcome(this, recordNotification, context, (record) => this.record(raw, context, record));
    return this.dpop.withNonce(raw, context.tenant.id, answer);
  }

  private async record(raw: RawRequest, { tenant }: HolderContext, record: WalletRecord): Promise<void> {
    const now = this.clock.now();
    const authorized = await this.accessTokens.authorize(raw, recordNotification, tenant, now, record);
    // Only for ended tokens it depends on the request whether they are valid.
    if (!authorized.session.deferrals) authorized.requireCurrent();
    const { id, event } = parseNotification(raw);
    if (!isOfDeferral(authorized.session, id, now)) authorized.requireCurrent();
    const credentials = await this.findCredentials(authorized.stream, id);
    const [first] = credentials;
    if (!first) throw invalidNotificationId();
    const { sessionId, userId, credentialConfigurationId } = first;
    const credentialIds = credentials.map(({ credentialId }) => credentialId);
    record.addMetadata({ notificationId: id, event, credentialIds });
    await this.streams.runDecision(
      credentialNotification,
      credentialNotificationStream(tenant.id, id),
      (state) =>
        notifyCredentials(state, {
          ...{ notificationId: id, event, sessionId, userId, credentialConfigurationId, credentialIds },
          notifiedAt: now.toISOString(),
        }),
      record.events,
    );
  }

  /** Credentials of one response, in its order. */
  private async findCredentials(stream: string, answerId: string): Promise<CredentialIssuedData[]> {
    const found: CredentialIssuedData[] = [];
    let pages = 0;
    for await (const page of pagesBackwards(this.store, stream)) {
      for (const stored of page) {
        const event = readEvent(issuanceSession, stored);
        if (event.type === 'CredentialIssued' && event.data.answerId === answerId) found.unshift(event.data);
        // They were appended together.
        else if (found.length > 0) return found;
      }
      if (++pages === MOST_PAGES) break;
    }
    return found;
  }
}
