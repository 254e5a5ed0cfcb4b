import { hash, randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, Leases, Streams, untilTick, type Clock, type Term } from '@attestry/event-store';
import { KeyNotFound, SigningKeys } from '@attestry/keys';
import { Canonicalization } from '@attestry/linked-data';
import { CLOCK, FailingRows, Health, LOGGER, UnchangedRows, serviceContext, type Logger } from '@attestry/service-kit';
import { DocumentSigners, IacaEnded } from '../../certificates/document-signers/document-signers.js';
import { IssuerSigners, type IssuingSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
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
import { ProofMethods } from '../../settings/proof-methods/proof-methods.js';
import { revocationListUri, type ListSigner } from './list-series.js';
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
    private readonly streams: Streams,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly signingKeys: SigningKeys,
    private readonly canonicalization: Canonicalization,
    private readonly proofMethods: ProofMethods,
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
          name: `${NAME}-${shard}`,
          lease: { leases, holder: randomUUID() },
          batch: (_batch, term) => this.runShard(shard, term, unchanged[shard]!),
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
    const now = this.clock.now();
    if (hasEnded(list, now)) return this.retire(list, revision);
    const times = await this.loadTimes(list);
    let { timeToLive } = times;
    let expiresAt = new Date(now.getTime() + times.lifetime * 1000);
    let token: string;
    let revocationList: string | undefined;
    try {
      const signer = await this.loadSigner(list);
      if (!signer) return this.postpone(list, UNSIGNED_MS);
      // The IACA ends with its signers at the earliest.
      const { notAfter = expiresAt } = signer.certificate ?? {};
      if (notAfter < expiresAt) expiresAt = notAfter;
      // Another one must follow before it ends, by another signer if there is one then.
      timeToLive = Math.max(1, Math.min(timeToLive, Math.floor((expiresAt.getTime() - now.getTime()) / 1000)));
      const unsigned = {
        ...list,
        signer: await this.namedSigner(list),
        aggregationUri: `${new URL(list.uri).origin}/v2/credentials/status-lists/aggregation`,
        timeToLive,
        issuedAt: now,
        expiresAt,
      };
      const uri = revocationListUri(list, list.listId);
      [token, revocationList] = await Promise.all([
        signStatusList(unsigned, signer, (documents) => this.canonicalization.hashes(list.tenantId, documents)),
        uri === undefined ? undefined : signRevocationList(unsigned, uri, signer),
      ]);
    } catch (error) {
      if (error instanceof IacaEnded) return this.retire(list, revision);
      if (!(error instanceof KeyNotFound)) throw error;
      // The DID or the tenant was deleted, or another signer follows.
      return this.postpone(list, WITHOUT_KEY_MS);
    }
    const published = {
      ...withEtag(token),
      // The first credential makes the list dirty.
      ...(!list.isUnused && { dueAt: new Date(now.getTime() + (timeToLive / 2) * 1000) }),
      expiresAt,
      ...(revocationList !== undefined && { revocationList: withEtag(revocationList) }),
    };
    await this.published.store(list, published, revision);
    await this.lists.markPublished(list);
  }

  /** The last token is served until it is replaced after another change, or deleted with the tenant. */
  private async retire(list: StoredList, revision: number): Promise<void> {
    await this.published.retire(list, revision);
    await this.lists.markPublished(list);
  }

  /** Name of the key for credentials with Data Integrity proofs; the series has the name of the configuration. */
  private async namedSigner({ tenantId, tokenType, signer }: StoredList): Promise<ListSigner> {
    if (tokenType !== 'bitstring' || signer.kind !== 'pinnedKey') return signer;
    return { ...signer, verificationMethod: await this.proofMethods.find(tenantId, signer.verificationMethod) };
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
