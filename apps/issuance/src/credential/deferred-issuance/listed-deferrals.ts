import { Inject, Injectable } from '@nestjs/common';
import { notFound, type ClientContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext } from '@attestry/service-kit';
import type { approveDeferral, denyDeferral } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { DeferredIssuancesReadModel } from './deferred-issuances.read-model.js';

/** Deferred issuances by the id that the issuer's list shows, which is never the transaction id (ADR 0092). */
@Injectable()
export class ListedDeferrals {
  constructor(
    private readonly streams: Streams,
    private readonly deferred: DeferredIssuancesReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws AppError 404 for one that is not listed, and what the decision throws */
  async decide(
    deferralId: string,
    decision: typeof approveDeferral | typeof denyDeferral,
    context: ClientContext,
  ): Promise<void> {
    const { id: tenantId } = context.tenant;
    const now = this.clock.now();
    const sessionId = await this.deferred.findSession(tenantId, deferralId, now);
    if (sessionId === undefined) throw notFound();
    const { position } = await this.streams.runDecision(
      issuanceSession,
      issuanceSessionStream(tenantId, sessionId),
      (state) => decision(state, deferralId, now),
      eventContext(context),
    );
    await this.deferred.settled(position);
  }
}
