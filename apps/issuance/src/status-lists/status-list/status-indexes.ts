import { Inject, Injectable } from '@nestjs/common';
import { notFound, type TenantContext } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { isErased, pooledBytes, Sealing } from '@attestry/keys';
import { CLOCK, IDS, LOGGER, serviceContext, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { firstListId } from './first-list-id.js';
import { permuteCounters } from './index-permutation.js';
import { listPath, revocationListUri, seriesName, type ListSeries } from './list-series.js';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { blockSize, checkOpenLists, claimBlock, MAX_OPEN_LISTS, openList } from './status-list.decisions.js';
import { statusList, statusListStream, type OpenStatusList } from './status-list.state.js';
import { StatusListsReadModel } from './status-lists.read-model.js';
import type { StatusReference } from './token-status-list.js';

/** The place of one credential in a list. */
export interface AllocatedStatus extends StatusReference {
  listId: string;
  /** Where it is returned to. */
  series: Claimed;
}

type Tenant = Pick<TenantContext, 'id' | 'baseUrl'>;

interface Block {
  listId: string;
  uri: string;
  revocationUri?: string | undefined;
  indexes: Uint32Array;
  used: number;
  /** Time of its first index. */
  since?: Date;
}

/** Indexes of a series that this process has. */
interface Claimed {
  /** Indexes of refused requests: the next ones get them. */
  returned: AllocatedStatus[];
  block?: Block;
  /** Claimed ahead. */
  next?: Block;
  claiming?: Promise<void> | undefined;
  /** List of the newest claim. */
  listId: string;
}

const firstStream = ({ id }: Tenant, series: ListSeries): string =>
  statusListStream(id, firstListId(id, seriesName(series)));

/** All processes claim blocks of the same list, so that they collide more often than requests do. */
const CLAIM_ATTEMPTS = 12;
const NAME = 'issuance.status-lists';
/** Series of which this process has blocks: the least used one is dropped, and its indexes are wasted. */
const MOST_SERIES = 5000;

/**
 * Indexes for credentials. A process claims blocks of counters, so that no two processes have the same index, and gives them out from
 * memory; the next block is claimed when half of one is used, so that a request waits only for the first. What a process that ends has not
 * used is wasted.
 */
@Injectable()
export class StatusIndexes {
  private readonly series = new LRUCache<string, Claimed>({ max: MOST_SERIES });

  constructor(
    private readonly streams: Streams,
    private readonly sealing: Sealing,
    private readonly lists: StatusListsReadModel,
    private readonly published: PublishedListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Before a configuration is stored.
   * @param series absent where it is known with the first credential
   * @throws AppError 409 when the tenant can have no further list
   */
  async checkSeries(tenant: Tenant, series: ListSeries | undefined): Promise<void> {
    const open = await this.lists.countOpen(tenant.id, MAX_OPEN_LISTS);
    const first = series && (await this.streams.load(statusList, firstStream(tenant, series))).state;
    checkOpenLists(first, open);
  }

  /**
   * Opens the first list of a series, once its configuration is stored, so that its token is published before the first credential; its
   * address is listed then. Where that fails, the first credential opens it.
   */
  async openSeries(tenant: Tenant, series: ListSeries): Promise<void> {
    const position = await this.openAhead(tenant, series, firstListId(tenant.id, seriesName(series)));
    await Promise.all([this.lists.running.ownWrite(position), this.published.running.ownWrite(position)]);
  }

  /** Allocates that number of indexes, none of which is given out again unless it is returned. */
  async allocate(tenant: Tenant, series: ListSeries, count: number): Promise<AllocatedStatus[]> {
    const name = seriesName(series);
    const at = `${tenant.id} ${name}`;
    let claimed = this.series.get(at);
    if (!claimed) this.series.set(at, (claimed = { returned: [], listId: firstListId(tenant.id, name) }));
    const allocated: AllocatedStatus[] = [];
    for (;;) {
      this.take(claimed, allocated, count);
      if (allocated.length === count) break;
      try {
        await this.claimNext(tenant, series, claimed);
      } catch (error) {
        this.giveBack(allocated);
        throw error;
      }
    }
    const { block, next } = claimed;
    if (!next && block && block.used * 2 >= block.indexes.length)
      // The request that needs the block repeats a claim that failed.
      this.claimNext(tenant, series, claimed).catch((error: Error) =>
        this.logger.warn({ tenantId: tenant.id, error: error.message }, 'indexes of a status list not claimed ahead'),
      );
    return allocated;
  }

  /**
   * Takes back what a refused request has not used: repeated requests without credentials would use up list after list. Empties the array, so
   * that none is returned twice.
   * @param statuses in no event, not even in one with an unknown outcome
   */
  giveBack(statuses: AllocatedStatus[]): void {
    for (const status of statuses.splice(0)) status.series.returned.push(status);
  }

  /** From the blocks in memory, without interruption: concurrent requests get different ones. */
  private take(claimed: Claimed, allocated: AllocatedStatus[], count: number): void {
    while (allocated.length < count) {
      const { block } = claimed;
      const returned = claimed.returned.pop();
      if (returned) allocated.push(returned);
      else if (block && block.used < block.indexes.length) {
        block.since ??= this.clock.now();
        const { listId, uri, revocationUri } = block;
        const index = block.indexes[block.used++]!;
        allocated.push({ listId, uri, index, series: claimed, ...(revocationUri !== undefined && { revocationUri }) });
      } else if (claimed.next) {
        claimed.block = claimed.next;
        delete claimed.next;
      } else return;
    }
  }

  private claimNext(tenant: Tenant, series: ListSeries, claimed: Claimed): Promise<void> {
    return (claimed.claiming ??= this.claim(tenant, series, claimed).finally(() => (claimed.claiming = undefined)));
  }

  private async claim(tenant: Tenant, series: ListSeries, claimed: Claimed): Promise<void> {
    const { block } = claimed;
    const count = blockSize(block?.since && { count: block.used, since: block.since }, this.clock.now());
    for (;;) {
      const { listId } = claimed;
      const { list } = await this.openList(tenant, series, listId);
      const { state, events } = await this.streams.runDecision(
        statusList,
        statusListStream(tenant.id, listId),
        (before) => claimBlock(before, { count, successorId: this.ids.uuid() }, this.clock.now()),
        serviceContext(NAME, tenant.id),
        { maxAttempts: CLAIM_ATTEMPTS },
      );
      const { successorId } = state as OpenStatusList;
      const ours = events.find(({ type }) => type === 'StatusIndexesClaimed');
      if (ours?.type !== 'StatusIndexesClaimed') {
        claimed.listId = successorId!;
        continue;
      }
      const { first, count: claimedCount } = ours.data;
      const secret = await this.openSecret(tenant.id, list);
      const indexes = permuteCounters(secret, list.size, first, claimedCount);
      claimed.next = { listId, uri: list.uri, revocationUri: revocationListUri(list, listId), indexes, used: 0 };
      // Only the process that named the list.
      if (events.length > 1) await this.openAhead(tenant, series, successorId!);
      return;
    }
  }

  /** A claim opens the list where this failed. */
  private async openAhead(tenant: Tenant, series: ListSeries, listId: string): Promise<string | undefined> {
    try {
      return (await this.openList(tenant, series, listId)).position;
    } catch (error) {
      this.logger.warn({ tenantId: tenant.id, error: (error as Error).message }, 'status list not opened ahead');
      return undefined;
    }
  }

  /** Unless it is open: several processes may, and the first one decides. */
  private async openList(
    tenant: Tenant,
    series: ListSeries,
    listId: string,
  ): Promise<{ list: OpenStatusList; position?: string | undefined }> {
    const stream = statusListStream(tenant.id, listId);
    const { state } = await this.streams.load(statusList, stream);
    if (state.status === 'open') return { list: state };
    // Before the event that has a value under it.
    await this.sealing.createDataKey(tenant.id, 'tenant', listId);
    const secret = pooledBytes(32).toString('base64url');
    const sealedSecret = await this.sealing.sealText(tenant.id, 'tenant', listId, secret);
    const uri = `${tenant.baseUrl}${listPath(series, listId)}`;
    const opened = await this.streams.runDecision(
      statusList,
      stream,
      (before) => openList(before, { ...series, listId, uri, sealedSecret }, this.clock.now()),
      serviceContext(NAME, tenant.id),
    );
    return { list: opened.state as OpenStatusList, position: opened.position };
  }

  private async openSecret(tenantId: string, { sealedSecret }: OpenStatusList): Promise<Buffer> {
    const secret = await this.sealing.openSealed(tenantId, 'tenant', sealedSecret);
    if (isErased(secret)) throw notFound();
    return Buffer.from(secret, 'base64url');
  }
}
