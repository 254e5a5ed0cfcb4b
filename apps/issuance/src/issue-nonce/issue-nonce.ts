import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { issueNonce, NonceResponse, OperationContext } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { CLOCK, PlatformConfig, tenantOf, type RequestOf } from '@attestry/service-kit';
import { makeNonce } from './nonce.js';

export class IssueNonce {
  constructor(
    readonly request: RequestOf<typeof issueNonce>,
    readonly context: OperationContext,
  ) {}
}

/** Nonce endpoint, OID4VCI §7: no authentication, the body is not looked at, nothing is stored. */
@QueryHandler(IssueNonce)
export class IssueNonceHandler implements IQueryHandler<IssueNonce> {
  constructor(
    private readonly vault: KeyVault,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ context }: IssueNonce): Promise<NonceResponse> {
    const expiresAt = new Date(this.clock.now().getTime() + this.config.nonceSeconds * 1000);
    return { c_nonce: makeNonce(this.vault, tenantOf(context).id, expiresAt) };
  }
}
