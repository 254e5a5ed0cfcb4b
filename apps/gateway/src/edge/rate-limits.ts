import { Injectable } from '@nestjs/common';
import type { RateClass } from '@attestry/contracts';
import { PlatformConfig, RateCounter, type RateLimits as Limits } from '@attestry/service-kit';

/** What the three `x-ratelimit-*` headers say. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds since the epoch at which the window resets. */
  reset: number;
  exceeded: boolean;
}

const WINDOW_SECONDS = 60;

export interface RateSubject {
  address: string;
  tenantId?: string;
  clientId?: string;
}

/** Rate limits by class, each per minute (decision 32). */
@Injectable()
export class RateLimits {
  constructor(
    private readonly config: PlatformConfig,
    private readonly counter: RateCounter,
  ) {}

  /** Counts one call. With two limits (wallet) the one nearer to its end is told. */
  async count(rate: RateClass, subject: RateSubject): Promise<RateState> {
    const limits = this.limitsOf(subject.tenantId);
    switch (rate) {
      case 'api':
        return this.take(`a:${subject.clientId ?? subject.address}`, limits.api);
      case 'public':
        return this.take(`p:${subject.address}`, limits.public);
      case 'client-token':
        return this.take(`t:${subject.clientId ?? subject.address}`, limits.clientToken);
      case 'wallet': {
        const [tenant, address] = await Promise.all([
          this.take(`wt:${subject.tenantId}`, limits.walletTenant),
          this.take(`wa:${subject.tenantId}:${subject.address}`, limits.walletAddress),
        ]);
        if (tenant.exceeded !== address.exceeded) return tenant.exceeded ? tenant : address;
        return tenant.remaining < address.remaining ? tenant : address;
      }
    }
  }

  /** Counts a failed token call of an address. */
  async countTokenFailure(address: string): Promise<void> {
    await this.take(`f:${address}`, this.config.rateClientTokenFailures);
  }

  /** Whether an address has failed too often; counts nothing. */
  async tokenFailures(address: string): Promise<RateState> {
    const limit = this.config.rateClientTokenFailures;
    const { used, resetsInMs } = await this.counter.look(`f:${address}`);
    return state(limit, used, resetsInMs, used >= limit);
  }

  /** For answers that are never refused (health): the limit of public documents, untouched. */
  untouched(): RateState {
    return state(this.config.ratePublic, 0, WINDOW_SECONDS * 1000, false);
  }

  private async take(key: string, limit: number): Promise<RateState> {
    const { used, resetsInMs } = await this.counter.count(key);
    return state(limit, used, resetsInMs, used > limit);
  }

  private limitsOf(tenantId: string | undefined): Limits {
    const overrides = tenantId === undefined ? undefined : this.config.rateOverrides[tenantId];
    return overrides ? { ...this.config.rates, ...overrides } : this.config.rates;
  }
}

const state = (limit: number, used: number, msToReset: number, exceeded: boolean): RateState => ({
  limit,
  remaining: Math.max(0, limit - used),
  reset: Math.ceil((Date.now() + msToReset) / 1000),
  exceeded,
});
