import { Inject } from '@nestjs/common';
import {
  AppError,
  httpAnswer,
  notFound,
  retrieveIdentifierListToken,
  retrieveListCredential,
  retrieveMobileStatusListToken,
  retrieveStatusListToken,
  type HttpAnswer,
  type PublicContext,
  type StatusListTokenQuery,
} from '@attestry/contracts';
import { EventStore, readEvent, type Clock } from '@attestry/event-store';
import { chooseMediaType, CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { notSigned, notUsed } from '../status-list/conditions.js';
import { statusList, statusListStream } from '../status-list/status-list.state.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';
import { StatusListsReadModel, type ListKey } from '../status-list/status-lists.read-model.js';
import {
  isListCredential,
  retrievalOf,
  STATUS_LIST_TOKENS,
  type ListSeries,
  type TokenType,
} from '../status-list/list-series.js';
import { bodyOfToken, lifetimeOfToken, mediaTypeOfToken } from '../status-list/sign-status-list.js';

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
    request: RequestOf<typeof retrieveStatusListToken | typeof retrieveListCredential>,
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
    if (!found || found.token === null) throw notSigned();
    const { token, expiresAt } = found;
    if (this.clock.now().toISOString() >= expiresAt!) {
      if (await this.lists.isUnused(key)) throw notUsed();
      if (isOfMobile(list)) throw new AppError('gone', `The status list ended at ${expiresAt}`);
    }
    checkTime((request.query as StatusListTokenQuery | undefined)?.time, list.tokenType, token);
    const stored = mediaTypeOfToken(list.tokenType);
    return httpAnswer({ headers: { vary: 'Accept', 'content-type': mediaType }, ...bodyOfToken(stored, token) });
  }

  /** One that is not projected yet. */
  private async openedList({ tenantId, listId }: ListKey): Promise<ServedList | undefined> {
    const [stored] = await this.store.readStream(statusListStream(tenantId, listId), { limit: 1 });
    const opened = stored && readEvent(statusList, stored);
    return opened?.type === 'StatusListOpened' ? opened.data : undefined;
  }
}

/** Historical statuses are not kept, and the current ones are those of the time in which the token is valid (Token Status List §8.4). @throws AppError 501 */
const checkTime = (time: number | undefined, tokenType: TokenType, token: string): void => {
  if (time === undefined || !STATUS_LIST_TOKENS.includes(tokenType)) return;
  const [from, until] = lifetimeOfToken(tokenType, token);
  if (time < from || time > until)
    throw new AppError('notImplemented', `time must be from ${from} to ${until}: earlier statuses are not kept`);
};

type ServedList = Pick<ListSeries, 'tokenType' | 'signer'>;

const isOfMobile = ({ signer }: ServedList): boolean => signer.kind === 'statusListSigner';

/** A credential is JSON by each of its names; a token of mobile documents is a CWT by two. */
const mediaTypesOf = (list: ServedList): string[] => {
  const { mediaType, otherMediaTypes = [] } = retrievalOf(list).http!;
  const areOfAll = isOfMobile(list) || isListCredential(list.tokenType);
  return areOfAll ? [mediaType!, ...otherMediaTypes] : [mediaTypeOfToken(list.tokenType)];
};
