import { Inject } from '@nestjs/common';
import { updateDidDocument, type ContextOf, type DidRecord } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { activeDid, updateDocument } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { didOfPath, didRecord } from '../did/did-view.js';
import { didWebHost } from '../did/did-web.js';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';

@Operation(updateDidDocument)
export class UpdateDidDocument {
  constructor(
    private readonly streams: Streams,
    private readonly lists: DidListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof updateDidDocument>,
    context: ContextOf<typeof updateDidDocument>,
  ): Promise<DidRecord> {
    const id = didOfPath(request.params.id);
    const { tenant } = context;
    const { state, position } = await this.streams.runDecision(
      did,
      didStream(tenant.id, id),
      (current) => updateDocument(current, didWebHost(id) === tenant.host, this.clock.now()),
      eventContext(context),
    );
    await this.lists.settled(position);
    return didRecord(activeDid(state));
  }
}
