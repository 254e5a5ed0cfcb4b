import type { Kysely } from 'kysely';
import { LeasedWorker, untilTick } from '@attestry/event-store';
import type {
  BackOff,
  BatchSource,
  EventLog,
  Leases,
  Position,
  StaleEpoch,
  Term,
  UnknownEventType,
} from '@attestry/event-store';
import { ProjectionFeed, covers } from './projection-feed.js';
import type { Generation, ProjectionRegistry, RegistryTables } from './projection-registry.js';
import type { Projection, ProjectionHealth, RunningProjection } from './read-model.js';
import { TableNames, tableSuffix } from './table-names.js';

export interface ProjectionRunnerOptions {
  db: Kysely<RegistryTables>;
  registry: ProjectionRegistry;
  eventStore: EventLog;
  leases: Leases;
  /** Name of this process as a lease holder; unique per process. */
  holder: string;
  /** How long a lease outlives its holder. Default 6,000 ms. */
  leaseTtlMs?: number;
  /** Most events in a batch, up to 1024, which is the default. */
  batchSize?: number;
  backOff?: BackOff;
  /** Pause between two batches that were not full, while no caller waits. Default 100 ms. */
  restMs?: number;
  /** How long a caller waits for its own write to be projected (ADR 0057). Default 250 ms. */
  ownWriteMs?: number;
  /** How long retired tables are kept for readers that have not switched. Default 15,000 ms. */
  dropRetiredAfterMs?: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** 0 to 1, for the back-off. */
  random?: () => number;
  /** Called with every failure; the runner continues. */
  onFailure?: (projection: string, error: Error) => void;
}

/** Fewer, larger batches; a caller that waits for a position cuts it short. */
const REST_MS = 100;
/** How often a projection that another process holds is polled while a caller waits for a position. */
const STANDBY_POLL_MS = 25;
/** A batch costs the same for few events as for many: a rebuild uses large batches. */
const MOST_EVENTS = 1024;
/** How often the holder looks for tables to fill and to drop, milliseconds. */
const UPKEEP_MS = 7200;

/** One projection of this process: obtains the lease, feeds the tables, follows which tables are read. Independent of the dialect. */
export class ProjectionRunner<Tables> implements RunningProjection<Tables> {
  readonly db: Kysely<Tables>;
  private readonly names: TableNames;
  private readonly worker: LeasedWorker<true>;
  private readonly feeds = new Map<number, ProjectionFeed<Tables>>();
  private readonly changed = new Set<() => void>();
  private initialHead: Position | undefined;
  private active: Generation | undefined;
  private position: Position | undefined;
  private caughtUp = false;
  /** Known to be more than a batch behind: then callers do not wait for their own writes (ADR 0057). */
  private behind = false;
  private leading = false;
  /** Why a feed ended before its term. */
  private ended: StaleEpoch | UnknownEventType | undefined;

  constructor(
    private readonly projection: Projection<Tables>,
    private readonly o: ProjectionRunnerOptions,
  ) {
    this.names = new TableNames(projection.tables, '');
    this.db = o.db.withPlugin(this.names) as unknown as Kysely<Tables>;
    this.worker = new LeasedWorker<true>({
      name: projection.name,
      lease: { leases: o.leases, holder: o.holder, leaseMs: o.leaseTtlMs },
      backOff: o.backOff,
      random: o.random,
      openSource: (term) => this.lead(term),
      batch: (_, term) => this.upkeep(term),
      standBy: () => this.standBy(),
      onError: (error) => {
        this.report(error);
        this.notify();
      },
    });
  }

  /** Resolves when tables can be read. */
  async start(): Promise<void> {
    this.initialHead = await this.o.eventStore.head();
    const active = await this.o.registry.openGeneration(this.projection);
    this.adopt(active);
    this.caughtUp =
      active.version === this.projection.version &&
      (await covers(this.o.eventStore, this.position, this.initialHead, this.projection.categories));
    this.worker.start();
  }

