import { notFound, retrieveManifest, type BrandManifest, type PublicContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation } from '@attestry/service-kit';
import { customDomain, customDomainStream } from '../custom-domain/custom-domain.state.js';

/** The brand comes from the custom domain; until the domain is verified any tenant could claim it. */
@Operation(retrieveManifest)
export class RetrieveManifest {
  constructor(private readonly streams: Streams) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<BrandManifest> {
    const { state } = await this.streams.load(customDomain, customDomainStream(tenant.id));
    if (state.status === 'absent' || state.verifiedAt === undefined) throw notFound();
    return { name: state.name, short_name: state.name, icons: [{ src: state.logoUrl }] };
  }
}
