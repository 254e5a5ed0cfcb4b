/**
 * Every metric of ours, declared once; docs/reference/metrics.md is generated from it, and the dashboard and the alerts
 * in deploy/ are checked against it. Labels come from code and declarations only: never a tenant, a path, a host or
 * anything else a caller chooses.
 */
export interface MetricDefinition {
  /** Name in the exposition, with its unit: base units of Prometheus, seconds. */
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  /** Upper bounds of a histogram. */
  buckets?: readonly number[];
}

/** Seconds: from the duration of an append to the deadline of an operation. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export const METRICS = {
  info: {
    name: 'attestry_info',
    type: 'gauge',
    help: 'Always 1. `runs` is the service that the process runs, or `platform` for all services in one process.',
    labels: ['runs'],
  },
  ready: {
    name: 'attestry_ready',
    type: 'gauge',
    help: '1 while `/health/ready` returns 200, otherwise 0.',
    labels: [],
  },
  checkHealthy: {
    name: 'attestry_check_healthy',
    type: 'gauge',
    help: '1 while a check of `/health/ready` passes or is still catching up, 0 while it fails.',
    labels: ['check'],
  },
  httpRequests: {
    name: 'attestry_http_requests_total',
    type: 'counter',
    help: 'HTTP requests that the gateway responded to, except health checks. `operation` is `none` if no operation matches host and path.',
    labels: ['operation', 'status'],
  },
  httpSeconds: {
    name: 'attestry_http_request_duration_seconds',
    type: 'histogram',
    help: 'Time from the head of a request to the last byte of its response.',
    labels: ['operation'],
    buckets: SECONDS,
  },
  rateLimited: {
    name: 'attestry_http_rate_limited_total',
    type: 'counter',
    help: 'Requests rejected with 429 by a rate limit, by the rate class of their operation.',
    labels: ['class'],
  },
  clientTokenFailures: {
    name: 'attestry_client_token_failures_total',
    type: 'counter',
    help: 'Failed token and revocation calls of clients, by status: 401 is an unknown client or a wrong secret, other statuses are malformed calls.',
    labels: ['status'],
  },
  httpRefused: {
    name: 'attestry_http_refused_total',
    type: 'counter',
    help: 'Connections and requests that a limit or the parser of the HTTP server rejected: `connections`, `connections-of-peer`, `requests-in-flight`, `body-bytes-in-flight`, `calls-in-flight`, `unread-bytes` (429), `unread-answers` (ended for others), `timeout`, `malformed` or `method`.',
    labels: ['reason'],
  },
  httpConnections: {
    name: 'attestry_http_connections',
    type: 'gauge',
    help: 'Open connections of the HTTP server.',
    labels: [],
  },
  httpInFlight: {
    name: 'attestry_http_requests_in_flight',
    type: 'gauge',
    help: 'HTTP requests that are not answered completely. Further gateways share them, so autoscalers may use it.',
    labels: [],
  },
  operationsInFlight: {
    name: 'attestry_operations_in_flight',
    type: 'gauge',
    help: 'Operations that the services of this process are handling. Further replicas share them, so autoscalers may use it.',
    labels: [],
  },
  httpUnreadBytes: {
    name: 'attestry_http_unread_bytes',
    type: 'gauge',
    help: 'Bytes of HTTP responses that clients have not read.',
    labels: [],
  },
  operations: {
    name: 'attestry_operations_total',
    type: 'counter',
    help: 'Operations that a service has handled. `outcome` is `ok` or the kind of error.',
    labels: ['operation', 'outcome'],
  },
  operationSeconds: {
    name: 'attestry_operation_duration_seconds',
    type: 'histogram',
    help: 'Duration of the handler of an operation in a service, including reads and appends.',
    labels: ['operation'],
    buckets: SECONDS,
  },
  uncleanEnds: {
    name: 'attestry_unclean_ends_total',
    type: 'counter',
    help: 'Processes that ended without sending their last operation records; the log has the bounds of the gap. At most one second of queries and rejected calls is missing.',
    labels: ['participant'],
  },
  busFailures: {
    name: 'attestry_bus_request_failures_total',
    type: 'counter',
    help: 'Requests to a service without a reply: `no-responder`, `timeout` or `closed`.',
    labels: ['reason'],
  },
  appends: {
    name: 'attestry_appends_total',
    type: 'counter',
    help: 'Appends to streams: `ok`, `conflict` (another append came first), `too-large`, `unavailable` or `error`.',
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
    help: 'Time until an append is durable or rejected.',
    labels: ['store'],
    buckets: SECONDS,
  },
  subscriptionDrops: {
    name: 'attestry_subscription_drops_total',
    type: 'counter',
    help: 'Subscriptions that were dropped because the handler failed, the connection was lost or the subscriber was too slow. They resume at their checkpoint.',
    labels: ['store'],
  },
  lagSeconds: {
    name: 'attestry_lag_seconds',
    type: 'gauge',
    help: 'Age of the oldest event that a projection or reaction has not handled yet, 0 if there is none. Reported only by the lease holder.',
    labels: ['kind', 'name'],
  },
  lagPositions: {
    name: 'attestry_lag_positions',
    type: 'gauge',
    help: 'Positions between the checkpoint of a projection or reaction and the newest event of any category. Only for stores with numeric positions (embedded, PostgreSQL).',
    labels: ['kind', 'name'],
  },
  projectedEvents: {
    name: 'attestry_projected_events_total',
    type: 'counter',
    help: 'Events written by a projection, including rebuilds.',
    labels: ['projection'],
  },
  projectionBatchSeconds: {
    name: 'attestry_projection_batch_duration_seconds',
    type: 'histogram',
    help: 'Time in which a projection writes the rows of a batch, excluding the commit.',
    labels: ['projection'],
    buckets: SECONDS,
  },
  reactionFailures: {
    name: 'attestry_reaction_failures_total',
    type: 'counter',
    help: 'Failed batches of a reaction. Each is retried after a back-off.',
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
    help: 'Time until published messages are durable. One observation per publish call.',
    labels: [],
    buckets: SECONDS,
  },
  feedPublishFailures: {
    name: 'attestry_feed_publish_failures_total',
    type: 'counter',
    help: 'Failed calls to publish to the durable feed.',
    labels: [],
  },
  outboxDelay: {
    name: 'attestry_outbox_delay_seconds',
    type: 'histogram',
    help: 'Time from the occurrence of a domain event until its integration event is on the durable feed.',
    labels: [],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  consumed: {
    name: 'attestry_consumed_messages_total',
    type: 'counter',
    help: 'Messages of the durable feed that a consumer has handled.',
    labels: ['consumer'],
  },
  consumerFailures: {
    name: 'attestry_consumer_failures_total',
    type: 'counter',
    help: 'Batches of messages that a consumer failed to handle. They are redelivered.',
    labels: ['consumer'],
  },
  consumerLag: {
    name: 'attestry_consumer_lag_seconds',
    type: 'gauge',
    help: 'Age of the oldest message that a consumer has received and not acknowledged, from its event time or else its first delivery; 0 if there is none.',
    labels: ['consumer'],
  },
  leaseHeld: {
    name: 'attestry_lease_held',
    type: 'gauge',
    help: '1 in the process that holds a lease, 0 in processes on standby.',
    labels: ['lease'],
  },
  leaseAcquired: {
    name: 'attestry_lease_acquired_total',
    type: 'counter',
    help: 'Number of times this process has acquired a lease.',
    labels: ['lease'],
  },
  webhookQueue: {
    name: 'attestry_webhook_queue_deliveries',
    type: 'gauge',
    help: 'Unfinished webhook deliveries: `due` now, or `waiting` for their next attempt. Reported only by the holder of the sender lease.',
    labels: ['state'],
  },
  webhookOldestDue: {
    name: 'attestry_webhook_oldest_due_seconds',
    type: 'gauge',
    help: 'How long the oldest due webhook delivery has been due.',
    labels: [],
  },
  webhookAttempts: {
    name: 'attestry_webhook_attempts_total',
    type: 'counter',
    help: 'Webhook delivery attempts: `delivered` (2xx), `redirect`, `refused` (4xx), `failed` (5xx), `timeout`, `target-refused`, `unreachable` or `key-missing`.',
    labels: ['outcome'],
  },
  webhookSeconds: {
    name: 'attestry_webhook_attempt_duration_seconds',
    type: 'histogram',
    help: 'Duration of a webhook delivery attempt, from signing to the response.',
    labels: [],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  mainThreadBlock: {
    name: 'attestry_main_thread_block_seconds',
    type: 'histogram',
    help: 'CPU time of the main thread between two ticks of a 20 ms timer. Above 0.025 s, a task blocked other requests.',
    labels: [],
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  budgetRefusals: {
    name: 'attestry_budget_refusals_total',
    type: 'counter',
    help: 'Calls rejected with 429 because a limit on e-mails, webhook requests or sign-ins with one offer was exceeded: `mailbox`, `tenant-mails`, `webhook-tests`, `webhook-requests` or `offer-sign-ins`.',
    labels: ['budget'],
  },
  writtenBytesRefusals: {
    name: 'attestry_written_bytes_refusals_total',
    type: 'counter',
    help: 'Calls rejected with 429 because their tenant wrote more bytes than it may in a `minute` or a `day`.',
    labels: ['period'],
  },
  signInAttempts: {
    name: 'attestry_sign_in_attempts_total',
    type: 'counter',
    help: 'Sign-in attempts with a password at the built-in sign-in: `ok`, `wrong`, or rejected because an hourly limit of failed attempts was exceeded: `address`, `account` (all unknown browsers together), `device` or `link`.',
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
    help: 'Canonicalizations that exceeded their deadline of 5 s. The worker thread was terminated and replaced.',
    labels: [],
  },
  scrapeFailures: {
    name: 'attestry_scrape_failures_total',
    type: 'counter',
    help: 'Metric values that could not be collected in time for a scrape. The scrape contains all other values.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricKey = keyof typeof METRICS;
