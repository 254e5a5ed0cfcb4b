import { Inject } from '@nestjs/common';
import { AppError, createClaimSource, type ClaimSource, type ContextOf } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { eventContext, idFor, IDS, Operation, Outbound, type RequestOf } from '@attestry/service-kit';
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
      // Refused: no event names the key. A call that may be retried keeps it, because a destroyed key cannot be created again under its id.
      if (sealed && error instanceof AppError && error.kind === 'conflict' && !context.idempotentCall)
        await this.secrets.destroy(tenantId, id);
      throw error;
    }
  }
}
