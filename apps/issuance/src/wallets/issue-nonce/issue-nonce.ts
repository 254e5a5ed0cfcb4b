import { Inject } from '@nestjs/common';
import { httpAnswer, issueNonce, type HttpAnswer, type PublicContext } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, Operation, PlatformConfig } from '@attestry/service-kit';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import { makeNonce } from '../nonce/nonce.js';

/** Nonce endpoint, OID4VCI §7: no authentication, the body is ignored, nothing is stored. Also offers a nonce for DPoP proofs (§7.2). */
@Operation(issueNonce)
export class IssueNonce {
  constructor(
    private readonly macs: Macs,
    private readonly dpop: DpopProofs,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(_request: unknown, context: PublicContext): Promise<HttpAnswer> {
    const expiresAt = new Date(this.clock.now().getTime() + this.config.nonceSeconds * 1000);
    const { id: tenantId } = context.tenant;
    return httpAnswer({
      headers: this.dpop.nonceHeader(tenantId),
      body: { c_nonce: makeNonce(this.macs, tenantId, expiresAt) },
    });
  }
}
