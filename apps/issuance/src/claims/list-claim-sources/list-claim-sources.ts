import { listClaimSources, type ClaimSource, type ClientContext, type PageOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { claimSources, claimSourcesStream } from '../claim-sources/claim-sources.state.js';
import { SourceSecrets } from '../claim-sources/source-secrets.js';
import { pageOf } from '../../reading/bounded-pages/page-of.js';

@Operation(listClaimSources)
export class ListClaimSources {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: SourceSecrets,
  ) {}

  async execute(
    { query }: RequestOf<typeof listClaimSources>,
    { tenant }: ClientContext,
  ): Promise<PageOf<ClaimSource>> {
    const { state } = await this.streams.load(claimSources, claimSourcesStream(tenant.id));
    const { data, ...rest } = pageOf(state, query);
    return { ...rest, data: await Promise.all(data.map((source) => this.secrets.viewOf(tenant.id, source))) };
  }
}
