import type { Kysely } from 'kysely';
import { UnknownEventType } from '@attestry/event-store';
import type { EventStore, Lease, Leases, Position } from '@attestry/event-store';
import { Pause } from './pause.js';
import { ProjectionFeed, covers } from './projection-feed.js';
import { Fenced } from './projection-registry.js';
import type { Generation, ProjectionRegistry, RegistryTables } from './projection-registry.js';
import type { Projection, ProjectionHealth, RunningProjection } from './read-model.js';
import { TableNames, tableSuffix } from './table-names.js';

export interface ProjectionRunnerOptions {
  db: Kysely<RegistryTables>;
  registry: ProjectionRegistry;
  eventStore: EventStore;
  leases: Leases;
  /** Names this process towards the leases; unique per process. */
  holder: string;
  /** How long a lease outlives its holder. Default 6,000 ms; renewed three times within it, looked for six times. */
  leaseTtlMs?: number;
  /** Most events in a batch, up to 1024, which is the default. */
  batchSize?: number;
  /** Pause after a failure, doubling with jitter. Default 100 to 5,000 ms. */
  backoff?: { firstMs: number; maxMs: number };
  /** Pause before an unknown event type is tried again. Default 30,000 ms. */
  unknownTypeRetryMs?: number;
  /** Rest between two batches that were not full, while nobody waits. Default 100 ms. */
  restMs?: number;
  /** How long a caller waits for its own write to be projected (ADR 0057). Default 250 ms. */
  ownWriteMs?: number;
  /** How long tables that were switched away from are kept for readers that have not noticed. Default 15,000 ms. */
  dropRetiredAfterMs?: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** 0 to 1, for jitter. */
  random?: () => number;
  /** Told of every failure; the runner goes on. */
  onFailure?: (projection: string, error: Error) => void;
}

/** Fewer, larger batches; who waits for a position does not wait for this. */
const REST_MS = 100;
/** How often a projection that somebody else holds is looked at while a caller waits for a position. */
const STANDBY_LOOK_MS = 25;
/** A batch costs the same for few events as for many: a rebuild takes large steps. */
const MOST_EVENTS = 1024;

