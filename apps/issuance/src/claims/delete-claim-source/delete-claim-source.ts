import { deleteClaimSource, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { removeSource } from '../claim-sources/claim-sources.decisions.js';
import { claimSources, claimSourcesStream } from '../claim-sources/claim-sources.state.js';
import { ConfigurationsReadModel } from '../../settings/credential-configuration/configurations.read-model.js';

/**
 * A reaction to the stored event destroys the key of its secret. A configuration that names the source and is created meanwhile keeps the
 * id; credentials of it are denied.
 */
@Operation(deleteClaimSource)
export class DeleteClaimSource {
  constructor(
    private readonly streams: Streams,
    private readonly configurations: ConfigurationsReadModel,
  ) {}

  async execute({ params }: RequestOf<typeof deleteClaimSource>, context: ClientContext): Promise<void> {
    const tenantId = context.tenant.id;
    await this.streams.runDecision(
      claimSources,
      claimSourcesStream(tenantId),
      async (state) => {
        const all = await this.configurations.listAll(tenantId);
        const usedBy = all.filter(({ content }) => content.claimSourceId === params.id);
        return removeSource(
          state,
          params.id,
          usedBy.map(({ id }) => id),
        );
      },
      eventContext(context),
    );
  }
}
