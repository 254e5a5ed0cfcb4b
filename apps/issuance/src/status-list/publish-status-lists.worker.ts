import { hash, randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, Leases, type Clock, type Term } from '@attestry/event-store';
import { KeyNotFound, SigningKeys } from '@attestry/keys';
import { CLOCK, FailingRows, Health, LOGGER, serviceContext, type Logger } from '@attestry/service-kit';
import { IssuerSigners, type IssuingSigner } from '../issuer-certificates/issuer-signers.js';
import { hasEnded } from './list-end.js';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { SHARDS } from './shard-of.js';
import { signStatusList } from './sign-status-list.js';
import { StatusListsReadModel, type ListKey, type StoredList } from './status-lists.read-model.js';

const NAME = 'issuance.status-list-publisher';
const PAUSE_MS = 1000;
/** Lists of one run; the next runs do the others. */
const MOST = 256;
/** Signed at once: compression and signatures are made on the threads of libuv's pool. */
const AT_ONCE = 8;
/** Seconds for which a verifier may use a token; a token is replaced at half of it. */
const TIME_TO_LIVE = 300;
/** Seconds until a token expires that could not be replaced. */
const LIFETIME = 3600;
/** Between two attempts at a list that cannot be signed, but did not change. */
const BACK_OFF = { firstMs: PAUSE_MS, maxMs: 60_000 };
/** In readiness. */
const BEHIND = 'the statuses are behind: tokens are not signed until they contain the changes of a minute ago';

/**
 * Signs the tokens of lists whose statuses changed, and replaces others at half of their time to live. Each shard of the lists is published
 * by the holder of its lease, whose epoch fences the writes.
 */
@Injectable()
export class PublishStatusLists implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly workers: LeasedWorker[];
  private readonly failing: FailingRows;
  private isBehind = false;

  constructor(
    leases: Leases,
    private readonly lists: StatusListsReadModel,
    private readonly published: PublishedListsReadModel,
    private readonly issuerSigners: IssuerSigners,
    private readonly signingKeys: SigningKeys,
    private readonly health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const [failure, recovery] = ['status list not published', 'status list no longer fails'];
    this.failing = new FailingRows({ logger, failure, recovery, backOff: BACK_OFF });
    this.workers = Array.from(
      { length: SHARDS },
      (_, shard) =>
        new LeasedWorker({
          name: `${NAME}-${shard}`,
          lease: { leases, holder: randomUUID() },
          batch: async (_batch, term) => ((await this.publishShard(shard, term)) < MOST ? PAUSE_MS : 0),
          onError: ({ message: error }) => logger.error({ error, shard }, 'publishing status lists failed'),
        }),
    );
  }

  onApplicationBootstrap(): void {
    this.health.register(NAME, () => {
      const error = this.isBehind ? BEHIND : this.failing.error;
      const shown = error !== undefined && { error };
      return this.workers.map(({ isLeading, health }) => ({ ...(isLeading && shown), ...health }));
    });
    for (const worker of this.workers) worker.start();
  }

  /** A run in progress ends first. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop()));
  }

  /** @returns how many lists were published, have ended, or are tried again later */
  async publishShard(shard: number, term: Pick<Term, 'epoch' | 'isHeld'>): Promise<number> {
    if (!(await this.areCurrent())) return 0;
    const [dirty, due] = await Promise.all([
      this.lists.listDirty(shard, MOST),
      this.published.listDue(shard, this.clock.now(), MOST),
    ]);
    const keys = [...new Map([...dirty, ...due].map((key) => [nameOf(key), key])).values()];
    const outages: unknown[] = [];
    let done = 0;
    while (done < keys.length && term.isHeld && (await this.areCurrent())) {
      const batch = keys.slice(done, done + AT_ONCE);
      const outcomes = await Promise.allSettled(batch.map((key) => this.publish(key, term.epoch)));
      for (const [n, outcome] of outcomes.entries()) {
        const key = batch[n]!;
        const pauseMs = outcome.status === 'rejected' && this.failing.add(nameOf(key), outcome.reason, { ...key });
        if (pauseMs === false) this.failing.remove(nameOf(key), { ...key });
        else if (pauseMs === undefined) outages.push((outcome as PromiseRejectedResult).reason);
        else await this.postpone(key, pauseMs, term.epoch);
      }
      done += batch.length;
    }
    if (outages.length) throw outages[0];
    return done;
  }

  /** Otherwise tokens are left to expire: a new one would hide the revocations that are missing in it. */
  private async areCurrent(): Promise<boolean> {
    const isBehind = !(await this.lists.areCurrent());
    if (isBehind !== this.isBehind) {
      this.isBehind = isBehind;
      if (isBehind) this.logger.warn('status lists are not published while their statuses are behind');
      else this.logger.info('status lists are published again');
    }
    return !isBehind;
  }

  /** In this order: without a row of its token, which is due at once when it is made, the list is published then. */
  private async postpone(key: ListKey, pauseMs: number, epoch: number): Promise<void> {
    await this.published.postpone(key, new Date(this.clock.now().getTime() + pauseMs), epoch);
    await this.lists.markPostponed(key);
  }

  /**
   * @returns whether it was published
   * @throws StaleEpoch when a later holder of the lease has published it
   */
  async publish(key: ListKey, epoch: number): Promise<boolean> {
    const list = await this.lists.find(key);
    const now = this.clock.now();
    if (!list) {
      // Not projected yet, or its tenant was purged.
      await this.postpone(key, PAUSE_MS, epoch);
      return false;
    }
    if (hasEnded(list, now)) return this.retire(list, epoch);
    let token: string;
    try {
      token = await signStatusList(
        {
          ...list,
          aggregationUri: `${new URL(list.uri).origin}/v2/credentials/status-lists/aggregation`,
          timeToLive: TIME_TO_LIVE,
          issuedAt: now,
          expiresAt: new Date(now.getTime() + LIFETIME * 1000),
        },
        await this.loadSigner(list),
      );
    } catch (error) {
      // The DID or the tenant was deleted: no verifier has a key for another token.
      if (!(error instanceof KeyNotFound)) throw error;
      return this.retire(list, epoch);
    }
    const etag = `"${hash('sha256', token, 'base64url')}"`;
    const dueAt = new Date(now.getTime() + (TIME_TO_LIVE / 2) * 1000);
    const isStored = await this.published.store(key, { token, etag, dueAt }, epoch);
    await this.lists.markPublished(list);
    return isStored;
  }

  /** The last token is served until it is replaced after another change, or deleted with the tenant. */
  private async retire(list: StoredList, epoch: number): Promise<false> {
    await this.published.retire(list, epoch);
    await this.lists.markPublished(list);
    return false;
  }

  private loadSigner({ tenantId, signer }: StoredList): Promise<IssuingSigner> {
    return signer.kind === 'pinnedKey'
      ? this.signingKeys.loadSigner(tenantId, signer.keyId)
      : this.issuerSigners.loadSigner(tenantId, signer.issuer, serviceContext(NAME, tenantId));
  }
}

const nameOf = ({ tenantId, listId }: ListKey): string => `${tenantId} ${listId}`;