/** One projection of this process: takes the lease, feeds the tables, follows which tables are read. Knows no dialect. */
export class ProjectionRunner<Tables> implements RunningProjection<Tables> {
  readonly db: Kysely<Tables>;
  private readonly names: TableNames;
  private readonly pause = new Pause();
  private readonly rest = new Pause(false);
  /** Feeds pause on their own, or one that backs off would be woken by renewals. */
  private readonly feeds = new Map<number, { feed: ProjectionFeed<Tables>; pause: Pause }>();
  private readonly changed = new Set<() => void>();
  private initialHead: Position | undefined;
  private active: Generation | undefined;
  private position: Position | undefined;
  private error: string | undefined;
  /** The unknown event type for which a newer release is awaited; not a fault (ADR 0057). */
  private awaited: string | undefined;
  private caughtUp = false;
  /** Known to be more than a batch behind: then callers do not wait for their own writes (ADR 0057). */
  private behind = false;
  private leading = false;
  private ended: { error?: Fenced | UnknownEventType } | undefined;
  private stopped = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly projection: Projection<Tables>,
    private readonly o: ProjectionRunnerOptions,
  ) {
    this.names = new TableNames(projection.tables, '');
    this.db = o.db.withPlugin(this.names) as unknown as Kysely<Tables>;
  }

  /** Resolves when there are tables to read. */
  async start(): Promise<void> {
    this.initialHead = await this.o.eventStore.head();
    const active = await this.o.registry.open(this.projection);
    this.adopt(active);
    this.caughtUp =
      active.version === this.projection.version &&
      (await covers(this.o.eventStore, this.position, this.initialHead, this.projection.categories));
    this.running = this.run();
  }

  get health(): ProjectionHealth {
    const fault = this.error ?? [...this.feeds.values()].find(({ feed }) => feed.error)?.feed.error;
    const error = fault ?? this.awaited;
    return {
      name: this.projection.name,
      healthy: fault === undefined,
      ...(error === undefined ? {} : { error }),
      ...(this.position === undefined ? {} : { position: this.position }),
      caughtUp: this.caughtUp,
    };
  }

  async waitFor(position: Position | undefined, timeoutMs: number): Promise<boolean> {
    if (position === undefined) return true;
    const reached = () =>
      this.position !== undefined && this.o.eventStore.comparePositions(this.position, position) >= 0;
    for (const deadline = performance.now() + timeoutMs; !reached();) {
      const left = deadline - performance.now();
      if (left <= 0 || this.stopped || (this.leading && (this.behind || !this.health.healthy))) return false;
      await this.nextChange(left);
    }
    return true;
  }

  async waitForHead(timeoutMs: number): Promise<boolean> {
    const head = await this.o.eventStore.head();
    const deadline = performance.now() + timeoutMs;
    const { eventStore } = this.o;
    // A holder reads its own version in the end. One that stands by is content with what the holder's release reads,
    // or it would never be ready while the release before is still running.
    // As their own checkpoint tells: tables whose database crashed may be behind what was written into them.
    const settled = async () => {
      if (this.leading && this.active?.version !== this.projection.version) return false;
      const stored = await this.o.registry.current(this.projection.name);
      return (
        stored !== undefined &&
        this.isActive(stored) &&
        (await covers(eventStore, stored.position, head, this.projection.categories))
      );
    };
    while (!(await settled())) {
      const left = deadline - performance.now();
      if (left <= 0 || this.stopped) return false;
      await this.nextChange(Math.min(left, STANDBY_LOOK_MS));
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
    this.pause.wake();
    const switched = () =>
      this.active?.version === wanted.version && this.active.generation >= wanted.generation && !this.stopped;
    while (!switched()) {
      if (this.stopped) throw new Error(`projection ${this.projection.name} was stopped while it was rebuilt`);
      await this.nextChange(1000);
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.pause.wake();
    this.notify();
    await this.running;
  }

  private async run(): Promise<void> {
    for (let failures = 0; !this.stopped;) {
      let wait = this.ttlMs / 6;
      try {
        const lease = await this.o.leases.acquire(this.projection.name, this.o.holder, this.ttlMs);
        if (lease) {
          await this.lead(lease);
          failures = 0;
        } else {
          await this.look();
          this.error = this.awaited = undefined;
        }
      } catch (error) {
        this.fail(error);
        failures += 1;
        wait = error instanceof UnknownEventType ? (this.o.unknownTypeRetryMs ?? 30_000) : this.backoff(failures);
      }
      if (!this.stopped) await this.pause.for(wait);
    }
  }

  /** Holds the lease until it is lost, given back or the runner is stopped. */
  private async lead(first: Lease): Promise<void> {
    let lease = first;
    this.ended = undefined;
    try {
      await this.o.registry.takeOver(this.projection, lease.epoch);
      this.behind = false;
      this.leading = true;
      while (!this.stopped && !this.hasEnded()) {
        await this.startFeeds(lease.epoch);
        await this.o.registry.dropRetired(this.projection.name, this.now() - (this.o.dropRetiredAfterMs ?? 15_000));
        await this.pause.for(this.renewMs);
        if (this.stopped || this.hasEnded()) break;
        const renewed = await this.o.leases.renew(lease, this.ttlMs);
        if (!renewed || renewed.epoch !== lease.epoch) break;
        lease = renewed;
      }
    } finally {
      await this.stopFeeds();
      this.leading = false;
      this.notify();
      await this.giveBack(lease);
    }
    const error = this.hasEnded()?.error;
    if (error instanceof UnknownEventType) throw error;
  }

  /** Read through a method, for it is set by the feeds while {@link lead} waits. */
  private hasEnded(): { error?: Fenced | UnknownEventType } | undefined {
    return this.ended;
  }

  private async giveBack(lease: Lease): Promise<void> {
    try {
      await this.o.leases.release(lease);
    } catch (error) {
      // It runs out by itself.
      this.report(error);
    }
  }

  private async startFeeds(epoch: number): Promise<void> {
    for (const generation of await this.o.registry.fed(this.projection)) {
      if (this.feeds.has(generation.generation)) continue;
      const pause = new Pause();
      const feed = new ProjectionFeed<Tables>(generation, {
        db: this.o.db,
        registry: this.o.registry,
        eventStore: this.o.eventStore,
        projection: this.projection,
        epoch,
        batchSize: Math.min(this.o.batchSize ?? MOST_EVENTS, MOST_EVENTS),
        backoff: (failures) => this.backoff(failures),
        pause,
        rest: this.rest,
        restMs: () => (this.changed.size || this.stopped ? 0 : (this.o.restMs ?? REST_MS)),
        onStart: (started) => {
          if (this.isActive(started.generation)) this.position = started.position;
        },
        onProgress: (progressed, full) => this.progressed(progressed, full, epoch),
        onFailure: (_failed, error) => {
          this.report(error);
          this.notify();
        },
        onEnd: (ended, error) => {
          if (!error) return this.forget(ended);
          this.ended = { error };
          this.pause.wake();
        },
      });
      this.feeds.set(generation.generation, { feed, pause });
      feed.start();
    }
  }

  private async stopFeeds(): Promise<void> {
    const feeds = [...this.feeds.values()].map(({ feed }) => feed);
    await Promise.all(feeds.map((feed) => feed.close()));
    this.feeds.clear();
    // What came before an unknown event is projected but was not told.
    const read = feeds.find((feed) => this.isActive(feed.generation));
    if (read) this.position = read.position;
  }

  private forget(feed: ProjectionFeed<Tables>): void {
    this.feeds.delete(feed.generation.generation);
    this.notify();
  }

  private async progressed(feed: ProjectionFeed<Tables>, full: boolean, epoch: number): Promise<void> {
    this.error = this.awaited = undefined;
    if (!this.isActive(feed.generation)) {
      if (!(await feed.covers(feed.target))) return;
      const switched = await this.o.registry.switchTo(feed.generation, epoch, this.now(), (p) => feed.covers(p));
      if (!switched) return;
      const { generation } = feed.generation;
      const others = [...this.feeds.values()].filter((other) => other.feed.generation.generation !== generation);
      this.adopt(feed.generation);
      // Not awaited inside our own batch: theirs may be waiting for the same connection.
      for (const { feed: other } of others) {
        other.close().then(
          () => this.forget(other),
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

  /** What another holder has done meanwhile. */
  private async look(): Promise<void> {
    const active = await this.o.registry.current(this.projection.name);
    if (!active || this.leading) return;
    this.adopt(active);
    this.caughtUp ||= await covers(this.o.eventStore, this.position, this.initialHead, this.projection.categories);
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
      const timer = setTimeout(done, this.leading ? ms : Math.min(ms, STANDBY_LOOK_MS));
      this.changed.add(done);
      this.rest.wake();
    });
    if (!this.leading && !this.stopped) await this.look();
  }

  private notify(): void {
    for (const done of [...this.changed]) done();
  }

  private fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof UnknownEventType) this.awaited = message;
    else this.error = message;
    this.report(error);
    this.notify();
  }

  private report(error: unknown): void {
    this.o.onFailure?.(this.projection.name, error instanceof Error ? error : new Error(String(error)));
  }

  private backoff(failures: number): number {
    const { firstMs, maxMs } = this.o.backoff ?? { firstMs: 100, maxMs: 5000 };
    const full = Math.min(maxMs, firstMs * 2 ** (failures - 1));
    return full * (0.5 + (this.o.random ?? Math.random)() / 2);
  }

  private get ttlMs(): number {
    return this.o.leaseTtlMs ?? 6000;
  }

  private get ownWriteMs(): number {
    return this.o.ownWriteMs ?? 250;
  }

  private get renewMs(): number {
    return this.ttlMs / 3;
  }

  private now(): number {
    return (this.o.now ?? Date.now)();
  }
}
