import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import { CLOCK, IDS, PlatformConfig } from '@attestry/service-kit';
import { AuthorizationOffers } from '../../offers/authorization-offers/authorization-offers.js';
import { sessionClaimsText } from '../../claims/claim-sets/claim-sets.js';
import { grantAuthorization } from '../../sessions/issuance-session/issuance-session.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import type { AuthenticatedRequest } from './pending-authorizations.js';
import { SessionClaims } from '../../claims/sign-in-claims/session-claims.js';

/** The signed-in person whom a code is for. */
export interface AuthorizedPerson {
  userId: string;
  /** For this session only. */
  claims: Record<string, unknown>;
}

/** Authorization codes, each of a new session. */
@Injectable()
export class AuthorizationCodes {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly offers: AuthorizationOffers,
    private readonly sessionClaims: SessionClaims,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async issue(
    tenantId: string,
    waiting: AuthenticatedRequest,
    { userId, claims }: AuthorizedPerson,
    record: WalletRecord,
  ): Promise<string> {
    const sessionId = this.ids.uuid();
    const claimSets = await this.offers.claimSetsOf(tenantId, waiting, { sessionId, userId });
    await this.sessionClaims.check(tenantId, waiting.entries, claims, claimSets);
    const now = this.clock.now();
    record.nameSession({ id: sessionId, userId });
    const made = makeBearerValue(sessionId, this.ids.uuid());
    const { mac, pepper } = this.macs.mac(made.value, grantContext('authorizationCode', tenantId, sessionId));
    const expiresAt = new Date(now.getTime() + this.config.authorizationCodeSeconds * 1000).toISOString();
    const kept =
      claimSets || Object.keys(claims).length
        ? this.sealing.storeWithNewKey(tenantId, 'session', sessionId, sessionClaimsText(claims, claimSets))
        : undefined;
    await this.streams.decideOn(
      issuanceSession,
      issuanceSessionStream(tenantId, sessionId),
      this.streams.initial(issuanceSession),
      (session) =>
        grantAuthorization(
          session,
          {
            sessionId,
            origin: {
              kind: 'authorizationRequest',
              clientId: waiting.clientId,
              ...(waiting.clientKind === 'registered' && { isRegistered: true }),
              redirectUri: waiting.redirectUri,
              codeChallenge: waiting.codeChallenge,
              providerId: waiting.providerId,
              ...(waiting.detailed && { detailed: waiting.detailed }),
              ...(waiting.dpopJkt !== undefined && { dpopJkt: waiting.dpopJkt }),
              ...(waiting.instanceJkt !== undefined && { instanceJkt: waiting.instanceJkt }),
              ...(waiting.offerId !== undefined && { offerId: waiting.offerId }),
              ...(waiting.userInfo && { userInfo: waiting.userInfo }),
            },
            issuer: waiting.credentialIssuer,
            userId,
            entries: waiting.entries,
            code: { tokenId: made.tokenId, kind: 'authorizationCode', mac, keyId: pepper, expiresAt },
            ...(kept && { storedClaims: kept.stored }),
            ...(claimSets && { identifiers: claimSets.identifiers }),
          },
          now,
        ),
      record.events,
      { unit: { writes: kept ? [kept.newKey] : [] } },
    );
    return made.value;
  }
}
