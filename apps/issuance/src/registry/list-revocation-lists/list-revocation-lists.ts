import {
  revocationListOperationOf,
  type ClientContext,
  type PageOf,
  type RevocationList,
  type RevocationListOperations,
} from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { PublishedListsReadModel } from '../../status-lists/status-list/published-lists.read-model.js';

@Operation(...revocationListOperationOf('list'))
export class ListRevocationLists {
  constructor(
    private readonly published: PublishedListsReadModel,
    private readonly formats: Formats,
    private readonly macs: Macs,
  ) {}

  async execute(
    { query }: RequestOf<RevocationListOperations['list']>,
    context: ClientContext,
  ): Promise<PageOf<RevocationList>> {
    const { profile } = this.formats.ofCall(context);
    const tenantId = context.tenant.id;
    const rows = this.published.revocationLists(tenantId, profile);
    const found = await listPage(rows, query, this.macs, [tenantId, 'revocation-lists', profile], {
      contents: ['issuer', 'revocation_uri'],
      timeColumn: 'opened_at',
      idColumn: 'list_id',
    });
    const data = found.data.map((row) => ({ id: row.list_id, issuer: row.issuer, url: row.revocation_uri }));
    return { ...found, data };
  }
}
