import { Inject } from '@nestjs/common';
import { issueNonce, type NonceResponse, type PublicContext } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { CLOCK, Operation, PlatformConfig } from '@attestry/service-kit';
import { makeNonce } from './nonce.js';

/** Nonce endpoint, OID4VCI §7: no authentication, the body is not looked at, nothing is stored. */
@Operation(issueNonce)
export class IssueNonce {
  constructor(
    private readonly vault: KeyVault,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(_request: unknown, context: PublicContext): Promise<NonceResponse> {
    const expiresAt = new Date(this.clock.now().getTime() + this.config.nonceSeconds * 1000);
    return { c_nonce: makeNonce(this.vault, context.tenant.id, expiresAt) };
  }
}
