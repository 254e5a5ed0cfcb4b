import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { busRights, type BusParticipant } from '@attestry/contracts';
import {
  EmbeddedEventStore,
  EVENT_PRAGMAS,
  JoinedEventLog,
  openEventStoreDb,
  openPostgresCoordination,
  openPostgresEvents,
  randomIds,
  Streams,
  systemClock,
  type Clock,
  type EventLog,
  type EventStore,
  type Ids,
  type Leases,
  type ListedCheckpoints,
  type Snapshots,
} from '@attestry/event-store';
import {
  EmbeddedKeyVault,
  EmbeddedReplayGuard,
  EmbeddedSignInStore,
  EvictingReplayStore,
  KEY_PRAGMAS,
  openPostgresKeyVault,
  openRedisReplayGuard,
  type KeyVault,
  type MasterKeysGiven,
  type SignInStore,
} from '@attestry/keys';
import { InProcessBus, openNatsBus, RestrictedBus, type MessageBus, type NatsOptions } from '@attestry/messaging';
import { EmbeddedReadModels, openPostgresReadModels, type ReadModels } from '@attestry/read-model';
import { lockDataFolder, SqliteThread } from '@attestry/sqlite';
import { ConfigError, type PlatformConfig } from '../config/config.js';
import { Health } from '../process/health.js';
import { LocalOperations } from '../operations/local-operations.js';
import { createLogger, type Logger } from '../process/logger.js';
import { Metrics } from '../metrics/metrics.js';
import { OperationRecorders } from '../operations/operation-recorder.js';
import { ObservedBus } from '../observed/observed-bus.js';
import { ObservedEventStore } from '../observed/observed-event-store.js';
import { ObservedLeases } from '../observed/observed-leases.js';
import { ObservedReadModels } from '../observed/observed-read-models.js';
import { openTracing } from '../tracing/load-tracing.js';
import type { Tracing } from '../tracing/tracing.js';
import { WrittenBytes } from '../written-bytes/written-bytes.js';
import { databases } from './databases.js';
import { AuthenticSnapshots } from './authentic-snapshots.js';
import type { EngineNeed, Engines, ProcessEngines, StateEngines } from './engines.js';
import { consumerOwners } from './consumer-owners.js';
import { evictDestroyedKeys } from './key-evictions.js';
import { MASTER_KEY_FILE } from './master-key-file.js';
import { MemoryRateCounter, type RateCounter } from './rate-counter.js';
import { EngineInspector, evictionRefusal, refusalText, type BusUser } from './inspect-engines.js';
import { natsOptions } from './nats-options.js';
import { refuseOlderEvents } from './refuse-older-events.js';
import { claimDatabase } from './sole-process.js';
import { STATE_VERSIONS } from './state-versions.generated.js';

export interface EnginesOptions {
  clock?: Clock;
  ids?: Ids;
  logger?: Logger;
  /** Participants of the process on the bus; default: `SERVICE`. */
  participant?: BusParticipant;
  /** Call operations of this process by reference. Tests omit it, so that nothing relies on shared references. */
  callsByReference?: boolean;
  /** An engine failed permanently: acknowledged data is safe, but the process must end and start again. */
  onFatal?: (error: Error) => void;
}

interface Closable {
  close(): Promise<void>;
}

interface OpenedEvents {
  events: EventStore;
  leases: Leases;
  checkpoints: ListedCheckpoints;
  snapshots: Snapshots;
}

/** MASTER_KEY, or in development the one created once in the data folder (mode 0600). */
const masterKeyOf = (config: PlatformConfig): Uint8Array => {
  if (config.masterKey) return config.masterKey;
  const file = join(config.dataDir, MASTER_KEY_FILE);
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
  if (key.length !== 32) throw new Error(`${file} must contain 32 bytes in base64url`);
  return new Uint8Array(key);
};

/** The configured versions of the master key. */
export const masterKeysOf = (config: PlatformConfig): MasterKeysGiven => ({
  current: { version: config.masterKeyVersion, key: masterKeyOf(config) },
  ...(config.previousMasterKey && {
    previous: [{ version: config.masterKeyVersion - 1, key: config.previousMasterKey }],
  }),
  ...(config.nextMasterKey && { next: [{ version: config.masterKeyVersion + 1, key: config.nextMasterKey }] }),
});

/** Whether any engine of the process is a file. A gateway among several processes needs none, and its container is read-only. */
export const usesDataFolder = (config: PlatformConfig, needs: ReadonlySet<EngineNeed>): boolean =>
  config.natsServers === undefined ||
  (config.databaseUrl === undefined && IN_DATABASE.some((need) => needs.has(need))) ||
  (config.redisUrl === undefined && needs.has('replay-guard'));