  get readsOwnVersion(): boolean {
    return this.active?.version === this.projection.version;
  }

  get health(): ProjectionHealth {
    const faulty = [...this.feeds.values()].find(({ health }) => !health.healthy)?.health;
    const { healthy, error } = (this.worker.health.healthy && faulty) || this.worker.health;
    return {
      name: this.projection.name,
      healthy,
      ...(error === undefined ? {} : { error }),
      ...(this.position === undefined ? {} : { position: this.position }),
      caughtUp: this.caughtUp,
    };
  }

  async progress(): Promise<Position | undefined> {
    if (!this.leading) await this.followHolder(this.o.registry.recentlyCurrent(this.projection.name));
    return this.position;
  }

  async waitFor(position: Position | undefined, timeoutMs: number): Promise<boolean> {
    if (position === undefined) return true;
    const reached = () =>
      this.position !== undefined && this.o.eventStore.comparePositions(this.position, position) >= 0;
    for (const deadline = performance.now() + timeoutMs; !reached();) {
      const left = deadline - performance.now();
      if (left <= 0 || this.worker.isStopped || (this.leading && (this.behind || !this.health.healthy))) return false;
      await this.nextChange(left);
    }
    return true;
  }

  async waitForHead(timeoutMs: number): Promise<boolean> {
    const head = await this.o.eventStore.head();
    const deadline = performance.now() + timeoutMs;
    const { eventStore } = this.o;
    // A holder reads its own version in the end. A standby accepts what the holder's release reads, or it would never be ready while the
    // previous release is still running.
    // By their own checkpoint: tables whose database crashed may have lost writes.
    const settled = async () => {
      if (this.leading && !this.readsOwnVersion) return false;
      const stored = await this.o.registry.current(this.projection.name);
      return (
        stored !== undefined &&
        this.isActive(stored) &&
        (await covers(eventStore, stored.position, head, this.projection.categories))
      );
    };
    while (!(await settled())) {
      const left = deadline - performance.now();
      if (left <= 0 || this.worker.isStopped) return false;
      await this.nextChange(Math.min(left, STANDBY_POLL_MS));
    }
    return true;
  }

  ownWrite(position: Position | undefined): Promise<boolean> {
    return this.waitFor(position, this.ownWriteMs);
  }

  ownWrites(): Promise<boolean> {
    return this.waitForHead(this.ownWriteMs);
  }

  async rebuild(): Promise<void> {
    const wanted = await this.o.registry.requestRebuild(this.projection);
    this.worker.wake();
    const switched = () =>
      this.active?.version === wanted.version && this.active.generation >= wanted.generation && !this.worker.isStopped;
    while (!switched()) {
      if (this.worker.isStopped) throw new Error(`projection ${this.projection.name} was stopped while it was rebuilt`);
      await this.nextChange(1000);
    }
  }

  async stop(): Promise<void> {
    this.worker.requestStop();
    this.notify();
    await this.worker.stop();
  }

  /**
   * Ready to take over, whatever the holder does: it may be of another release and wait for this one, which the upgrade waits to be ready before
   * it ends the holder (ADR 0125).
   */
  private async standBy(): Promise<void> {
    await this.progress();
    this.caughtUp = true;
  }

  private async lead({ epoch }: Term): Promise<BatchSource<true>> {
    this.ended = undefined;
    await this.o.registry.takeOver(this.projection, epoch);
    this.behind = false;
    this.leading = true;
    return { next: async () => true, close: () => this.stopFeeds() };
  }

  private async upkeep(term: Term): Promise<number> {
    if (this.ended) throw this.ended;
    await this.startFeeds(term);
    await this.o.registry.dropRetired(this.projection.name, this.now() - (this.o.dropRetiredAfterMs ?? 15_000));
    return untilTick(Math.min(UPKEEP_MS, (this.o.leaseTtlMs ?? Infinity) / 3));
  }

