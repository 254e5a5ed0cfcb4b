import { listDids, type ListedDid, type OperationContext, type PageOf } from '@attestry/contracts';
import { Operation, tenantOf, type RequestOf } from '@attestry/service-kit';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';

@Operation(listDids)
export class ListDids {
  constructor(private readonly lists: DidListsReadModel) {}

  execute(request: RequestOf<typeof listDids>, context: OperationContext): Promise<PageOf<ListedDid>> {
    return this.lists.dids(tenantOf(context).id, request.query);
  }
}
