import { Inject } from '@nestjs/common';
import { issueNonce, type NonceResponse, type PublicContext } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, Operation, PlatformConfig } from '@attestry/service-kit';
import { makeNonce } from '../protocol/nonce.js';

/** Nonce endpoint, OID4VCI §7: no authentication, the body is ignored, nothing is stored. */
@Operation(issueNonce)
export class IssueNonce {
  constructor(
    private readonly macs: Macs,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(_request: unknown, context: PublicContext): Promise<NonceResponse> {
    const expiresAt = new Date(this.clock.now().getTime() + this.config.nonceSeconds * 1000);
    return { c_nonce: makeNonce(this.macs, context.tenant.id, expiresAt) };
  }
}
