import { recordNotification } from '@attestry/contracts';
import { EventStore, pagesBackwards, readEvent, Streams } from '@attestry/event-store';
import { Operation } from '@attestry/service-kit';
import { isOfDeferral } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import type { CredentialIssuedData } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { checkAccessTokenLocation } from '../../token/access-token/check-access-token-location.js';
import { checkTokenBinding, spendProof } from '../../token/access-token/check-token-binding.js';
import { loadAccessTokenOfAnyAge } from '../../token/access-token/load-access-token.js';
import { requireCurrent, requireCurrentOrDeferred } from '../../token/access-token/presented-token.js';
import type { After } from '../../wallets/wallet-endpoints/wallet-call.js';
import { WalletEndpoints, type ServedBy } from '../../wallets/wallet-endpoints/wallet-endpoints.js';
import { notifyCredentials } from '../credential-notification/credential-notification.decisions.js';
import {
  credentialNotification,
  credentialNotificationStream,
} from '../credential-notification/credential-notification.state.js';
import { invalidNotificationId, parseNotification } from './parse-notification.js';

const STEPS = [
  checkAccessTokenLocation,
  loadAccessTokenOfAnyAge,
  checkTokenBinding,
  spendProof,
  requireCurrentOrDeferred,
] as const;

/** Notifications are about the last responses of a session: of earlier ones no events are read. */
const MOST_PAGES = 4;

/**
 * Notification endpoint, OID4VCI 1.0 §11. A notification id is the id that all credentials of one response have in their events: it is valid
 * for a token of their session only (ADR 0092).
 */
@Operation(recordNotification)
export class RecordNotification {
  readonly execute: ServedBy<typeof recordNotification>;

  constructor(
    endpoints: WalletEndpoints,
    private readonly streams: Streams,
    private readonly store: EventStore,
  ) {
    this.execute = endpoints.serve(recordNotification, STEPS, this);
  }

  async answer(call: After<typeof STEPS>): Promise<void> {
    const { tenant, session, stream, now, record } = call;
    const { id, event } = parseNotification(call);
    if (!isOfDeferral(session, id, now)) requireCurrent(call);
    const credentials = await this.findCredentials(stream, id);
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
