import { lookUpCustomDomain, type CustomDomainOwner } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { VerifiedDomains } from '../custom-domain/verified-domains.js';

/** Read from the streams, never stale: the gateway queries it on a cache miss (ADR 0056). */
@Operation(lookUpCustomDomain)
export class LookUpCustomDomain {
  constructor(private readonly domains: VerifiedDomains) {}

  async execute(request: RequestOf<typeof lookUpCustomDomain>): Promise<CustomDomainOwner> {
    const found = await this.domains.ownerOf(request.body.host);
    return found ? { tenantId: found.tenantId } : {};
  }
}