const IN_DATABASE: readonly EngineNeed[] = ['domain', 'operations', 'keys'];
/** See `ProjectionRunnerOptions.restMs`: a batch costs the same for one event as for a hundred (ADR 0111). */
const SOLE_REST_MS = 250;

/** Opens the engines of one process, with the configured adapters. */
class Opening {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Metrics;
  tracing!: Tracing;
  private readonly opened: Closable[] = [];
  private eventFile: Promise<SqliteThread> | undefined;

  constructor(
    private readonly config: PlatformConfig,
    private readonly options: EnginesOptions,
  ) {
    this.logger = options.logger ?? createLogger(config.logLevel, { service: config.service });
    this.metrics = new Metrics(config.service);
    this.clock = options.clock ?? systemClock;
    this.ids = options.ids ?? randomIds;
  }

  /** Last opened, first closed. */
  async close(): Promise<void> {
    for (const engine of this.opened.splice(0).reverse()) await engine.close();
  }

  keepUntilClose(engine: Closable): void {
    this.opened.push(engine);
  }

  async trace(): Promise<void> {
    const { otlpEndpoint: endpoint, traceRatio: ratio, service = 'platform' } = this.config;
    const onError = (message: string) => this.logger.warn({ error: message }, 'traces not sent');
    this.tracing = await this.track(openTracing({ endpoint, ratio, service, onError }));
  }

  async bus(): Promise<MessageBus> {
    return new ObservedBus(await this.openBus(), this.metrics, this.tracing);
  }

  private async openBus(): Promise<MessageBus> {
    const onError = (subject: string, error: unknown) =>
      this.logger.error({ subject, error: messageOf(error) }, 'messaging failed');
    const { natsServers } = this.config;
    if (natsServers === undefined) return this.track(InProcessBus.open({ file: this.file('feed.db'), onError }));
    const participant = this.options.participant ?? this.config.service;
    const owners = consumerOwners(participant && [participant]);
    const options = natsOptions(this.config);
    const bus = await this.track(openNatsBus({ ...options, name: participant ?? 'platform', owners, onError }));
    await refuseOpenNats(this.config, participant, options);
    return bus;
  }

  /**
   * @param keys for authenticating snapshots; without them there are no snapshots
   * @param rates where processes count together; without them this process counts for itself
   */
  async domain(
    keys: Promise<KeyVault> | undefined,
    rates: Promise<RateCounter> | undefined,
  ): Promise<Pick<StateEngines, 'events' | 'streams' | 'written' | 'leases' | 'checkpoints' | 'readModels'>> {
    const opened = this.events('events', {});
    const written = new WrittenBytes(this.config, (await rates) ?? new MemoryRateCounter(), this.metrics);
    const { events, leases, checkpoints, snapshots } = await this.observed('domain', opened, written);
    const vault = await keys;
    const streams = new Streams(events, this.clock, this.ids, {
      ...(vault && { snapshots: new AuthenticSnapshots(snapshots, vault.macs) }),
      stateVersions: STATE_VERSIONS,
      onSnapshotFailure: (stream, { message: error }) => this.logger.warn({ stream, error }, 'snapshot failed'),
    });
    const readModels = await this.readModels('read-models', events, leases);
    await refuseOlderEvents(events, checkpoints, readModels, this.patienceMs);
    return { events, streams, written, leases, checkpoints, readModels };
  }

  /** @param domain the other store from which analytics projects its rows; EventStoreDB holds both (ADR 0073) */
  async operations(
    domain: Promise<Pick<StateEngines, 'events'>> | undefined,
  ): Promise<Pick<StateEngines, 'operationEvents' | 'operationReadModels'>> {
    const { operationEventsDays: retentionDays } = this.config;
    const { events, leases, checkpoints } = await this.observed(
      'operations',
      this.events('operations', { retentionDays }),
    );
    const both = this.config.eventStoreUrl === undefined && (await domain);
    const followed = both ? new JoinedEventLog(events, both.events) : events;
    const readModels = await this.readModels('analytics', followed, leases);
    await refuseOlderEvents(followed, checkpoints, readModels, this.patienceMs);
    return { operationEvents: events, operationReadModels: readModels };
  }

  async keys(): Promise<KeyVault> {
    const common = { masterKeys: masterKeysOf(this.config), clock: () => this.clock.now() };
    const database = databases(this.config)?.keys;
    return database
      ? this.track(openPostgresKeyVault({ ...common, ...database, onFailure: this.failed('keys') }))
      : this.track(EmbeddedKeyVault.onThread(await this.openEventFile(), common));
  }

