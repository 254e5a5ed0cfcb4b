import { Inject } from '@nestjs/common';
import {
  httpAnswer,
  isUnchanged,
  notFound,
  revocationListOperationOf,
  type HttpAnswer,
  type PublicContext,
  type RevocationListOperations,
} from '@attestry/contracts';
import { EventStore, readEvent, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { notSigned, notUsed } from '../../status-lists/status-list/conditions.js';
import { PublishedListsReadModel } from '../../status-lists/status-list/published-lists.read-model.js';
import { statusList, statusListStream } from '../../status-lists/status-list/status-list.state.js';
import { StatusListsReadModel } from '../../status-lists/status-list/status-lists.read-model.js';

@Operation(...revocationListOperationOf('retrieve'))
export class RetrieveRevocationList {
  constructor(
    private readonly published: PublishedListsReadModel,
    private readonly lists: StatusListsReadModel,
    private readonly store: EventStore,
    private readonly formats: Formats,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(request: RequestOf<RevocationListOperations['retrieve']>, context: PublicContext): Promise<HttpAnswer> {
    const { profile } = this.formats.ofCall(context);
    const key = { tenantId: context.tenant.id, listId: request.params.id };
    const found = await this.published.findRevocationList(key, profile);
    if (!found) {
      const [stored] = await this.store.readStream(statusListStream(key.tenantId, key.listId), { limit: 1 });
      const opened = stored && readEvent(statusList, stored);
      throw opened?.type === 'StatusListOpened' && opened.data.revocationLists === profile ? notSigned() : notFound();
    }
    const { revocation_list: base64, revocation_etag: etag, expires_at: expiresAt } = found;
    if (base64 === null || etag === null) throw notSigned();
    if (this.clock.now().toISOString() >= expiresAt! && (await this.lists.isUnused(key))) throw notUsed();
    const headers = { etag };
    if (isUnchanged(rawOf(request).headers['if-none-match'], etag)) return httpAnswer({ status: 304, headers });
    return httpAnswer({ headers: { ...headers, 'content-type': 'application/cwt' }, base64 });
  }
}
