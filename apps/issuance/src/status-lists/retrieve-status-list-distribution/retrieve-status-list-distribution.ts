import { Inject } from '@nestjs/common';
import { retrieveStatusListDistribution, type PublicContext, type StatusListDistribution } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation } from '@attestry/service-kit';
import { findListSigner } from '../../certificates/mobile-certificates/find-signer.decisions.js';
import {
  mobileCertificates,
  mobileCertificatesStream,
} from '../../certificates/mobile-certificates/mobile-certificates.state.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';

@Operation(retrieveStatusListDistribution)
export class RetrieveStatusListDistribution {
  constructor(
    private readonly streams: Streams,
    private readonly lists: PublishedListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<StatusListDistribution> {
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenant.id));
    const now = this.clock.now();
    const iacaIds = state.iacas.flatMap(({ iacaId }) => (findListSigner(state, iacaId, now).hasEnded ? [] : [iacaId]));
    const [uris, identifierLists] = await Promise.all([
      this.lists.listMobileUris(tenant.id, iacaIds, 'cose', now),
      this.lists.listMobileUris(tenant.id, iacaIds, 'identifierList', now),
    ]);
    return {
      data: uris.map((uri) => ({ status_lists: { uri } })),
      ...(identifierLists.length > 0 && { identifier_lists: identifierLists.map((uri) => ({ uri })) }),
    };
  }
}
