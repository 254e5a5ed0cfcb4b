import { Inject } from '@nestjs/common';
import {
  AppError,
  httpAnswer,
  isUnchanged,
  notFound,
  retrieveIdentifierListToken,
  retrieveListCredential,
  retrieveMobileStatusListToken,
  retrieveStatusListToken,
  type HttpAnswer,
  type PublicContext,
} from '@attestry/contracts';
import { EventStore, readEvent, type Clock } from '@attestry/event-store';
import { chooseMediaType, CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { rawOf } from '../protocol/raw-request.js';
import { notSigned, notUsed } from '../status-list/conditions.js';
import { statusList, statusListStream } from '../status-list/status-list.state.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';
import { StatusListsReadModel, type ListKey } from '../status-list/status-lists.read-model.js';
import { isListCredential, retrievalOf, type ListSeries } from '../status-list/list-series.js';
import { bodyOfToken, mediaTypeOfToken } from '../status-list/sign-status-list.js';

/** Each kind of list has its own address. */
@Operation(retrieveStatusListToken, retrieveListCredential, retrieveMobileStatusListToken, retrieveIdentifierListToken)
export class RetrieveStatusListToken {
  constructor(
    private readonly published: PublishedListsReadModel,
    private readonly lists: StatusListsReadModel,
    private readonly store: EventStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveStatusListToken>,
    { tenant, operation }: PublicContext,
  ): Promise<HttpAnswer> {
    const { headers: given } = rawOf(request);
    const key = { tenantId: tenant.id, listId: request.params.id };
    const found = await this.published.find(key);
    const list = found ?? (await this.openedList(key));
    if (!list || retrievalOf(list).name !== operation) throw notFound();
    const types = mediaTypesOf(list);
    const mediaType = chooseMediaType(given['accept'], types);
    if (mediaType === undefined)
      throw new AppError('notAcceptable', `Accept must allow ${types.join(' or ')}`, { headers: { vary: 'Accept' } });
    if (!found || found.token === null || found.etag === null) throw notSigned();
    const { token, etag, expiresAt } = found;
    if (this.clock.now().toISOString() >= expiresAt!) {
      if (await this.lists.isUnused(key)) throw notUsed();
      if (isOfMobile(list)) throw new AppError('gone', `The status list ended at ${expiresAt}`);
    }
    const headers = { etag, vary: 'Accept' };
    if (isUnchanged(given['if-none-match'], etag)) return httpAnswer({ status: 304, headers });
    const stored = mediaTypeOfToken(list.tokenType);
    return httpAnswer({ headers: { ...headers, 'content-type': mediaType }, ...bodyOfToken(stored, token) });
  }

  /** One that is not projected yet. */
  private async openedList({ tenantId, listId }: ListKey): Promise<ServedList | undefined> {
    const [stored] = await this.store.readStream(statusListStream(tenantId, listId), { limit: 1 });
    const opened = stored && readEvent(statusList, stored);
    return opened?.type === 'StatusListOpened' ? opened.data : undefined;
  }
}

type ServedList = Pick<ListSeries, 'tokenType' | 'signer'>;

const isOfMobile = ({ signer }: ServedList): boolean => signer.kind === 'statusListSigner';

/** A credential is JSON by each of its names; a token of mobile documents is a CWT by two. */
const mediaTypesOf = (list: ServedList): string[] => {
  const { mediaType, otherMediaTypes = [] } = retrievalOf(list).http!;
  const areOfAll = isOfMobile(list) || isListCredential(list.tokenType);
  return areOfAll ? [mediaType!, ...otherMediaTypes] : [mediaTypeOfToken(list.tokenType)];
};
