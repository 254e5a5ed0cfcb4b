import { retrieveClaimSource, type ClaimSource, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { requireSource } from '../claim-sources/claim-sources.decisions.js';
import { claimSources, claimSourcesStream } from '../claim-sources/claim-sources.state.js';
import { SourceSecrets } from '../claim-sources/source-secrets.js';

@Operation(retrieveClaimSource)
export class RetrieveClaimSource {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: SourceSecrets,
  ) {}

  async execute({ params }: RequestOf<typeof retrieveClaimSource>, { tenant }: ClientContext): Promise<ClaimSource> {
    const { state } = await this.streams.load(claimSources, claimSourcesStream(tenant.id));
    return this.secrets.viewOf(tenant.id, requireSource(state, params.id));
  }
}
