import { Inject } from '@nestjs/common';
import { createClaimSource, type ClaimSource, type ContextOf } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { eventContext, idFor, IDS, leavesUnusedKeys, Operation, Outbound, type RequestOf } from '@attestry/service-kit';
import { createSource, parseSource, requireSource } from '../claim-sources/claim-sources.decisions.js';
import { claimSources, claimSourcesStream } from '../claim-sources/claim-sources.state.js';
import { sealedAuthorization, SourceSecrets } from '../claim-sources/source-secrets.js';

@Operation(createClaimSource)
export class CreateClaimSource {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: SourceSecrets,
    private readonly outbound: Outbound,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { body }: RequestOf<typeof createClaimSource>,
    context: ContextOf<typeof createClaimSource>,
  ): Promise<ClaimSource> {
    const tenantId = context.tenant.id;
    const id = idFor(context, 'claims source', this.ids);
    const { source, authorization } = parseSource(id, body, (url) => this.outbound.checkUrl(url));
    const sealed = authorization && (await this.secrets.sealForNew(tenantId, id, authorization.secret));
    try {
      const { state } = await this.streams.runDecision(
        claimSources,
        claimSourcesStream(tenantId),
        (before) =>
          createSource(before, {
            ...source,
            ...(sealed && { authorization: sealedAuthorization(authorization, sealed.sealed) }),
          }),
        eventContext(context),
        { once: true },
      );
      return await this.secrets.viewOf(tenantId, requireSource(state, id));
    } catch (error) {
      if (sealed && leavesUnusedKeys(context, error)) await this.secrets.destroy(tenantId, id);
      throw error;
    }
  }
}
