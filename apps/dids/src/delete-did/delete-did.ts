import { Inject } from '@nestjs/common';
import { checkCredentialConfiguration, deleteDid, type ClientContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, ServiceClient, type RequestOf } from '@attestry/service-kit';
import { holdersOf, startDeletion } from '../did/did.decisions.js';
import { did, didStream, type DidState } from '../did/did.state.js';
import { didOfPath } from '../did/did-view.js';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';
import { DidDeletion } from '../did/did-deletion.js';

/**
 * Two appends around the destruction of the keys. If the keys were destroyed before the first event, a configuration could reserve the DID
 * in between and have no key; if they were destroyed only after the DID is deleted, a crash would leave them behind. The reaction finishes
 * what a crash interrupted.
 */
@Operation(deleteDid)
export class DeleteDid {
  constructor(
    private readonly streams: Streams,
    private readonly deletion: DidDeletion,
    private readonly lists: DidListsReadModel,
    private readonly client: ServiceClient,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(request: RequestOf<typeof deleteDid>, context: ClientContext): Promise<void> {
    const stream = didStream(context.tenant.id, didOfPath(request.params.id));
    const events = eventContext(context);
    const { state } = await this.streams.load(did, stream);
    const abandoned = await this.abandoned(state, context);
    const started = await this.streams.runDecision(
      did,
      stream,
      (current) => startDeletion(current, { abandoned }, this.clock.now()),
      events,
    );
    await this.deletion.completeDeletion(stream, started.state, events);
    await this.lists.settled(started.position);
  }

  /** Configurations that hold the DID and whose creation was interrupted long ago. Stops at the first that exists. */
  private async abandoned(state: DidState, context: ClientContext): Promise<Set<string>> {
    const abandoned = new Set<string>();
    const { settled, young } = holdersOf(state, this.clock.now());
    if (young.length > 0) return abandoned;
    for (const configurationId of settled) {
      const { exists } = await this.client.call(checkCredentialConfiguration, { body: { configurationId } }, context);
      if (exists) break;
      abandoned.add(configurationId);
    }
    return abandoned;
  }
}
