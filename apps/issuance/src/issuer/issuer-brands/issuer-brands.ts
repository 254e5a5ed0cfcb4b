import { Inject, Injectable } from '@nestjs/common';
import { retrieveBrand, type PublicContext, type VerifiedBrand } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, LOGGER, requestFields, ServiceClient, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';

/** How stale a brand may be. */
const MAX_AGE_MS = 1000;
/** Longest wait for a brand, which is only displayed, milliseconds. */
const WAIT_MS = 2000;

/** Brands of verified custom domains, from tenant-config. */
@Injectable()
export class IssuerBrands {
  private readonly known = new LRUCache<string, { brand: Promise<VerifiedBrand>; at: number }>({ max: 5000 });

  constructor(
    private readonly client: ServiceClient,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** While tenant-config is unreachable the last known one, or none: metadata is served without it. */
  find(context: PublicContext): Promise<VerifiedBrand> {
    const { id } = context.tenant;
    const now = this.clock.now().getTime();
    const known = this.known.get(id);
    if (known && now - known.at < MAX_AGE_MS) return known.brand;
    const brand = this.retrieve(context, known?.brand);
    this.known.set(id, { brand, at: now });
    return brand;
  }

  private async retrieve(context: PublicContext, last: Promise<VerifiedBrand> | undefined): Promise<VerifiedBrand> {
    try {
      const deadline = Math.min(context.deadline, Date.now() + WAIT_MS);
      return await this.client.call(retrieveBrand, {}, { ...context, deadline });
    } catch (error) {
      this.logger.warn({ ...requestFields(context), error: String(error) }, 'brand of the issuer unavailable');
      return (await last) ?? {};
    }
  }
}
