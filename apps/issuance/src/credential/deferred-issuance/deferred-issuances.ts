import { Inject, Injectable } from '@nestjs/common';
import { httpAnswer, type DeferredResponse, type HttpAnswer } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { IDS } from '@attestry/service-kit';
import { checkIssuanceLimit } from '../credential-issuer/check-issuance-limit.js';
import type { CredentialOrder } from '../credential-issuer/credential-order.js';
import { deferIssuance, deferralOf } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import { isExpired } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { IssuanceDeferredData } from '../../sessions/issuance-session/issuance-session.events.js';
import {
  issuanceSession,
  type DeferredIssuance,
  type IssuanceSessionState,
  type RedeemedSession,
} from '../../sessions/issuance-session/issuance-session.state.js';
import type { ResponseEncryption } from '../message-encryption/encryption-parameters.js';
import { encryptAnswer } from '../message-encryption/message-encryption.js';
import { grantContext, makeBearerValue, parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';

/** Seconds that a wallet waits before it sends its transaction id (again). */
const INTERVAL_SECONDS = 30;
const DAY_MS = 86_400_000;

/** Requests whose credentials are issued later (OID4VCI 1.0 §9, ADR 0092). */
@Injectable()
export class DeferredIssuances {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly wallets: TenantWallets,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** Instead of issuing: stores what is issued to whom, and spends what the request may use once. @throws AppError */
  async defer(order: CredentialOrder): Promise<DeferredResponse> {
    const { session, configuration, holders, now, record } = order;
    const tenantId = order.tenant.id;
    const { deferredDays } = await this.wallets.readSettings(tenantId);
    const deferralId = this.ids.uuid();
    const { value } = makeBearerValue(session.id, deferralId);
    const { mac, pepper } = this.macs.mac(value, grantContext('transaction', tenantId, session.id));
    const offerId = session.origin.kind === 'preAuthorizedOffer' ? session.id : session.origin.offerId;
    const data: Omit<IssuanceDeferredData, 'openUntil'> = {
      deferralId,
      sessionId: session.id,
      ...(offerId !== undefined && { offerId }),
      userId: session.userId,
      transaction: {
        ...{ tokenId: deferralId, kind: 'transaction', mac, keyId: pepper },
        expiresAt: new Date(now.getTime() + deferredDays * DAY_MS).toISOString(),
      },
      credentialConfigurationId: configuration.id,
      configurationVersion: configuration.version,
      ...(order.credentialIdentifier !== undefined && { credentialIdentifier: order.credentialIdentifier }),
      holders: holders.map(({ did, publicJwk }) => ({ did, publicJwk })),
      tokenId: order.tokenId,
      needsApproval: configuration.content.approval === 'manual',
      deferredAt: now.toISOString(),
    };
    record.addMetadata({ deferralId });
    await this.streams.decideOn(
      issuanceSession,
      order.stream,
      order.loaded,
      (state: IssuanceSessionState) => {
        const events = deferIssuance(state as RedeemedSession, data, now);
        checkIssuanceLimit(order.requireSession(state), configuration, holders.length, now);
        return events;
      },
      record.events,
      { unit: { writes: order.spending ? [order.spending] : [], further: [] } },
    );
    return deferredResponse(value);
  }

  /** The deferral of a transaction id, unless it has ended. */
  find(session: RedeemedSession, transactionId: string, tenantId: string, now: Date): DeferredIssuance | undefined {
    const named = parseBearerValue(transactionId);
    const deferral = named && deferralOf(session, named.tokenId);
    if (!deferral) return undefined;
    const { mac, keyId } = deferral.transaction;
    const context = grantContext('transaction', tenantId, session.id);
    if (!this.macs.verifyMac(named.value, { mac, pepper: keyId }, context)) return undefined;
    return isExpired(deferral.transaction, now) ? undefined : deferral;
  }
}

export const deferredResponse = (transactionId: string): DeferredResponse => ({
  transaction_id: transactionId,
  interval: INTERVAL_SECONDS,
});

/** 202, encrypted as a 200 would be (OID4VCI 1.0 §8.3). */
export const deferredAnswer = async (
  body: DeferredResponse,
  encryption: ResponseEncryption | undefined,
): Promise<HttpAnswer> => (encryption ? encryptAnswer(body, encryption, 202) : httpAnswer({ status: 202, body }));
