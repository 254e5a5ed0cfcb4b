import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { notFound, type BrandManifest, type OperationContext, type retrieveManifest } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { customDomain, customDomainStream } from '../custom-domain/custom-domain.state.js';

export class RetrieveManifest {
  constructor(
    readonly request: RequestOf<typeof retrieveManifest>,
    readonly context: OperationContext,
  ) {}
}

/** The brand is what the custom domain says; until it is verified anybody could say it. */
@QueryHandler(RetrieveManifest)
export class RetrieveManifestHandler implements IQueryHandler<RetrieveManifest> {
  constructor(private readonly streams: Streams) {}

  async execute({ context }: RetrieveManifest): Promise<BrandManifest> {
    const { state } = await this.streams.load(customDomain, customDomainStream(tenantOf(context).id));
    if (state.status === 'absent' || state.verifiedAt === undefined) throw notFound();
    return { name: state.name, short_name: state.name, icons: [{ src: state.logoUrl }] };
  }
}
