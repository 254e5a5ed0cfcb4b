import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { OperationContext, releaseIssuerKey as operation } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, tenantOf, type RequestOf } from '@attestry/service-kit';
import { releaseIssuerKey } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { isDid } from '../did/did-web.js';

export class ReleaseIssuerKey {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/** Idempotent: what is not reserved, or no DID at all, has nothing to release. */
@CommandHandler(ReleaseIssuerKey)
export class ReleaseIssuerKeyHandler implements ICommandHandler<ReleaseIssuerKey> {
  constructor(private readonly streams: Streams) {}

  async execute({ request: { body }, context }: ReleaseIssuerKey): Promise<void> {
    if (!isDid(body.did)) return;
    const { configurationId } = body;
    await this.streams.runDecision(
      did,
      didStream(tenantOf(context).id, body.did),
      (state) => releaseIssuerKey(state, configurationId),
      eventContext(context),
    );
  }
}