  async replayGuard(): Promise<StateEngines['replayGuard']> {
    const clock = this.clock.now.bind(this.clock);
    const { redisUrl: url, natsNamespace: namespace } = this.config;
    if (url !== undefined)
      return this.track(
        openRedisReplayGuard({ url, namespace, clock, onError: this.failed('replay guard') }).catch(refuseEviction),
      );
    return databases(this.config)
      ? this.track(EmbeddedReplayGuard.openFile({ file: this.file('replay.db'), onFailure: this.fatal, clock }))
      : this.track(Promise.resolve(EmbeddedReplayGuard.onThread(await this.openEventFile(), clock)));
  }

  /** One thread for events, keys and single-use values, so that a command stores them in one transaction (ADR 0074). */
  private openEventFile(): Promise<SqliteThread> {
    const { eventStoreUrl } = this.config;
    this.eventFile ??= this.track(
      SqliteThread.spawn({
        file: this.file('events.db'),
        ...EmbeddedEventStore.jobs(eventStoreUrl === undefined),
        further: [EmbeddedKeyVault.jobs, EmbeddedReplayGuard.jobs],
        pragmas: [...EVENT_PRAGMAS, ...KEY_PRAGMAS],
        onFailure: this.fatal,
      }),
    );
    return this.eventFile;
  }

  /** A file even when all else is in PostgreSQL: the sign-in runs in one process. */
  async signIn(): Promise<SignInStore | undefined> {
    if (this.config.signIn !== 'built-in') return undefined;
    const clock = this.clock.now.bind(this.clock);
    return this.track(EmbeddedSignInStore.openFile({ file: this.file('sign-in.db'), onFailure: this.fatal, clock }));
  }

  async rates(): Promise<StateEngines['rates']> {
    const { redisUrl: url, natsNamespace: namespace } = this.config;
    if (url === undefined) return new MemoryRateCounter();
    const { RedisRateCounter } = await import('./redis-rate-counter.js');
    return this.track(RedisRateCounter.connect({ url, namespace, onError: this.failed('rate counter') }));
  }

  private async events(name: 'events' | 'operations', options: { retentionDays?: number }): Promise<OpenedEvents> {
    const { eventStoreUrl: url } = this.config;
    const database = databases(this.config)?.[name];
    if (url !== undefined) {
      const coordination = await (database
        ? this.track(openPostgresCoordination({ ...database, onFailure: this.failed(name) }))
        : this.openFile(name, { exclusive: false }));
      const { eventStorePrefix: prefix } = this.config;
      const events = await this.track(openEventStoreDb({ url, prefix, ...options, onFailure: this.failed(name) }));
      const { leases, checkpoints, snapshots } = coordination;
      return { events, leases, checkpoints, snapshots };
    }
    const store = await (database
      ? this.track(openPostgresEvents({ ...database, ...options, onFailure: this.failed(name) }))
      : this.openFile(name, { exclusive: true, ...options }));
    const { leases, checkpoints, snapshots } = store;
    return { events: store, leases, checkpoints, snapshots };
  }

  private async openFile(
    name: 'events' | 'operations',
    options: { exclusive: boolean; retentionDays?: number },
  ): Promise<EmbeddedEventStore> {
    const all = { ...options, file: this.file(`${name}.db`), onFailure: this.fatal };
    if (name === 'operations') return this.track(EmbeddedEventStore.openFile(all));
    return this.track(Promise.resolve(EmbeddedEventStore.onThread(await this.openEventFile(), all)));
  }

  private async observed(name: 'domain' | 'operations', opening: Promise<OpenedEvents>, written?: WrittenBytes) {
    const { events, leases, checkpoints, snapshots } = await opening;
    return {
      snapshots,
      events: new ObservedEventStore(events, name, this.metrics, this.tracing, written),
      leases: new ObservedLeases(leases, this.metrics.leases),
      checkpoints,
    };
  }

  private async readModels(name: 'read-models' | 'analytics', store: EventLog, leases: Leases): Promise<ReadModels> {
    return new ObservedReadModels(await this.openReadModels(name, store, leases), store, this.metrics, this.tracing);
  }

  private openReadModels(name: 'read-models' | 'analytics', eventStore: EventLog, leases: Leases): Promise<ReadModels> {
    const onFailure = (projection: string, error: Error) =>
      this.logger.error({ projection, error: error.message }, 'projection failed');
    const database = databases(this.config)?.[name];
    return database
      ? this.track(
          openPostgresReadModels({
            ...database,
            eventStore,
            leases,
            ownWriteMs: this.config.ownWriteMs,
            // Without NATS there is one process.
            restMs: this.config.natsServers === undefined ? SOLE_REST_MS : undefined,
            onFailure,
            onDatabaseFailure: this.failed(name),
          }),
        )
      : this.track(
          EmbeddedReadModels.openFile({
            file: this.file(`${name}.db`),
            eventStore,
            leases,
            ownWriteMs: this.config.ownWriteMs,
            // Whoever waits for a position is in this process and cuts the pause short.
            restMs: SOLE_REST_MS,
            holder: 'embedded',
            onFailure,
            onDatabaseFailure: this.fatal,
          }),
        );
  }