  private async startFeeds(term: Term): Promise<void> {
    for (const generation of await this.o.registry.fed(this.projection)) {
      if (this.feeds.has(generation.generation)) continue;
      const feed = new ProjectionFeed<Tables>(generation, {
        db: this.o.db,
        registry: this.o.registry,
        eventStore: this.o.eventStore,
        projection: this.projection,
        term,
        batchSize: Math.min(this.o.batchSize ?? MOST_EVENTS, MOST_EVENTS),
        backOff: this.o.backOff,
        random: this.o.random,
        restMs: () => (this.changed.size || this.worker.isStopped ? 0 : (this.o.restMs ?? REST_MS)),
        onStart: (started) => {
          if (this.isActive(started.generation)) this.position = started.position;
        },
        onProgress: (progressed, full) => this.progressed(progressed, full, term.epoch),
        onFailure: (_failed, error) => {
          this.report(error);
          this.notify();
        },
        onEnd: (ended, error) => {
          if (this.feeds.get(generation.generation) !== ended) return;
          if (!error) return this.release(ended);
          this.ended = error;
          this.worker.wake();
        },
      });
      this.feeds.set(generation.generation, feed);
      feed.start();
    }
  }

  private async stopFeeds(): Promise<void> {
    const feeds = [...this.feeds.values()];
    await Promise.all(feeds.map((feed) => feed.close()));
    this.feeds.clear();
    // Events before an unknown one are projected but were not reported.
    const read = feeds.find((feed) => this.isActive(feed.generation));
    if (read) this.position = read.position;
    this.leading = false;
    this.notify();
  }

  private release(feed: ProjectionFeed<Tables>): void {
    this.feeds.delete(feed.generation.generation);
    this.notify();
  }

  private async progressed(feed: ProjectionFeed<Tables>, full: boolean, epoch: number): Promise<void> {
    this.worker.recordSuccess();
    if (!this.isActive(feed.generation)) {
      if (!(await feed.covers(feed.target))) return;
      const switched = await this.o.registry.switchTo(feed.generation, epoch, this.now(), (p) => feed.covers(p));
      if (!switched) return;
      const { generation } = feed.generation;
      const others = [...this.feeds.values()].filter((other) => other.generation.generation !== generation);
      this.adopt(feed.generation);
      // Not awaited inside our own batch: theirs may wait for the same connection.
      for (const other of others) {
        other.close().then(
          () => this.release(other),
          (error: unknown) => this.report(error),
        );
      }
    }
    this.position = feed.position;
    if (!this.caughtUp) this.caughtUp = await feed.covers(this.initialHead);
    this.behind = full && !(await feed.covers(await this.o.eventStore.head()));
    this.notify();
  }

  private isActive(g: Generation): boolean {
    return this.active?.version === g.version && this.active.generation === g.generation;
  }

  private adopt(g: Generation): void {
    if (!this.isActive(g)) this.names.use(tableSuffix(g.version, g.generation));
    this.active = g;
    this.position = g.position;
  }

  /** Changes by another holder. */
  private async followHolder(stored = this.o.registry.current(this.projection.name)): Promise<void> {
    const active = await stored;
    if (!active || this.leading) return;
    this.adopt(active);
    this.notify();
  }

  /** The next change of ours within `ms`; without the lease a look at the checkpoint. */
  private async nextChange(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.changed.delete(done);
        resolve();
      };
      const timer = setTimeout(done, this.leading ? ms : Math.min(ms, STANDBY_POLL_MS));
      this.changed.add(done);
      for (const feed of this.feeds.values()) feed.wake();
    });
    if (!this.leading && !this.worker.isStopped) await this.followHolder();
  }

  private notify(): void {
    for (const done of [...this.changed]) done();
  }

  private report(error: unknown): void {
    this.o.onFailure?.(this.projection.name, error instanceof Error ? error : new Error(String(error)));
  }

  private get ownWriteMs(): number {
    return this.o.ownWriteMs ?? 250;
  }

  private now(): number {
    return (this.o.now ?? Date.now)();
  }
}
