import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { ListedDid, listDids, OperationContext, PageOf } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';

export class ListDids {
  constructor(
    readonly request: RequestOf<typeof listDids>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(ListDids)
export class ListDidsHandler implements IQueryHandler<ListDids> {
  constructor(private readonly lists: DidListsReadModel) {}

  execute({ request, context }: ListDids): Promise<PageOf<ListedDid>> {
    return this.lists.dids(tenantOf(context).id, request.query);
  }
}
