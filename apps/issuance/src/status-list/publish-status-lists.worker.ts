import { hash, randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, Leases, Streams, type Clock, type Term } from '@attestry/event-store';
import { KeyNotFound, SigningKeys } from '@attestry/keys';
import { Canonicalization } from '@attestry/linked-data';
import { CLOCK, FailingRows, Health, LOGGER, serviceContext, type Logger } from '@attestry/service-kit';
import { DocumentSigners } from '../document-signers/document-signers.js';
import { IssuerSigners, type IssuingSigner } from '../issuer-certificates/issuer-signers.js';
import {
  DEFAULT_TIMES,
  timesOf,
  type TokenTimes,
} from '../status-list-configurations/status-list-configurations.decisions.js';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';
import { hasEnded } from './list-end.js';
import { revocationListUri } from './list-series.js';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { SHARDS } from './shard-of.js';
import { signRevocationList, signStatusList } from './sign-status-list.js';
import { StatusListsReadModel, type ListKey, type StoredList } from './status-lists.read-model.js';

const NAME = 'issuance.status-list-publisher';
const PAUSE_MS = 1000;
/** Lists of one run; the next runs do the others. */
const MOST = 256;
/** Signed at once: compression and signatures are made on the threads of libuv's pool. */
const AT_ONCE = 8;
/** Until another try where no signer is active. */
const POSTPONED_MS = 60_000;
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
    private readonly streams: Streams,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly signingKeys: SigningKeys,
    private readonly canonicalization: Canonicalization,
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
    const { timeToLive, lifetime } = await this.loadTimes(list);
    let expiresAt = new Date(now.getTime() + lifetime * 1000);
    let token: string;
    let revocationList: string | undefined;
    try {
      const signer = await this.loadSigner(list);
      if (!signer) {
        await this.postpone(key, POSTPONED_MS, epoch);
        return false;
      }
      // The IACA ends with its signers at the earliest.
      const { notAfter = expiresAt } = signer.certificate ?? {};
      if (notAfter < expiresAt) expiresAt = notAfter;
      const unsigned = {
        ...list,
        aggregationUri: `${new URL(list.uri).origin}/v2/credentials/status-lists/aggregation`,
        timeToLive,
        issuedAt: now,
        expiresAt,
      };
      const uri = revocationListUri(list, list.listId);
      [token, revocationList] = await Promise.all([
        signStatusList(unsigned, signer, (documents) => this.canonicalization.hashes(key.tenantId, documents)),
        uri === undefined ? undefined : signRevocationList(unsigned, uri, signer),
      ]);
    } catch (error) {
      // The DID or the tenant was deleted: no verifier has a key for another token.
      if (!(error instanceof KeyNotFound)) throw error;
      return this.retire(list, epoch);
    }
    const dueAt = new Date(now.getTime() + (timeToLive / 2) * 1000);
    const published = {
      ...withEtag(token),
      dueAt,
      expiresAt,
      ...(revocationList !== undefined && { revocationList: withEtag(revocationList) }),
    };
    const isStored = await this.published.store(key, published, epoch);
    await this.lists.markPublished(list);
    return isStored;
  }

  /** The last token is served until it is replaced after another change, or deleted with the tenant. */
  private async retire(list: StoredList, epoch: number): Promise<false> {
    await this.published.retire(list, epoch);
    await this.lists.markPublished(list);
    return false;
  }

  /** Undefined where the owner of the IACA has uploaded no signer that is active. */
  private loadSigner({ tenantId, signer }: StoredList): Promise<IssuingSigner | undefined> {
    const context = serviceContext(NAME, tenantId);
    switch (signer.kind) {
      case 'pinnedKey':
        return this.signingKeys.loadSigner(tenantId, signer.keyId);
      case 'issuerSigner':
        return this.issuerSigners.loadSigner(tenantId, signer.issuer, context);
      case 'statusListSigner':
        return this.documentSigners.loadListSigner(tenantId, signer.iacaId, context);
    }
  }

  private async loadTimes({ tenantId, signer }: StoredList): Promise<TokenTimes> {
    if (signer.kind !== 'statusListSigner') return DEFAULT_TIMES;
    const { state } = await this.streams.load(statusListConfigurations, statusListConfigurationsStream(tenantId));
    return timesOf(state, signer.docType);
  }
}

const withEtag = (token: string) => ({ token, etag: `"${hash('sha256', token, 'base64url')}"` });

const nameOf = ({ tenantId, listId }: ListKey): string => `${tenantId} ${listId}`;
