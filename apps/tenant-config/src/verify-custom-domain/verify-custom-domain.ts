import { Inject } from '@nestjs/common';
import { AppError, verifyCustomDomain, type ClientContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, LOGGER, Operation, requestFields, type Logger } from '@attestry/service-kit';
import {
  configured,
  LOOKUP_FAULT,
  tokenFault,
  verificationFailed,
  verifyCustomDomain as decide,
  withdrawVerification,
} from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream } from '../custom-domain/custom-domain.state.js';
import { isDisplaced, verifiedElsewhere } from '../custom-domain/verified-domain.claim.js';
import { VerifiedDomains, type DomainClaim } from '../custom-domain/verified-domains.js';
import { TxtLookupFailed, TxtRecords } from './txt-records.js';

/**
 * The order: look up the record, end a holder whose token is no longer in the zone, claim the domain, store the verification. A failure in
 * between leaves a claim that the next verification takes over (ADR 0009), and only the holder of the claim is ever served.
 */
@Operation(verifyCustomDomain)
export class VerifyCustomDomain {
  constructor(
    private readonly streams: Streams,
    private readonly records: TxtRecords,
    private readonly domains: VerifiedDomains,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute(_request: unknown, context: ClientContext): Promise<void> {
    const tenantId = context.tenant.id;
    const stream = customDomainStream(tenantId);
    const { domain, verificationToken, verifiedAt } = configured((await this.streams.load(customDomain, stream)).state);
    if (verifiedAt !== undefined) return;
    const claim: DomainClaim = { domain, owner: tenantId, verificationToken };
    const events = eventContext(context);
    // Before the look-up, so that the record is not older than the holder's verification.
    const holder = await this.domains.holderOfDomain(domain);
    const records = await this.recordsWith(context, domain, verificationToken);
    if (holder && isDisplaced(holder, claim, records)) {
      this.logger.info(
        { ...requestFields(context), domain, formerTenantId: holder.owner },
        'custom domain moved to another tenant',
      );
      await this.domains.displace(holder, events);
    }
    await this.domains.claim(claim, events);
    const now = this.clock.now().toISOString();
    try {
      await this.streams.runDecision(customDomain, stream, (state) => decide(state, claim, { now }), events);
    } catch (error) {
      // Deleted or replaced meanwhile: certainly no event was stored, and the claim is not needed.
      if (error instanceof AppError) await this.domains.release(claim, events);
      throw error;
    }
    // A verification that took longer than a claim is protected may have lost the domain.
    if (await this.domains.isClaimedBy(claim)) return;
    await this.streams.runDecision(customDomain, stream, (state) => withdrawVerification(state, claim), events);
    this.logger.info({ ...requestFields(context), domain }, 'custom domain claim expired during verification');
    throw verifiedElsewhere(domain);
  }

  /** TXT values at the domain. @throws 400 unless one is exactly the token; values are not echoed */
  private async recordsWith(context: ClientContext, domain: string, verificationToken: string): Promise<string[]> {
    const found = await this.lookUp(context, domain);
    const fault = tokenFault(found, verificationToken);
    if (fault !== undefined) throw verificationFailed(domain, fault);
    return found;
  }

  private async lookUp(context: ClientContext, domain: string): Promise<string[]> {
    try {
      return await this.records.lookUp(context.tenant.id, domain);
    } catch (error) {
      if (!(error instanceof TxtLookupFailed)) throw error;
      this.logger.info({ ...requestFields(context), domain, reason: error.message }, 'TXT look-up failed');
      throw verificationFailed(domain, LOOKUP_FAULT);
    }
  }
}
