import { updateClaimSource, type ClaimSource, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, isMaskOf, Operation, Outbound, type RequestOf } from '@attestry/service-kit';
import {
  changeSource,
  checkSecretStays,
  parseSource,
  requireSource,
  SECRET_MEMBER,
  type RequestedSource,
} from '../claim-sources/claim-sources.decisions.js';
import type { ConfiguredSource, SourceAuthorization } from '../claim-sources/claim-sources.events.js';
import { claimSources, claimSourcesStream } from '../claim-sources/claim-sources.state.js';
import { sealedAuthorization, SourceSecrets } from '../claim-sources/source-secrets.js';

@Operation(updateClaimSource)
export class UpdateClaimSource {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: SourceSecrets,
    private readonly outbound: Outbound,
  ) {}

  async execute({ params, body }: RequestOf<typeof updateClaimSource>, context: ClientContext): Promise<ClaimSource> {
    const tenantId = context.tenant.id;
    const requested = parseSource(params.id, body, (url) => this.outbound.checkUrl(url));
    const { state } = await this.streams.runDecision(
      claimSources,
      claimSourcesStream(tenantId),
      async (before) => {
        const current = requireSource(before, params.id);
        const authorization = await this.authorization(tenantId, current, requested);
        return changeSource(before, { ...requested.source, ...(authorization && { authorization }) });
      },
      eventContext(context),
    );
    return this.secrets.viewOf(tenantId, requireSource(state, params.id));
  }

  /** With the stored secret where the request repeats its masked form. */
  private async authorization(
    tenantId: string,
    current: ConfiguredSource,
    requested: RequestedSource,
  ): Promise<SourceAuthorization | undefined> {
    const { authorization } = requested;
    if (!authorization) return undefined;
    const stored = current.authorization;
    const known = stored && (await this.secrets.openSecret(tenantId, stored));
    if (isMaskOf(authorization.secret, known, SECRET_MEMBER[authorization.type])) {
      checkSecretStays(current, requested);
      return sealedAuthorization(authorization, stored!.sealedSecret);
    }
    return sealedAuthorization(authorization, await this.secrets.seal(tenantId, current.id, authorization.secret));
  }
}
