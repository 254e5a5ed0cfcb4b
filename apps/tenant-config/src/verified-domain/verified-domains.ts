import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import { displaceVerified } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream, type ConfiguredDomain } from '../custom-domain/custom-domain.state.js';
import { claimVerifiedDomain, releaseVerifiedDomain } from './verified-domain.decisions.js';
import { verifiedDomain, verifiedDomainStream, type VerifiedDomainState } from './verified-domain.state.js';

/** The claim a tenant holds, or wants to. */
export interface DomainClaim {
  domain: string;
  /** Tenant id. */
  owner: string;
  verificationToken: string;
}

/** A domain is a tenant's own when the tenant holds the claim and has the domain verified with the claim's token. */
@Injectable()
export class VerifiedDomains {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws 400 as {@link claimVerifiedDomain} */
  async claim(claim: DomainClaim, events: EventContext): Promise<void> {
    await this.streams.runDecision(
      verifiedDomain,
      verifiedDomainStream(claim.domain),
      async (state) =>
        claimVerifiedDomain(state, claim, {
          now: this.clock.now().toISOString(),
          ownerHolds: (await this.holderOf(claim.domain, state)) !== undefined,
        }),
      events,
    );
  }

  async isClaimedBy({ domain, owner, verificationToken }: DomainClaim): Promise<boolean> {
    const { state } = await this.streams.load(verifiedDomain, verifiedDomainStream(domain));
    return state.status === 'claimed' && state.owner === owner && state.verificationToken === verificationToken;
  }

  /** Where this is not reached, the next verification of the domain takes the claim over. */
  async release(claim: DomainClaim, events: EventContext): Promise<void> {
    await this.streams.runDecision(
      verifiedDomain,
      verifiedDomainStream(claim.domain),
      (state) => releaseVerifiedDomain(state, claim),
      events,
    );
  }

  /**
   * Ends the holder's domain as a deletion does, and frees the claim for whoever comes first. The holder's own stream decides:
   * nothing happens to a domain that was given up, replaced or verified with another token meanwhile.
   */
  async displace(holder: DomainClaim, events: EventContext): Promise<void> {
    const context = { ...events, tenantId: holder.owner, actor: 'service:tenant-config' };
    await this.streams.runDecision(
      customDomain,
      customDomainStream(holder.owner),
      (state) => displaceVerified(state, holder),
      context,
    );
    await this.release(holder, context);
  }

  /** Who has verified the domain. */
  async ownerOf(domain: string): Promise<{ tenantId: string; configured: ConfiguredDomain } | undefined> {
    const { state } = await this.streams.load(verifiedDomain, verifiedDomainStream(domain));
    return this.holderOf(domain, state);
  }

  /** The claim of the tenant that has verified the domain. */
  async holderOfDomain(domain: string): Promise<DomainClaim | undefined> {
    const owner = await this.ownerOf(domain);
    return owner && { domain, owner: owner.tenantId, verificationToken: owner.configured.verificationToken };
  }

  private async holderOf(domain: string, claim: VerifiedDomainState) {
    if (claim.status === 'free') return undefined;
    const { state } = await this.streams.load(customDomain, customDomainStream(claim.owner));
    if (state.status === 'absent' || state.verifiedAt === undefined) return undefined;
    if (state.domain !== domain || state.verificationToken !== claim.verificationToken) return undefined;
    return { tenantId: claim.owner, configured: state };
  }
}
