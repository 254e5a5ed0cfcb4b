export * from './event-store.js';
export * from './aggregate.js';
export { CHAIN_START, chainEvent, verifyChain, type ChainCheck, type UnchainedEvent } from './chain.js';
export {
  CheckpointBeyondHead,
  REBUILD_READ_MODEL,
  refuseBeyondHead,
  RESET_CHECKPOINT,
} from './checkpoint-beyond-head.js';
export { BrokenChain, copyEvents, TargetDiffers, type CopyCounts, type CopyOptions } from './copy/copy-events.js';
export { randomIds, systemClock, type Clock, type Ids } from './facts.js';
export type { CommandWrites, Decide, Decision, FurtherDecision, LoadOptions, RunOptions } from './streams/decision.js';
export { readEvent } from './streams/read-event.js';
export { Streams, type StreamsOptions } from './streams/streams.js';
export {
  CheckpointedSubscription,
  type CheckpointedOptions,
  type Checkpoints,
  type ListedCheckpoints,
  type SubscriptionHealth,
} from './subscriptions.js';
export { isFullPage, ONE_PAGE, pagesBackwards } from './stream-pages.js';
export { backOffMs, DEFAULT_BACK_OFF, type BackOff } from './worker/back-off.js';
export { EventBatches, type EventBatch } from './worker/event-batches.js';
export { HeldLease, type LeaseOptions } from './worker/held-lease.js';
export {
  LeasedWorker,
  StaleEpoch,
  type BatchSource,
  type Term,
  type WorkerHealth,
  type WorkerOptions,
} from './worker/leased-worker.js';
export { leaseFence, type Fence } from './worker/lease-fence.js';
export { sleep } from './worker/sleep.js';
export { untilTick } from './worker/until-tick.js';
export type { Snapshot, Snapshots } from './snapshots.js';
export { EmbeddedEventStore, EVENT_PRAGMAS, type EmbeddedEventStoreOptions } from './embedded/embedded-event-store.js';
export { EmbeddedLeases } from './embedded/embedded-leases.js';
export { EmbeddedCheckpoints } from './embedded/embedded-checkpoints.js';
export {
  loadEventTables,
  migratePostgresEvents,
  openPostgresCoordination,
  openPostgresEvents,
  type PostgresCoordination,
} from './postgres/load-postgres.js';
export { loadEventStoreDbTarget, openEventStoreDb } from './eventstoredb/load-eventstoredb.js';
export type { EventStoreDbTarget } from './eventstoredb/connection-target.js';
export type { EventStoreDbOptions } from './eventstoredb/eventstoredb-event-store.js';
export {
  ABANDONED_AFTER_MS,
  nameClaim,
  type Claimant,
  type ClaimFacts,
  type NameClaim,
  type NameClaimEvent,
  type NameClaimKind,
  type NameClaimState,
} from './name-claim.js';
export { JoinedEventLog } from './joined-event-log.js';
export { anEvent, given, stateAfter, type Outcome } from './testing.js';
export { describeNameClaim, type ExpectedNameClaim } from './name-claim.contract.js';
export { itGrantsLeases } from './leases.contract.js';
export { describeLeasedWorker, type WorkerProcess, type WorkersUnderTest } from './worker/leased-worker.contract.js';
export { describeEventStore, type EventStoreUnderTest } from './event-store.contract.js';
