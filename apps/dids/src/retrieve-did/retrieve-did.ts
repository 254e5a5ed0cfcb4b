import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { DidRecord, OperationContext, retrieveDid } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { activeDid } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { didOfPath, didRecord } from '../did/did-view.js';

export class RetrieveDid {
  constructor(
    readonly request: RequestOf<typeof retrieveDid>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveDid)
export class RetrieveDidHandler implements IQueryHandler<RetrieveDid> {
  constructor(private readonly streams: Streams) {}

  async execute({ request, context }: RetrieveDid): Promise<DidRecord> {
    const stream = didStream(tenantOf(context).id, didOfPath(request.params.id));
    return didRecord(activeDid((await this.streams.load(did, stream)).state));
  }
}
