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

/** The engines behind the ports, whichever adapters the configuration chose. */
export interface Engines {
  config: PlatformConfig;
  logger: Logger;
  clock: Clock;
  ids: Ids;
  health: Health;
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
    const onError = (subject: string, error: unknown) =>
      logger.error({ subject, error: error instanceof Error ? error.message : String(error) }, 'messaging');
    const onFailure = (projection: string, error: Error) =>
      logger.error({ projection, error: error.message }, 'projection failed');
    const [broker, readModels, operationReadModels] = await Promise.all([
      keep(Broker.open({ file: file('feed.db'), onError })),
      keep(
        EmbeddedReadModels.open({
          file: file('read-models.db'),
          eventStore: events,
          leases: events.leases,
          holder: 'embedded',
          onFailure,
          onDatabaseFailure: fatal,
        }),
      ),
      keep(
        EmbeddedReadModels.open({
          file: file('analytics.db'),
          eventStore: operationEvents,
          leases: operationEvents.leases,
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
      events,
      streams: new Streams(events, clock, ids),
      leases: events.leases,
      checkpoints: events.checkpoints,
      operationEvents,
      bus: broker.connect(),
      vault,
      replayGuard,
      readModels,
      operationReadModels,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
