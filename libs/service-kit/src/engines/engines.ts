import type { Checkpoints, Clock, EventStore, Ids, Leases, Streams } from '@attestry/event-store';
import type { KeyVault, ReplayGuard, SignInStore } from '@attestry/keys';
import type { MessageBus } from '@attestry/messaging';
import type { ReadModels } from '@attestry/read-model';
import type { PlatformConfig } from '../config/config.js';
import type { Health } from '../process/health.js';
import type { LocalOperations } from '../operations/local-operations.js';
import type { Logger } from '../process/logger.js';
import type { OperationRecorders } from '../operations/operation-recorder.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Tracing } from '../tracing/tracing.js';
import type { WrittenBytes } from '../written-bytes/written-bytes.js';
import type { RateCounter } from './rate-counter.js';

/** Engines of every process. */
export interface BaseEngines {
  config: PlatformConfig;
  logger: Logger;
  clock: Clock;
  ids: Ids;
  health: Health;
  metrics: Metrics;
  tracing: Tracing;
  bus: MessageBus;
  recorders: OperationRecorders;
  /** Set where operations of this process are called by reference; every other call is serialized. */
  localOperations?: LocalOperations;
  /** Closes everything in the order in which nothing is lost, and frees the data folder. */
  close(): Promise<void>;
}

/** Engines of a process only when one of its services needs them. */
export interface StateEngines {
  events: EventStore;
  streams: Streams;
  /** Limits on what tenants write to `events`. */
  written: WrittenBytes;
  leases: Leases;
  checkpoints: Checkpoints;
  readModels: ReadModels;
  /** STARTs and records that no domain event carries, in a separate store (ADR 0073). */
  operationEvents: EventStore;
  /** Projections over domain and operation events (ADR 0073). */
  operationReadModels: ReadModels;
  vault: KeyVault;
  replayGuard: ReplayGuard;
  rates: RateCounter;
}

/** The engines behind the ports, with the configured adapters. */
export type ProcessEngines = BaseEngines &
  Partial<StateEngines> & {
    /** State of the built-in sign-in; absent where it is off. */
    signIn?: SignInStore;
  };

/** Engines of a process that hosts every service. */
export type Engines = BaseEngines & StateEngines;

/** Groups of engines that a service requires; every process has the bus. */
export type EngineNeed = 'domain' | 'operations' | 'keys' | 'replay-guard' | 'rates' | 'sign-in';
