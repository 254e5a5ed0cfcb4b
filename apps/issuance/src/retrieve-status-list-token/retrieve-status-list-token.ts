import {
  AppError,
  httpAnswer,
  notFound,
  retrieveListCredential,
  retrieveStatusListToken,
  type HttpAnswer,
  type PublicContext,
} from '@attestry/contracts';
import { EventStore, readEvent } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { rawOf } from '../protocol/raw-request.js';
import { accepts, isUnchanged, notSigned } from '../status-list/conditions.js';
import { statusList, statusListStream } from '../status-list/status-list.state.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';
import { bodyOfToken, mediaTypeOfToken } from '../status-list/sign-status-list.js';

/** Tokens, and lists that are credentials: each kind has its own address. */
@Operation(retrieveStatusListToken, retrieveListCredential)
export class RetrieveStatusListToken {
  constructor(
    private readonly published: PublishedListsReadModel,
    private readonly store: EventStore,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveStatusListToken>,
    { tenant, operation }: PublicContext,
  ): Promise<HttpAnswer> {
    const { headers: given } = rawOf(request);
    const listId = request.params.id;
    const isCredential = operation === retrieveListCredential.name;
    const { mediaType: first, otherMediaTypes = [] } = (isCredential ? retrieveListCredential : retrieveStatusListToken)
      .http!;
    const served = [first!, ...otherMediaTypes];
    const found = await this.published.find({ tenantId: tenant.id, listId });
    const stored = found?.mediaType ?? (await this.mediaTypeOf(tenant.id, listId));
    if (stored === undefined || !served.includes(stored)) throw notFound();
    // A credential is JSON by each of its names.
    const offered = isCredential ? served : [stored];
    const mediaType = offered.find((name) => accepts(given['accept'], name));
    if (mediaType === undefined)
      throw new AppError('notAcceptable', `Accept must allow ${offered.join(' or ')}`, { headers: { vary: 'Accept' } });
    if (!found || found.token === null || found.etag === null) throw notSigned();
    const headers = { etag: found.etag, vary: 'Accept' };
    if (isUnchanged(given['if-none-match'], found.etag)) return httpAnswer({ status: 304, headers });
    return httpAnswer({ headers: { ...headers, 'content-type': mediaType }, ...bodyOfToken(stored, found.token) });
  }

  /** Of a list that is not projected yet. */
  private async mediaTypeOf(tenantId: string, listId: string): Promise<string | undefined> {
    const [stored] = await this.store.readStream(statusListStream(tenantId, listId), { limit: 1 });
    const opened = stored && readEvent(statusList, stored);
    return opened?.type === 'StatusListOpened' ? mediaTypeOfToken(opened.data.tokenType) : undefined;
  }
}
