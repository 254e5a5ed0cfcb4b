import {
  AppError,
  httpAnswer,
  notFound,
  retrieveStatusListToken,
  type HttpAnswer,
  type PublicContext,
} from '@attestry/contracts';
import { EventStore } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { rawOf } from '../protocol/raw-request.js';
import { accepts, isUnchanged, notSigned } from '../status-list/conditions.js';
import { statusListStream } from '../status-list/status-list.state.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';
import { bodyOfToken } from '../status-list/sign-status-list.js';

@Operation(retrieveStatusListToken)
export class RetrieveStatusListToken {
  constructor(
    private readonly published: PublishedListsReadModel,
    private readonly store: EventStore,
  ) {}

  async execute(request: RequestOf<typeof retrieveStatusListToken>, { tenant }: PublicContext): Promise<HttpAnswer> {
    const { headers: given } = rawOf(request);
    const listId = request.params.id;
    const found = await this.published.find({ tenantId: tenant.id, listId });
    if (!found) {
      const [opened] = await this.store.readStream(statusListStream(tenant.id, listId), { limit: 1 });
      throw opened ? notSigned() : notFound();
    }
    const { mediaType, token, etag } = found;
    if (!accepts(given['accept'], mediaType))
      throw new AppError('notAcceptable', `Accept must allow ${mediaType}`, { headers: { vary: 'Accept' } });
    if (token === null || etag === null) throw notSigned();
    const headers = { etag, vary: 'Accept' };
    if (isUnchanged(given['if-none-match'], etag)) return httpAnswer({ status: 304, headers });
    return httpAnswer({ headers: { ...headers, 'content-type': mediaType }, ...bodyOfToken(mediaType, token) });
  }
}
