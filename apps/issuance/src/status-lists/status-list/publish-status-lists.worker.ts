import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, Leases, untilTick, type Clock, type Term } from '@attestry/event-store';
import { CLOCK, FailingRows, Health, LOGGER, UnchangedRows, type Logger } from '@attestry/service-kit';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { SHARDS } from './shard-of.js';
import { PUBLISHER, SignedLists } from './signed-lists.js';
import { StatusListsReadModel, type ListKey, type StoredList } from './status-lists.read-model.js';

const PAUSE_MS = 1000;
/** Lists of one run; the next runs do the others. */
const MOST = 256;
/** Signed at once: compression and signatures are made on the threads of libuv's pool. */
const AT_ONCE = 8;
/** Until another try where no signer is active. */
const UNSIGNED_MS = 60_000;
/** Until another try where the key does not exist. */
const WITHOUT_KEY_MS = 3_600_000;
/** Between two attempts at a list that cannot be signed, but did not change. */
const BACK_OFF = { firstMs: PAUSE_MS, maxMs: 60_000 };
/** In readiness. */
const BEHIND = 'the statuses are behind: tokens are not signed until they contain the changes of a minute ago';

/**
 * Signs the tokens of lists whose statuses changed, and replaces others at half of their time to live. Each shard of the lists is published
 * by the holder of its lease; the revision of the token's row orders the writes (ADR 0077).
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
    private readonly signed: SignedLists,
    private readonly health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const [failure, recovery] = ['status list not published', 'status list no longer fails'];
    this.failing = new FailingRows({ logger, failure, recovery, backOff: BACK_OFF });
    const unchanged = Array.from({ length: SHARDS }, () => new UnchangedRows([lists, published]));
    this.workers = Array.from(
      { length: SHARDS },
      (_, shard) =>
        new LeasedWorker({
          name: `${PUBLISHER}-${shard}`,
          lease: { leases, holder: randomUUID() },
          batch: (_batch, term) => this.runShard(shard, term, unchanged[shard]!),
          onError: ({ message: error }) => logger.error({ error, shard }, 'publishing status lists failed'),
        }),
    );
  }

  onApplicationBootstrap(): void {
    this.health.register(PUBLISHER, () => {
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

  /** @returns milliseconds until the next run */
  private async runShard(shard: number, term: Pick<Term, 'isHeld'>, rows: UnchangedRows): Promise<number> {
    const now = this.clock.now();
    if (!(await this.areCurrent())) return PAUSE_MS;
    let done = 0;
    await rows.queryOnceChanged(now, async () => {
      done = await this.publishShard(shard, term);
      return done === 0 ? ((await this.published.nextDue(shard, now)) ?? Infinity) : undefined;
    });
    if (done === MOST) return 0;
    // All shards at the same moments: what they ask about the projections is one statement.
    return untilTick(PAUSE_MS);
  }

  /** @returns how many lists were published, have ended, or are tried again later */
  async publishShard(shard: number, term: Pick<Term, 'isHeld'>): Promise<number> {
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
      const outcomes = await Promise.allSettled(batch.map((key) => this.publish(key)));
      for (const outcome of outcomes) if (outcome.status === 'rejected') outages.push(outcome.reason);
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

  /**
   * Signs and stores a token, or sets the time of the next attempt.
   * @throws StaleEpoch when another process has published the list in the meantime; the failures of engines
   */
  async publish(key: ListKey): Promise<void> {
    // Before the statuses.
    const revision = await this.published.findRevision(key);
    const list = revision === undefined ? undefined : await this.lists.find(key);
    // Not projected yet, or its tenant was purged: the row of its token is due at once when it is made.
    if (revision === undefined || !list) return this.published.postpone(key, this.after(PAUSE_MS));
    try {
      await this.sign(list, revision);
      this.failing.remove(nameOf(key), { ...key });
    } catch (error) {
      const pauseMs = this.failing.add(nameOf(key), error, { ...key });
      if (pauseMs === undefined) throw error;
      await this.postpone(list, pauseMs);
    }
  }

  private after(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  /** Changes since the list was read leave it dirty. */
  private async postpone(list: StoredList, pauseMs: number): Promise<void> {
    await this.published.postpone(list, this.after(pauseMs));
    await this.lists.markPublished(list);
  }

  private async sign(list: StoredList, revision: number): Promise<void> {
    const signed = await this.signed.sign(list);
    switch (signed) {
      case 'ended':
        return this.retire(list, revision);
      case 'withoutSigner':
        return this.postpone(list, UNSIGNED_MS);
      case 'withoutKey':
        return this.postpone(list, WITHOUT_KEY_MS);
    }
    await this.published.store(list, signed, revision);
    await this.lists.markPublished(list);
  }

  /** The last token is served until it is replaced after another change, or deleted with the tenant. */
  private async retire(list: StoredList, revision: number): Promise<void> {
    await this.published.retire(list, revision);
    await this.lists.markPublished(list);
  }
}

const nameOf = ({ tenantId, listId }: ListKey): string => `${tenantId} ${listId}`;
