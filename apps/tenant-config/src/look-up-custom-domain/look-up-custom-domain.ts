import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { CustomDomainOwner, lookUpCustomDomain, OperationContext } from '@attestry/contracts';
import type { RequestOf } from '@attestry/service-kit';
import { VerifiedDomains } from '../verified-domain/verified-domains.js';

export class LookUpCustomDomain {
  constructor(
    readonly request: RequestOf<typeof lookUpCustomDomain>,
    readonly context: OperationContext,
  ) {}
}

/** Read from the streams, never stale: what the gateway asks on a miss (ADR 0056). */
@QueryHandler(LookUpCustomDomain)
export class LookUpCustomDomainHandler implements IQueryHandler<LookUpCustomDomain> {
  constructor(private readonly domains: VerifiedDomains) {}

  async execute({ request }: LookUpCustomDomain): Promise<CustomDomainOwner> {
    const found = await this.domains.ownerOf(request.body.host);
    return found ? { tenantId: found.tenantId } : {};
  }
}
