import { listDids, type ClientContext, type ListedDid, type PageOf } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';

@Operation(listDids)
export class ListDids {
  constructor(private readonly lists: DidListsReadModel) {}

  execute(request: RequestOf<typeof listDids>, { tenant }: ClientContext): Promise<PageOf<ListedDid>> {
    return this.lists.dids(tenant.id, request.query);
  }
}
