import { Inject, Injectable } from '@nestjs/common';
import {
  Streams,
  withoutRecord,
  type Claimant,
  type Clock,
  type EventContext,
  type NameClaimState,
} from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import { displaceVerified } from './custom-domain.decisions.js';
import { customDomain, customDomainStream, type ConfiguredDomain } from './custom-domain.state.js';
import { verifiedDomain } from './verified-domain.claim.js';

type Member = 'domain' | 'verificationToken';
/** The claim that a tenant holds or requests. `owner`: tenant id. */
export type DomainClaim = Claimant<Member>;

/** A domain belongs to a tenant when the tenant holds the claim and has the domain verified with the claim's token. */
@Injectable()
export class VerifiedDomains {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws 400 while another tenant has the domain verified, or is verifying it */
  async claim(claim: DomainClaim, events: EventContext): Promise<void> {
    await this.streams.runDecision(
      verifiedDomain,
      verifiedDomain.stream(claim.domain),
      async (state) =>
        verifiedDomain.claim(state, claim, {
          now: this.clock.now().toISOString(),
          ownerStatus: (await this.holderOf(claim.domain, state)) ? 'active' : 'absent',
        }),
      events,
    );
  }

  async isClaimedBy(claim: DomainClaim): Promise<boolean> {
    const { state } = await this.streams.load(verifiedDomain, verifiedDomain.stream(claim.domain));
    return verifiedDomain.isHeldBy(state, claim);
  }

  /** After a crash before this line, the next verification of the domain takes the claim over. */
  async release(claim: DomainClaim, events: EventContext): Promise<void> {
    await this.streams.runDecision(
      verifiedDomain,
      verifiedDomain.stream(claim.domain),
      (state) => verifiedDomain.release(state, claim),
      events,
    );
  }

  /**
   * Ends the holder's domain as a deletion does, and releases the claim. The holder's own stream decides: no effect on a domain that was
   * deleted, replaced or verified with another token meanwhile.
   */
  async displace(holder: DomainClaim, events: EventContext): Promise<void> {
    const context = { ...withoutRecord(events), tenantId: holder.owner, actor: 'service:tenant-config' };
    await this.streams.runDecision(
      customDomain,
      customDomainStream(holder.owner),
      (state) => displaceVerified(state, holder),
      context,
    );
    await this.release(holder, context);
  }

  /** The tenant that has verified the domain. */
  async ownerOf(domain: string): Promise<{ tenantId: string; configured: ConfiguredDomain } | undefined> {
    const { state } = await this.streams.load(verifiedDomain, verifiedDomain.stream(domain));
    return this.holderOf(domain, state);
  }

  /** The claim of the tenant that has verified the domain. */
  async holderOfDomain(domain: string): Promise<DomainClaim | undefined> {
    const owner = await this.ownerOf(domain);
    return owner && { domain, owner: owner.tenantId, verificationToken: owner.configured.verificationToken };
  }

  private async holderOf(domain: string, claim: NameClaimState<Member>) {
    if (claim.status === 'free') return undefined;
    const { state } = await this.streams.load(customDomain, customDomainStream(claim.owner));
    if (state.status === 'absent' || state.verifiedAt === undefined) return undefined;
    if (state.domain !== domain || state.verificationToken !== claim.verificationToken) return undefined;
    return { tenantId: claim.owner, configured: state };
  }
}
