import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext, type FurtherDecision, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import { CLOCK, IDS } from '@attestry/service-kit';
import { revokeTokens } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type {
  BegunFamily,
  Grant,
  IssuanceSessionEvent,
} from '../../sessions/issuance-session/issuance-session.events.js';
import {
  issuanceSession,
  issuanceSessionStream,
  type IssuanceSessionState,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import type { WalletClient } from '../../wallets/wallet-clients/wallet-clients.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { beginFamily, endFamily } from './token-family.decisions.js';
import type { FamilyEnd } from './token-family.events.js';
import { tokenFamily, tokenFamilyStream } from './token-family.state.js';

/** A family that the exchange of a code begins. */
export interface NewFamily extends BegunFamily {
  /** The refresh token. */
  value: string;
  refreshToken: Grant;
}

const DAY_MS = 86_400_000;

/** Refresh tokens and what they give access to. */
@Injectable()
export class TokenFamilies {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly wallets: TenantWallets,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** A refresh token, of clients only that prove a key (FAPI 2.0 Security Profile §5.3.2.1). */
  async prepare(tenantId: string, { proof, instanceJkt }: WalletClient): Promise<NewFamily | undefined> {
    if (!proof && instanceJkt === undefined) return undefined;
    const { refreshTokenDays } = await this.wallets.readSettings(tenantId);
    const id = this.ids.uuid();
    const { value, tokenId } = makeBearerValue(id, this.ids.uuid());
    const { mac, pepper } = this.macs.mac(value, grantContext('refresh', tenantId, id));
    const expiresAt = new Date(this.clock.now().getTime() + refreshTokenDays * DAY_MS).toISOString();
    return { id, expiresAt, value, refreshToken: { tokenId, kind: 'refresh', mac, keyId: pepper, expiresAt } };
  }

  /** Changes of families by the exchange of a code, in one unit with the session: a family begins, or that of a replayed code ends. */
  ofExchange(
    tenantId: string,
    session: IssuanceSessionState,
    [event]: readonly IssuanceSessionEvent[],
    { wallet, proof, instanceJkt }: WalletClient,
    prepared: NewFamily | undefined,
    context: EventContext,
  ): FurtherDecision[] {
    if (event?.type === 'AuthorizationCodeReplayed') return this.endingOf(tenantId, session, 'codeReplayed', context);
    if (event?.type !== 'AuthorizationCodeRedeemed' || session.status !== 'authorized' || !prepared) return [];
    const family = {
      familyId: prepared.id,
      sessionId: session.id,
      userId: session.userId,
      clientId: session.origin.clientId,
      ...(wallet && { walletId: wallet.id }),
      ...(proof && { jkt: proof.jkt }),
      ...(instanceJkt !== undefined && { instanceJkt }),
      refreshToken: prepared.refreshToken,
    };
    return [
      this.streams.further(
        tokenFamily,
        tokenFamilyStream(tenantId, prepared.id),
        this.streams.initial(tokenFamily),
        (state) => beginFamily(state, family, this.clock.now()),
        context,
      ),
    ];
  }

  /**
   * Ends all tokens of a session, its family and the key of its claims, which goes first: in the other order a failure would leave claims
   * readable (ADR 0058). Repeating it changes nothing.
   */
  async endSession(tenantId: string, sessionId: string, reason: FamilyEnd, context: EventContext): Promise<void> {
    await this.sealing.destroyDataKeys(tenantId, [sessionId]);
    const further: FurtherDecision[] = [];
    await this.streams.runDecision(
      issuanceSession,
      issuanceSessionStream(tenantId, sessionId),
      (session) => {
        further.splice(0, further.length, ...this.endingOf(tenantId, session, reason, context));
        return revokeTokens(session, this.clock.now());
      },
      context,
      { unit: { further } },
    );
  }

  private endingOf(
    tenantId: string,
    session: IssuanceSessionState,
    reason: FamilyEnd,
    context: EventContext,
  ): FurtherDecision[] {
    if (session.status !== 'redeemed' || !session.tokenFamily) return [];
    const stream = tokenFamilyStream(tenantId, session.tokenFamily.id);
    return [
      this.streams.further(
        tokenFamily,
        stream,
        () => this.streams.load(tokenFamily, stream),
        (state) => endFamily(state, reason, this.clock.now()),
        context,
      ),
    ];
  }
}
