import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  httpAnswer,
  type deleteCustomDomain as operation,
  type HttpAnswer,
  type OperationContext,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, tenantOf, type RequestOf } from '@attestry/service-kit';
import { configured, deleteCustomDomain } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream, type ConfiguredDomain } from '../custom-domain/custom-domain.state.js';
import { DomainUsage } from '../custom-domain/domain-usage.js';
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
    private readonly usage: DomainUsage,
  ) {}

  async execute({ context }: DeleteCustomDomain): Promise<HttpAnswer | undefined> {
    const tenantId = tenantOf(context).id;
    const current = configured((await this.streams.load(customDomain, customDomainStream(tenantId))).state);
    const metadata = await this.usage.metadataOf(current, context);
    let before: ConfiguredDomain | undefined;
    await this.streams.runDecision(
      customDomain,
      customDomainStream(tenantId),
      (state) => {
        before = configured(state);
        return deleteCustomDomain(state);
      },
      eventContext(context),
    );
    if (before?.verifiedAt !== undefined)
      await this.domains.release({ ...before, owner: tenantId }, eventContext(context));
    return metadata && httpAnswer({ metadata });
  }
}
