export * from './config/config.js';
export * from './config/platform-domains.js';
export { reachEngines, type EnginesReached } from './engines/reach-engines.js';
export { inspectConfig, loadConfig, type ConfigInspection, type InspectOptions } from './config/load-config.js';
export * from './config/tokens.js';
export * from './process/logger.js';
export * from './operations/refusal-fields.js';
export * from './shapes/validation.js';
export { frozenData } from './shapes/frozen-data.js';
export { plainCopy } from './shapes/check-members.js';
export * from './operations/operation-headers.js';
export * from './operations/event-context.js';
export { Operation, type RequestOf, type ResponseOf } from './operations/use-case.js';
export { toAppError } from './operations/operation-handler.js';
export { LocalOperations } from './operations/local-operations.js';
export * from './operations/service-client.js';
export { CallRecord } from './operations/call-record.js';
export * from './operations/operation-recorder.js';
export type { RepeatedCall } from './operations/repeated-records.js';
export * from './process/health.js';
export { ReplayedDestructions } from './followers/replayed-destructions.js';
export { FailingRows, type FailingRowsOptions } from './followers/failing-rows.js';
export { UnchangedRows } from './followers/unchanged-rows.js';
export { PeriodicWork } from './followers/periodic-work.js';
export { DueRowsJob, type DueRows } from './followers/due-rows.js';
export { KeyRotation, type RotatedKeys } from './key-rotation/key-rotation.js';
export { publishedKeys } from './key-rotation/published-keys.js';
export * from './process/admin-server.js';
export { METRICS, type MetricDefinition, type MetricKey } from './metrics/metric-definitions.js';
export { Metrics } from './metrics/metrics.js';
export type { BoundCount } from './metrics/instruments.js';
export type { Observe } from './metrics/histogram.js';
export type { Follower } from './metrics/lag.js';
export { openTracing, type TracingOptions } from './tracing/load-tracing.js';
export {
  isSampled,
  isTraceparent,
  NoTracing,
  traceIdOf,
  Tracing,
  type Attributes,
  type Span,
  type SpanEnd,
  type SpanStart,
} from './tracing/tracing.js';
export { ObservedBus } from './observed/observed-bus.js';
export { WrittenBytes } from './written-bytes/written-bytes.js';
export { ObservedEventStore } from './observed/observed-event-store.js';
export { ObservedLeases } from './observed/observed-leases.js';
export { ObservedReadModels } from './observed/observed-read-models.js';
export * from './followers/read-model.js';
export * from './followers/list-page.js';
export { isMaskOf, mask } from './config/masked-secret.js';
export * from './config/required-claims.js';
export { EngineAddresses, InnerHosts } from './outbound/inner-hosts.js';
export * from './outbound/outbound.js';
export * from './outbound/outbound-resolver.js';
export * from './outbound/provider-keys.js';
export { recordPurgedTenants, purgingTenants } from './followers/purged-tenants.js';
export { bytesFor, idFor } from './idempotency/deterministic-values.js';
export {
  leavesUnusedKeys,
  sealForNew,
  sealIdempotently,
  storeForNew,
  type SealedForNew,
} from './idempotency/seal-for-new.js';
export { Budgets, type Budget } from './budgets/budgets.js';
export { checkIdempotencyKey } from './idempotency/idempotent-calls.js';
export * from './operations/sign-in-registry.js';
export * from './followers/reactions.js';
export * from './process/service-definition.js';
export { busOf, type Hosted } from './process/hosted.js';
export * from './engines/engines.js';
export * from './engines/engines.module.js';
export * from './engines/open-engines.js';
export { migrateEngines } from './engines/migrate-engines.js';
export { databases, type DatabaseUse } from './engines/databases.js';
export { PLATFORM_LEASE } from './engines/sole-process.js';
export { requestRebuilds } from './engines/request-rebuilds.js';
export { AlreadyRunning } from './engines/sole-process.js';
export { MemoryRateCounter, RateCounter, type Counted } from './engines/rate-counter.js';
export * from './process/serve.js';
export { nearestName } from './shapes/unknown-members.js';
export { chooseMediaType } from './negotiation/choose-media-type.js';
export { weightedList } from './negotiation/weighted-list.js';
