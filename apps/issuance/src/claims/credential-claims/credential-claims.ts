import { Injectable } from '@nestjs/common';
import { oauthError, type UserLink } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Sealing, type Sealed, type StoredValue } from '@attestry/keys';
import { SourceClaims } from '../claim-sources/source-claims.js';
import { withoutClaimSet } from '../claim-sets/claim-sets.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../../formats/formats.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { user, userStream } from '../../users/user/user.state.js';

/** Where the claims of a credential come from (specification notes, Issuance). */
@Injectable()
export class CredentialClaims {
  constructor(
    private readonly streams: Streams,
    private readonly sealing: Sealing,
    private readonly formats: Formats,
    private readonly sources: SourceClaims,
  ) {}

  /**
   * Shallow, later wins: the user's own claims, then the offer's or the provider's with those of the interaction hook, those of the claims
   * source, and those of the claim set; mapped by the configuration.
   * @throws ClaimsNotReady when the claims source has none yet
   * @throws AppError credential_request_denied when they were deleted, or a required one has no value; 429 when too many requests of the user wait
   */
  async claimsOf(
    tenantId: string,
    session: RedeemedSession,
    configuration: ActiveConfiguration,
    credentialIdentifier: string | undefined,
    record: WalletRecord,
  ): Promise<Record<string, unknown>> {
    const { state: person } = await this.streams.load(user, userStream(tenantId, session.userId));
    const known = person.status === 'active' ? person : undefined;
    // One who began with this offer may have no event yet (ADR 0071).
    if (!known && !(person.status === 'absent' && session.newUser)) throw claimsGone();
    const [own, ofSession, link] = await Promise.all([
      this.openClaims(tenantId, 'user', known?.sealedClaims),
      this.openClaims(tenantId, 'session', session.storedClaims),
      this.openClaims(tenantId, 'user', known?.sealedLink),
    ]);
    const [ofPerson, claimSet] =
      session.identifiers && ofSession ? withoutClaimSet(ofSession, credentialIdentifier) : [ofSession];
    const format = this.formats.byName[configuration.format];
    const from = {
      claims: { ...own, ...ofPerson, ...claimSet },
      ...(link && { authenticationProvider: link as unknown as UserLink }),
      ...('userInfo' in session.origin && { userInfo: session.origin.userInfo }),
    };
    const { claimSourceId } = configuration.content;
    if (claimSourceId !== undefined) {
      const before = { ...own, ...ofPerson };
      const sourced = { ...configuration, profile: format.profile };
      const caller = { tenantId, userId: session.userId, sourceId: claimSourceId };
      const returned = await this.sources.request(caller, sourced, { ...from, claims: before }, record);
      from.claims = { ...before, ...returned, ...claimSet };
    }
    return format.mapClaims(configuration, from);
  }

  private async openClaims(
    tenantId: string,
    purpose: 'user' | 'session',
    sealed: Sealed | StoredValue | undefined,
  ): Promise<Record<string, unknown> | undefined> {
    if (sealed === undefined) return undefined;
    const text = await (typeof sealed === 'string'
      ? this.sealing.openSealed(tenantId, purpose, sealed)
      : this.sealing.openStored(tenantId, purpose, sealed));
    if (typeof text !== 'string') throw claimsGone();
    return JSON.parse(text) as Record<string, unknown>;
  }
}

/** The user or the session's claims were deleted. */
export const claimsGone = () =>
  oauthError('credential_request_denied', 'the claims of this offer are no longer available', {
    check: 'credential-claims',
  });
