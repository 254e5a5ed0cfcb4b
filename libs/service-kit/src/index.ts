export * from './config.js';
export * from './platform-domains.js';
export { reachEngines, type EnginesReached } from './engines/reach-engines.js';
export { inspectConfig, loadConfig, type ConfigInspection, type InspectOptions } from './load-config.js';
export * from './tokens.js';
export * from './logger.js';
export * from './refusal-fields.js';
export * from './validation.js';
export { frozenData } from './frozen-data.js';
export { plainCopy } from './shapes/check-members.js';
export * from './operation-headers.js';
export * from './event-context.js';
export { Operation, type RequestOf, type ResponseOf } from './use-case.js';
export { toAppError } from './operation-handler.js';
export { LocalOperations } from './local-operations.js';
export * from './service-client.js';
export { CallRecord } from './call-record.js';
export * from './operation-recorder.js';
export type { RepeatedCall } from './repeated-records.js';
export * from './health.js';
export { ReplayedDestructions } from './replayed-destructions.js';
export { FailingRows, type FailingRowsOptions } from './failing-rows.js';
export { UnchangedRows } from './unchanged-rows.js';
export { PeriodicWork } from './periodic-work.js';
export * from './admin-server.js';
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
export * from './read-model.js';
export * from './list-page.js';
export { isMaskOf, mask } from './masked-secret.js';
export * from './required-claims.js';
export { EngineAddresses, InnerHosts } from './inner-hosts.js';
export * from './outbound.js';
export * from './outbound-resolver.js';
export * from './provider-keys.js';
export { recordPurgedTenants, purgingTenants } from './purged-tenants.js';
export {
  bytesFor,
  idFor,
  sealIdempotently,
  storeIdempotently,
  type SealedForNew,
} from './idempotency/deterministic-values.js';
export { Budgets, type Budget } from './budgets/budgets.js';
export { checkIdempotencyKey } from './idempotency/idempotent-calls.js';
export * from './sign-in-registry.js';
export * from './reactions.js';
export * from './service-definition.js';
export { busOf, type Hosted } from './hosted.js';
export * from './engines/engines.js';
export * from './engines/engines.module.js';
export * from './engines/open-engines.js';
export { migrateEngines } from './engines/migrate-engines.js';
export { databases, type DatabaseUse } from './engines/databases.js';
export { PLATFORM_LEASE } from './engines/sole-process.js';
export { requestRebuilds } from './engines/request-rebuilds.js';
export { AlreadyRunning } from './engines/sole-process.js';
export { MemoryRateCounter, RateCounter, type Counted } from './engines/rate-counter.js';
export * from './serve.js';
export { nearestName } from './unknown-members.js';
export { chooseMediaType } from './negotiation/choose-media-type.js';
export { weightedList } from './negotiation/weighted-list.js';
