import { Inject } from '@nestjs/common';
import {
  AppError,
  httpAnswer,
  notFound,
  retrieveMobileStatusListToken,
  retrieveStatusListToken,
  type HttpAnswer,
  type PublicContext,
} from '@attestry/contracts';
import { EventStore, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { rawOf } from '../protocol/raw-request.js';
import { statusListStream } from '../status-list/status-list.state.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';
import { bodyOfToken } from '../status-list/sign-status-list.js';
import { chooseMediaType, isUnchanged } from './conditions.js';

/** The path of each kind of list. */
@Operation(retrieveStatusListToken, retrieveMobileStatusListToken)
export class RetrieveStatusListToken {
  constructor(
    private readonly published: PublishedListsReadModel,
    private readonly store: EventStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveStatusListToken>,
    { tenant, operation }: PublicContext,
  ): Promise<HttpAnswer> {
    const { headers: given } = rawOf(request);
    const listId = request.params.id;
    const found = await this.published.find({ tenantId: tenant.id, listId });
    if (!found) {
      const [opened] = await this.store.readStream(statusListStream(tenant.id, listId), { limit: 1 });
      throw opened ? notSigned() : notFound();
    }
    const { signer, token, etag, expiresAt } = found;
    const isMobile = signer.kind === 'statusListSigner';
    if (isMobile !== (operation === retrieveMobileStatusListToken.name)) throw notFound();
    const types = isMobile ? ['application/cwt', found.mediaType] : [found.mediaType];
    const mediaType = chooseMediaType(given['accept'], types);
    if (mediaType === undefined)
      throw new AppError('notAcceptable', `Accept must allow ${types.join(' or ')}`, { headers: { vary: 'Accept' } });
    if (token === null || etag === null) throw notSigned();
    if (isMobile && this.clock.now().toISOString() >= expiresAt!)
      throw new AppError('gone', `The status list ended at ${expiresAt}`);
    const headers = { etag, vary: 'Accept' };
    if (isUnchanged(given['if-none-match'], etag)) return httpAnswer({ status: 304, headers });
    return httpAnswer({
      headers: { ...headers, 'content-type': mediaType },
      ...bodyOfToken(found.mediaType, token),
    });
  }
}

/** A credential may refer to a list that was opened a moment ago. */
const notSigned = (): AppError =>
  new AppError('unavailable', 'The first token of the status list is not signed yet', {
    headers: { 'retry-after': '1' },
  });
