/**
 * Every metric of ours, declared once; docs/reference/metrics.md is generated from it, and the dashboard and the alerts
 * in deploy/ are checked against it. Labels come from code and declarations only: never a tenant, a path, a host or
 * anything else a caller chooses.
 */
export interface MetricDefinition {
  /** As in the exposition, with its unit: base units of Prometheus, seconds. */
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  /** Upper bounds of a histogram. */
  buckets?: readonly number[];
}

/** Seconds: from what an append takes to what a caller gives up at. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export const METRICS = {
  info: {
    name: 'attestry_info',
    type: 'gauge',
    help: 'Always 1; `runs` tells which service the process runs, `platform` for all of them.',
    labels: ['runs'],
  },
  ready: {
    name: 'attestry_ready',
    type: 'gauge',
    help: '1 while `/health/ready` answers 200.',
    labels: [],
  },
  checkHealthy: {
    name: 'attestry_check_healthy',
    type: 'gauge',
    help: '1 while a check of `/health/ready` does not fail; one that is still catching up does not.',
    labels: ['check'],
  },
  httpRequests: {
    name: 'attestry_http_requests_total',
    type: 'counter',
    help: 'HTTP requests answered by the gateway; operation `none` when no operation has the host and path. Health is not counted.',
    labels: ['operation', 'status'],
  },
  httpSeconds: {
    name: 'attestry_http_request_duration_seconds',
    type: 'histogram',
    help: 'From the head of a request to the last byte of its answer.',
    labels: ['operation'],
    buckets: SECONDS,
  },
  rateLimited: {
    name: 'attestry_http_rate_limited_total',
    type: 'counter',
    help: 'Requests refused with 429, by the rate class of their operation.',
    labels: ['class'],
  },
  clientTokenFailures: {
    name: 'attestry_client_token_failures_total',
    type: 'counter',
    help: 'Token and revocation calls of clients that failed, by status: 401 is a wrong secret or an unknown client, the others are malformed calls.',
    labels: ['status'],
  },
  httpRefused: {
    name: 'attestry_http_refused_total',
    type: 'counter',
    help: 'Connections and requests that a limit of the HTTP server ended, or its parser refused: `connections`, `connections-of-peer`, `requests-in-flight`, `body-bytes-in-flight`, `timeout`, `malformed` or `method`.',
    labels: ['reason'],
  },
  httpConnections: {
    name: 'attestry_http_connections',
    type: 'gauge',
    help: 'Open connections of the HTTP server.',
    labels: [],
  },
  operations: {
    name: 'attestry_operations_total',
    type: 'counter',
    help: 'Operations done by a service; `outcome` is `ok` or the kind of error.',
    labels: ['operation', 'outcome'],
  },
  operationSeconds: {
    name: 'attestry_operation_duration_seconds',
    type: 'histogram',
    help: 'Time of a service handler, with its reads and appends.',
    labels: ['operation'],
    buckets: SECONDS,
  },
  busFailures: {
    name: 'attestry_bus_request_failures_total',
    type: 'counter',
    help: 'Requests over the message bus without an answer: `no-responder`, `timeout` or `closed`.',
    labels: ['reason'],
  },
  appends: {
    name: 'attestry_appends_total',
    type: 'counter',
    help: 'Appends to streams: `ok`, `conflict` (somebody else was first), `too-large`, `unavailable` or `error`.',
    labels: ['store', 'outcome'],
  },
  appendedEvents: {
    name: 'attestry_appended_events_total',
    type: 'counter',
    help: 'Events appended.',
    labels: ['store'],
  },
  appendSeconds: {
    name: 'attestry_append_duration_seconds',
    type: 'histogram',
    help: 'Time until an append is durable, or refused.',
    labels: ['store'],
    buckets: SECONDS,
  },
  subscriptionDrops: {
    name: 'attestry_subscription_drops_total',
    type: 'counter',
    help: 'Subscriptions that ended by themselves: handler failed, connection lost, too slow. They begin again at their checkpoint.',
    labels: ['store'],
  },
  lagSeconds: {
    name: 'attestry_lag_seconds',
    type: 'gauge',
    help: 'Age of the oldest event that a projection or reaction has not handled, 0 when there is none. Told by the holder of its lease only.',
    labels: ['kind', 'name'],
  },
  lagPositions: {
    name: 'attestry_lag_positions',
    type: 'gauge',
    help: 'Positions between a projection or reaction and the newest event, of whatever category; only where positions are numbers (embedded, PostgreSQL).',
    labels: ['kind', 'name'],
  },
  projectedEvents: {
    name: 'attestry_projected_events_total',
    type: 'counter',
    help: 'Events written by a projection, those of a rebuild included.',
    labels: ['projection'],
  },
  projectionBatchSeconds: {
    name: 'attestry_projection_batch_duration_seconds',
    type: 'histogram',
    help: 'Time in which a projection writes the rows of a batch, without the commit.',
    labels: ['projection'],
    buckets: SECONDS,
  },
  reactionFailures: {
    name: 'attestry_reaction_failures_total',
    type: 'counter',
    help: 'Failures of a reaction; its batch comes again after a pause.',
    labels: ['reaction'],
  },
  feedPublished: {
    name: 'attestry_feed_published_total',
    type: 'counter',
    help: 'Messages published to the durable feed.',
    labels: [],
  },
  feedPublishSeconds: {
    name: 'attestry_feed_publish_duration_seconds',
    type: 'histogram',
    help: 'Time until published messages are on the disk; one observation a call.',
    labels: [],
    buckets: SECONDS,
  },
  feedPublishFailures: {
    name: 'attestry_feed_publish_failures_total',
    type: 'counter',
    help: 'Calls that could not publish.',
    labels: [],
  },
  outboxDelay: {
    name: 'attestry_outbox_delay_seconds',
    type: 'histogram',
    help: 'From the moment an event happened to its integration event being on the feed.',
    labels: [],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  consumed: {
    name: 'attestry_consumed_messages_total',
    type: 'counter',
    help: 'Messages of the feed that a consumer handled.',
    labels: ['consumer'],
  },
  consumerFailures: {
    name: 'attestry_consumer_failures_total',
    type: 'counter',
    help: 'Batches that a consumer failed to handle; they come again.',
    labels: ['consumer'],
  },
  consumerLag: {
    name: 'attestry_consumer_lag_seconds',
    type: 'gauge',
    help: 'Age of the oldest message a consumer has in hand (since it happened, else since it was first handed over); 0 when it has none.',
    labels: ['consumer'],
  },
  leaseHeld: {
    name: 'attestry_lease_held',
    type: 'gauge',
    help: '1 in the process that holds a lease, 0 in those that stand by.',
    labels: ['lease'],
  },
  leaseAcquired: {
    name: 'attestry_lease_acquired_total',
    type: 'counter',
    help: 'Times this process became the holder of a lease.',
    labels: ['lease'],
  },
  webhookQueue: {
    name: 'attestry_webhook_queue_deliveries',
    type: 'gauge',
    help: 'Webhook deliveries that have not ended: `due` now, or `waiting` for their next attempt. Told by the holder of the sender lease only.',
    labels: ['state'],
  },
  webhookOldestDue: {
    name: 'attestry_webhook_oldest_due_seconds',
    type: 'gauge',
    help: 'How long the delivery that is due longest has been due.',
    labels: [],
  },
  webhookAttempts: {
    name: 'attestry_webhook_attempts_total',
    type: 'counter',
    help: 'Attempts to deliver: `delivered` (2xx), `redirect`, `refused` (4xx), `failed` (5xx), `timeout`, `target-refused`, `unreachable` or `key-missing`.',
    labels: ['outcome'],
  },
  webhookSeconds: {
    name: 'attestry_webhook_attempt_duration_seconds',
    type: 'histogram',
    help: 'Time of an attempt, from signing to the answer.',
    labels: [],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  mainThreadBlock: {
    name: 'attestry_main_thread_block_seconds',
    type: 'histogram',
    help: 'CPU time of the main thread between two ticks of a 20 ms timer: what is above 0.025 ran without letting other requests in.',
    labels: [],
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  budgetRefusals: {
    name: 'attestry_budget_refusals_total',
    type: 'counter',
    help: 'Calls refused with 429 because a budget was used up: `mailbox`, `tenant-mails`, `webhook-tests` or `webhook-requests`.',
    labels: ['budget'],
  },
  signInAttempts: {
    name: 'attestry_sign_in_attempts_total',
    type: 'counter',
    help: 'Passwords presented to the built-in sign-in: `ok`, `wrong`, or refused because the failures of an hour were used up: `address`, `account` (unknown browsers together), `device` or `link`.',
    labels: ['outcome'],
  },
  canonicalizationJobs: {
    name: 'attestry_canonicalization_jobs',
    type: 'gauge',
    help: 'JSON-LD canonicalizations of large documents: `running` in a worker thread, or `waiting` for one.',
    labels: ['state'],
  },
  canonicalizationTerminated: {
    name: 'attestry_canonicalization_terminated_total',
    type: 'counter',
    help: 'Canonicalizations that passed their deadline of 5 s; the worker thread was terminated and replaced.',
    labels: [],
  },
  scrapeFailures: {
    name: 'attestry_scrape_failures_total',
    type: 'counter',
    help: 'Values that could not be found out for a scrape in time; the scrape has the others.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricKey = keyof typeof METRICS;
