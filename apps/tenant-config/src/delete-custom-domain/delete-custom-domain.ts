import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { deleteCustomDomain as operation, OperationContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, tenantOf, type RequestOf } from '@attestry/service-kit';
import { configured, deleteCustomDomain } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream, type ConfiguredDomain } from '../custom-domain/custom-domain.state.js';
import { VerifiedDomains } from '../verified-domain/verified-domains.js';

export class DeleteCustomDomain {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@CommandHandler(DeleteCustomDomain)
export class DeleteCustomDomainHandler implements ICommandHandler<DeleteCustomDomain> {
  constructor(
    private readonly streams: Streams,
    private readonly domains: VerifiedDomains,
  ) {}

  async execute({ context }: DeleteCustomDomain): Promise<void> {
    const tenantId = tenantOf(context).id;
    let before: ConfiguredDomain | undefined;
    await this.streams.runDecision(
      customDomain,
      customDomainStream(tenantId),
      (current) => {
        before = configured(current);
        return deleteCustomDomain(current);
      },
      eventContext(context),
    );
    if (before?.verifiedAt !== undefined)
      await this.domains.release({ ...before, owner: tenantId }, eventContext(context));
  }
}
