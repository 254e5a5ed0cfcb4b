import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  EmbeddedEventStore,
  randomIds,
  Streams,
  systemClock,
  type Checkpoints,
  type Clock,
  type EventStore,
  type Ids,
  type Leases,
} from '@attestry/event-store';
import { EmbeddedKeyVault, EmbeddedReplayGuard, type KeyVault, type ReplayGuard } from '@attestry/keys';
import { Broker, type MessageBus } from '@attestry/messaging';
import { EmbeddedReadModels, type ReadModels } from '@attestry/read-model';
import { lockDataFolder } from '@attestry/sqlite';
import type { PlatformConfig } from './config.js';
import { Health } from './health.js';
import { createLogger, type Logger } from './logger.js';
import { Metrics } from './metrics/metrics.js';
import { ObservedBus } from './observed/observed-bus.js';
import { ObservedEventStore } from './observed/observed-event-store.js';
import { ObservedLeases } from './observed/observed-leases.js';
import { ObservedReadModels } from './observed/observed-read-models.js';
import { openTracing } from './tracing/load-tracing.js';
import type { Tracing } from './tracing/tracing.js';

/** The engines behind the ports, whichever adapters the configuration chose. */
export interface Engines {
  config: PlatformConfig;
  logger: Logger;
  clock: Clock;
  ids: Ids;
  health: Health;
  metrics: Metrics;
  tracing: Tracing;
  events: EventStore;
  streams: Streams;
  leases: Leases;
  checkpoints: Checkpoints;
  /** Operation events, in a store of their own (decision 11). */
  operationEvents: EventStore;
  bus: MessageBus;
  vault: KeyVault;
  replayGuard: ReplayGuard;
  readModels: ReadModels;
  /** Projections over the operation events. */
  operationReadModels: ReadModels;
  /** Closes everything in the order in which nothing is lost, and frees the data folder. */
  close(): Promise<void>;
}

export interface EnginesOptions {
  clock?: Clock;
  ids?: Ids;
  logger?: Logger;
  /** A thread of an engine died: what is acknowledged is safe, but the process must end and start anew. */
  onFatal?: (error: Error) => void;
}

const MASTER_KEY_FILE = 'master.key';

/** MASTER_KEY, or in development the one made once in the data folder (mode 0600). */
const masterKeyOf = (config: PlatformConfig): Uint8Array => {
  if (config.masterKey) return config.masterKey;
  const file = join(config.dataDir, MASTER_KEY_FILE);
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
  if (key.length !== 32) throw new Error(`${file} does not hold 32 bytes in base64url`);
  return new Uint8Array(key);
};

/** Opens the embedded engines in `DATA_DIR`. One process per folder: a second one is refused. */
export const openEngines = async (config: PlatformConfig, options: EnginesOptions = {}): Promise<Engines> => {
  const logger = options.logger ?? createLogger(config.logLevel);
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? randomIds;
  const health = new Health();
  const metrics = new Metrics();
  const lock = await lockDataFolder(config.dataDir);
  const file = (name: string) => join(config.dataDir, name);
  const fatal = (error: Error) => {
    logger.fatal({ error: error.message }, 'an engine failed');
    options.onFatal?.(error);
  };
  const opened: { close(): Promise<void> }[] = [];
  const keep = async <T extends { close(): Promise<void> }>(engine: Promise<T>): Promise<T> => {
    const ready = await engine;
    opened.push(ready);
    return ready;
  };
  const close = async () => {
    for (const engine of opened.reverse()) await engine.close();
    lock.release();
  };
  try {
    const masterKeys = {
      current: { version: config.masterKeyVersion, key: masterKeyOf(config) },
      ...(config.previousMasterKey && {
        previous: [{ version: config.masterKeyVersion - 1, key: config.previousMasterKey }],
      }),
    };
    const now = () => clock.now();
    const tracing = await keep(
      openTracing({
        endpoint: config.otlpEndpoint,
        ratio: config.traceRatio,
        service: 'platform',
        onError: (message) => logger.warn({ error: message }, 'traces not sent'),
      }),
    );
    const [vault, replayGuard, events, operationEvents] = await Promise.all([
      keep(EmbeddedKeyVault.open({ file: file('keys.db'), masterKeys, onFailure: fatal, clock: now })),
      keep(EmbeddedReplayGuard.open({ file: file('replay.db'), onFailure: fatal, clock: now })),
      keep(EmbeddedEventStore.open({ file: file('events.db'), exclusive: true, onFailure: fatal })),
      keep(
        EmbeddedEventStore.open({
          file: file('operations.db'),
          exclusive: true,
          retentionDays: config.operationEventsDays,
          onFailure: fatal,
        }),
      ),
    ]);
    const leases = new ObservedLeases(events.leases, metrics.leases);
    const domain = new ObservedEventStore(events, 'domain', metrics, tracing);
    const operations = new ObservedEventStore(operationEvents, 'operations', metrics, tracing);
    const onError = (subject: string, error: unknown) =>
      logger.error({ subject, error: error instanceof Error ? error.message : String(error) }, 'messaging');
    const onFailure = (projection: string, error: Error) =>
      logger.error({ projection, error: error.message }, 'projection failed');
    const [broker, readModels, operationReadModels] = await Promise.all([
      keep(Broker.open({ file: file('feed.db'), onError })),
      keep(
        EmbeddedReadModels.open({
          file: file('read-models.db'),
          eventStore: domain,
          leases,
          holder: 'embedded',
          onFailure,
          onDatabaseFailure: fatal,
        }),
      ),
      keep(
        EmbeddedReadModels.open({
          file: file('analytics.db'),
          eventStore: operations,
          leases: new ObservedLeases(operationEvents.leases, metrics.leases),
          holder: 'embedded',
          onFailure,
          onDatabaseFailure: fatal,
        }),
      ),
    ]);
    return {
      config,
      logger,
      clock,
      ids,
      health,
      metrics,
      tracing,
      events: domain,
      streams: new Streams(domain, clock, ids),
      leases,
      checkpoints: events.checkpoints,
      operationEvents: operations,
      bus: new ObservedBus(broker.connect(), metrics, tracing),
      vault,
      replayGuard,
      readModels: new ObservedReadModels(readModels, domain, metrics, tracing),
      operationReadModels: new ObservedReadModels(operationReadModels, operations, metrics, tracing),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