  /** Only EventStoreDB has replicas that may lag briefly. */
  private get patienceMs(): number | undefined {
    return this.config.eventStoreUrl === undefined ? 0 : undefined;
  }

  private file(name: string): string {
    return join(this.config.dataDir, name);
  }

  private readonly fatal = (error: Error): void => {
    this.logger.fatal({ error: error.message }, 'engine failed');
    this.options.onFatal?.(error);
  };

  /** For an engine that is reconnected automatically. */
  private failed(engine: string): (error: Error) => void {
    return (error) => this.logger.warn({ engine, error: error.message }, 'engine unreachable');
  }

  private async track<T extends Closable>(opening: Promise<T>): Promise<T> {
    const engine = await opening;
    this.opened.push(engine);
    return engine;
  }
}

/**
 * Before anything is served: the servers may have been unreachable when the configuration was read.
 * @throws ConfigError in production, where the servers do not enforce the services' permissions
 */
export const refuseOpenNats = async (
  config: PlatformConfig,
  user: BusUser | undefined,
  options: NatsOptions,
): Promise<void> => {
  if (config.nodeEnv !== 'production') return;
  const { refusals } = await new EngineInspector(config, user).inspectNatsServers(options);
  if (refusals.length) throw new ConfigError(refusals.map(refusalText));
};

/** @throws ConfigError where the server may evict what was spent */
const refuseEviction = (error: unknown): never => {
  throw error instanceof EvictingReplayStore ? new ConfigError([refusalText(evictionRefusal(error))]) : error;
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Waits for each, so that none opens after the others were closed. @throws the error of the first one that failed */
const all = async <T extends readonly unknown[]>(opening: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> => {
  await Promise.allSettled(opening);
  return Promise.all(opening);
};

/**
 * Opens the engines that a process needs. File engines belong to one process per data folder; servers must be migrated.
 * @throws DataFolderLocked, AlreadyRunning, or the error of an engine that is unreachable or was not migrated
 */
export const openProcessEngines = async (
  config: PlatformConfig,
  needs: ReadonlySet<EngineNeed>,
  options: EnginesOptions = {},
): Promise<ProcessEngines> => {
  const opening = new Opening(config, options);
  const { logger, clock, ids } = opening;
  const close = () => opening.close();
  try {
    if (usesDataFolder(config, needs)) {
      const lock = await lockDataFolder(config.dataDir);
      opening.keepUntilClose({ close: async () => lock.release() });
    }
    await opening.trace();
    const keys = needs.has('keys') ? opening.keys() : undefined;
    const counter = needs.has('rates') ? opening.rates() : undefined;
    const opened = needs.has('domain') ? opening.domain(keys, counter) : undefined;
    const [vault, domain, operations, replayGuard, rates, signIn] = await all([
      keys,
      opened,
      needs.has('operations') ? opening.operations(opened) : undefined,
      needs.has('replay-guard') ? opening.replayGuard() : undefined,
      counter,
      needs.has('sign-in') ? opening.signIn() : undefined,
    ] as const);
    // Its consumers use all of the above: opened last, closed first.
    const bus = await opening.bus();
    if (vault && config.natsServers) opening.keepUntilClose(evictDestroyedKeys(vault, bus, logger));
    const busOf = (participant: BusParticipant) => new RestrictedBus(bus, busRights(participant));
    const recorders = new OperationRecorders({ clock, ids, logger }, busOf);
    opening.keepUntilClose(recorders);
    if (domain && config.natsServers === undefined && config.databaseUrl !== undefined)
      opening.keepUntilClose(await claimDatabase(domain.leases, (error) => options.onFatal?.(error)));
    return {
      config,
      logger,
      clock,
      ids,
      health: new Health(),
      metrics: opening.metrics,
      tracing: opening.tracing,
      bus,
      recorders,
      ...(options.callsByReference && { localOperations: new LocalOperations(opening.metrics) }),
      ...domain,
      ...operations,
      ...(vault && { vault }),
      ...(replayGuard && { replayGuard }),
      ...(rates && { rates }),
      ...(signIn && { signIn }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const ALL: ReadonlySet<EngineNeed> = new Set(['domain', 'operations', 'keys', 'replay-guard', 'rates', 'sign-in']);

/** Opens the engines of a process that hosts every service. */
export const openEngines = async (config: PlatformConfig, options: EnginesOptions = {}): Promise<Engines> =>
  (await openProcessEngines(config, ALL, options)) as Engines;
