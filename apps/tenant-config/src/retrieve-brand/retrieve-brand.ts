import { retrieveBrand, type TenantServiceContext, type VerifiedBrand } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation } from '@attestry/service-kit';
import { customDomain, customDomainStream } from '../custom-domain/custom-domain.state.js';

/** Until the domain is verified any tenant could claim the brand. */
@Operation(retrieveBrand)
export class RetrieveBrand {
  constructor(private readonly streams: Streams) {}

  async execute(_request: unknown, { tenant }: TenantServiceContext): Promise<VerifiedBrand> {
    const { state } = await this.streams.load(customDomain, customDomainStream(tenant.id));
    if (state.status === 'absent' || state.verifiedAt === undefined) return {};
    return { name: state.name, logoUrl: state.logoUrl, domain: state.domain };
  }
}
