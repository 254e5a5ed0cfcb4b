import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { CustomDomain, OperationContext, retrieveCustomDomain } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { viewOf } from '../custom-domain/custom-domain-view.js';
import { configured } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream } from '../custom-domain/custom-domain.state.js';

export class RetrieveCustomDomain {
  constructor(
    readonly request: RequestOf<typeof retrieveCustomDomain>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveCustomDomain)
export class RetrieveCustomDomainHandler implements IQueryHandler<RetrieveCustomDomain> {
  constructor(private readonly streams: Streams) {}

  async execute({ context }: RetrieveCustomDomain): Promise<CustomDomain> {
    const stream = customDomainStream(tenantOf(context).id);
    return viewOf(configured((await this.streams.load(customDomain, stream)).state));
  }
}
