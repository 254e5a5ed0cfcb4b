import { hash, randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, Leases, Streams, type Clock, type Term } from '@attestry/event-store';
import { KeyNotFound, SigningKeys } from '@attestry/keys';
import { CLOCK, Health, LOGGER, serviceContext, type Logger } from '@attestry/service-kit';
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
/** Until another try where no signer is active. */
const POSTPONED_MS = 60_000;

/**
 * Signs the tokens of lists whose statuses changed, and replaces others at half of their time to live. Each shard of the lists is published
 * by the holder of its lease, whose epoch fences the writes.
 */
@Injectable()
export class PublishStatusLists implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly workers: LeasedWorker[];

  constructor(
    leases: Leases,
    private readonly lists: StatusListsReadModel,
    private readonly published: PublishedListsReadModel,
    private readonly streams: Streams,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly signingKeys: SigningKeys,
    private readonly health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
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
    this.health.register(NAME, () => this.workers.map(({ health }) => health));
    for (const worker of this.workers) worker.start();
  }

  /** A run in progress ends first. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop()));
  }

  /** @returns how many lists were published */
  async publishShard(shard: number, term: Pick<Term, 'epoch' | 'isHeld'>): Promise<number> {
    const [dirty, due] = await Promise.all([
      this.lists.listDirty(shard, MOST),
      this.published.listDue(shard, this.clock.now(), MOST),
    ]);
    const keys = [...new Map([...dirty, ...due].map((key) => [`${key.tenantId} ${key.listId}`, key])).values()];
    const failures: unknown[] = [];
    let published = 0;
    for (let at = 0; at < keys.length && term.isHeld; at += AT_ONCE) {
      const outcomes = await Promise.allSettled(
        keys.slice(at, at + AT_ONCE).map((key) => this.publish(key, term.epoch)),
      );
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') failures.push(outcome.reason);
        else if (outcome.value) published += 1;
    }
    // One list that cannot be published holds up no other.
    if (failures.length) throw failures[0];
    return published;
  }

  /**
   * @returns whether it was published
   * @throws StaleEpoch when a later holder of the lease has published it
   */
  async publish(key: ListKey, epoch: number): Promise<boolean> {
    const list = await this.lists.find(key);
    if (!list) return false;
    const now = this.clock.now();
    const { timeToLive, lifetime } = await this.loadTimes(list);
    let expiresAt = new Date(now.getTime() + lifetime * 1000);
    let token: string;
    try {
      const signer = await this.loadSigner(list);
      if (!signer) {
        if (await this.published.postpone(key, new Date(now.getTime() + POSTPONED_MS), epoch))
          await this.lists.markPublished(list);
        return false;
      }
      // The IACA ends with its signers at the earliest.
      const { notAfter = expiresAt } = signer.certificate ?? {};
      if (notAfter < expiresAt) expiresAt = notAfter;
      token = await signStatusList(
        {
          ...list,
          aggregationUri: `${new URL(list.uri).origin}/v2/credentials/status-lists/aggregation`,
          timeToLive,
          issuedAt: now,
          expiresAt,
        },
        signer,
      );
    } catch (error) {
      // The DID or the tenant was deleted: no verifier has a key for another token.
      if (!(error instanceof KeyNotFound)) throw error;
      if (await this.published.retire(key, epoch)) await this.lists.markPublished(list);
      return false;
    }
    const etag = `"${hash('sha256', token, 'base64url')}"`;
    const dueAt = new Date(now.getTime() + (timeToLive / 2) * 1000);
    const isStored = await this.published.store(key, { token, etag, dueAt, expiresAt }, epoch);
    if (isStored) await this.lists.markPublished(list);
    return isStored;
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
