import { Injectable } from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import { Metrics, PlatformConfig } from '@attestry/service-kit';

/**
 * Calls with an access token from their authentication to the end of the answer, and of the service's work: how many a tenant may have in this
 * process, so that it holds at most as many pages and bodies in memory. Calls of wallets are not among them (ADR 0098).
 */
@Injectable()
export class CallsInFlight {
  private readonly held = new Map<string, number>();
  private readonly refused;

  constructor(
    private readonly config: PlatformConfig,
    metrics: Metrics,
  ) {
    this.refused = metrics.counter('httpRefused');
  }

  /**
   * @param key of the tenant, or of the caller of the management API
   * @returns releases the call; further calls do nothing
   * @throws AppError 429, and nothing is reserved
   */
  reserve(key: string): () => void {
    const held = this.held.get(key) ?? 0;
    if (held >= this.config.maxCallsInFlight) {
      this.refused.inc({ reason: 'calls-in-flight' });
      throw new AppError('tooManyRequests', 'Too many calls with access tokens in flight', {
        headers: { 'retry-after': '1' },
      });
    }
    this.held.set(key, held + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const left = this.held.get(key)! - 1;
      if (left === 0) this.held.delete(key);
      else this.held.set(key, left);
    };
  }
}
