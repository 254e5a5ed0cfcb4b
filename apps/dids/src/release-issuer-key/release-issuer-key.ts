import { releaseIssuerKey, type ServiceContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { releaseIssuerKey as decide } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { isDid } from '../did/did-web.js';

/** Idempotent: without a reservation, or without the DID, there is nothing to release. */
@Operation(releaseIssuerKey)
export class ReleaseIssuerKey {
  constructor(private readonly streams: Streams) {}

  async execute({ body }: RequestOf<typeof releaseIssuerKey>, context: ServiceContext): Promise<void> {
    if (!isDid(body.did)) return;
    const { tenantId, configurationId } = body;
    await this.streams.runDecision(
      did,
      didStream(tenantId, body.did),
      (state) => decide(state, configurationId),
      eventContext(context, tenantId),
    );
  }
}
