import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsBoolean, IsIn } from 'class-validator';
import { defineOperation, publicAccess, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Normalize, Optional, ServiceUrl, Unique, Uuid } from '../validators.js';
import { WEBHOOK_EVENT_SOURCES, type WebhookEventName } from './webhook-events.js';

export const CREDENTIAL_EVENTS = ['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary'] as const;
export type CredentialEvent = (typeof CREDENTIAL_EVENTS)[number];
export const isCredentialEvent = (name: WebhookEventType): name is CredentialEvent =>
  (CREDENTIAL_EVENTS as readonly string[]).includes(name);

export type WebhookEvent = CredentialEvent | WebhookEventName;
export const WEBHOOK_EVENTS: readonly WebhookEvent[] = [
  ...CREDENTIAL_EVENTS,
  ...(Object.keys(WEBHOOK_EVENT_SOURCES) as WebhookEventName[]),
];
/** Sent on request, to any webhook regardless of its subscription. */
export const TEST_EVENT = 'WebhookTested';
export type WebhookEventType = WebhookEvent | typeof TEST_EVENT;

export class WebhookRequest {
  /** Event types to subscribe to. */
  @IsArray({ message: 'must be an array' })
  @ArrayNotEmpty({ message: 'must not be empty' })
  @ArrayMaxSize(WEBHOOK_EVENTS.length, { message: `must have at most ${WEBHOOK_EVENTS.length} entries` })
  @Unique({ message: 'must not repeat an event' })
  @IsIn(WEBHOOK_EVENTS, { each: true, message: `must contain only: ${WEBHOOK_EVENTS.join(', ')}` })
  events: WebhookEvent[];

  /** https URL with a host name (no IP address) and without query and fragment. */
  @ServiceUrl() url: string;

  /** True to stop deliveries. Default false. If an update omits it or sends null, the value does not change. */
  @Normalize((value) => value ?? undefined)
  @Optional()
  @IsBoolean({ message: 'must be a boolean' })
  disabled?: boolean | null;
}

export class Webhook {
  id: string;
  events: WebhookEvent[];
  url: string;
  disabled: boolean;
}

export class WebhookParams {
  /** Id of the webhook. */
  @Uuid() webhookId: string;
}

/** Member `event` of a delivery's body, without its payload. */
export class WebhookEventReference {
  /** UUID of the event, the same in all its deliveries. */
  id: string;
  type: WebhookEventType;
  timestamp: string;
}

export class WebhookDelivery {
  webhookId: string;
  event: WebhookEventReference;
}

/** Attempt to deliver an event to the URL of a webhook. */
export class WebhookAttempt extends WebhookDelivery {
  /** `deliveryId` in the body of the request. It is different for each attempt. */
  deliveryId: string;
  /** Number of the attempt, from 1. Starts again at 1 if the event is redelivered. */
  attempt: number;
  status: 'Started' | 'Delivered' | 'Failed';
  /** Status of the target's response. Absent if there was none. */
  httpStatus?: number;
  /** Reason for the missing response, for example `timeout`, `ECONNREFUSED`, `target-refused` or `interrupted`. */
  error?: string;
  startedAt: string;
  endedAt?: string;
  /** Time of the next attempt. Absent if none is scheduled. */
  nextAttemptAt?: string;
  /** Reason for which further attempts were cancelled. */
  cancelled?: 'webhook-disabled' | 'webhook-deleted' | 'credential-erased' | 'user-deleted';
}

export class WebhookAttemptParams extends WebhookParams {
  /** Id of the delivery attempt, from `GET /v1/webhooks/{webhookId}/attempts`. */
  @Uuid() deliveryId: string;
}

export class WebhookKeySet {
  /** Public JWKs with `kty` OKP, `crv` Ed25519, `use` sig, `kid` and `x`. */
  keys: Record<string, unknown>[];
}

export class PreviousWebhookKey {
  kid: string;
  /** End of its publication in the key set, long after its last signature. */
  publishedUntil: string;
}

export class WebhookKeyRotation {
  /** `kid` of the new key, which the key set now contains. */
  kid: string;
  /** Time from which the new key signs. */
  signsFrom: string;
  /** The key that signs until then. */
  previous: PreviousWebhookKey;
}

const category = 'webhook';

const EXAMPLE: WebhookRequest = {
  events: ['OpenIdCredentialIssuedSummary'],
  url: 'https://hooks.university.example/credentials',
};

export const createWebhook = defineOperation({
  name: 'webhooks.create-webhook',
  summary: 'Create a webhook that delivers events to a URL',
  http: { method: 'POST', path: '/v1/webhooks', success: 201 },
  access: requires('webhooks:create'),
  analytics: { prefix: 'WEBHOOK_CREATE', category, object: { type: 'webhook', from: 'stream' } },
  body: WebhookRequest,
  example: EXAMPLE,
  resource: Webhook,
  response: Webhook,
  errorStatuses: [400],
  idempotent: true,
});

export const listWebhooks = defineOperation({
  name: 'webhooks.list-webhooks',
  summary: 'Retrieve the webhooks of the tenant',
  http: { method: 'GET', path: '/v1/webhooks', success: 200 },
  access: requires('webhooks:read'),
  analytics: { prefix: 'WEBHOOK_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [Webhook],
  errorStatuses: [400],
});

export const retrieveWebhook = defineOperation({
  name: 'webhooks.retrieve-webhook',
  summary: 'Retrieve a webhook',
  http: { method: 'GET', path: '/v1/webhooks/:webhookId', success: 200 },
  access: requires('webhooks:read'),
  analytics: { prefix: 'WEBHOOK_RETRIEVE', category, object: { type: 'webhook', from: 'params.webhookId' } },
  params: WebhookParams,
  response: Webhook,
  errorStatuses: [400, 404],
});

export const updateWebhook = defineOperation({
  name: 'webhooks.update-webhook',
  summary: 'Replace a webhook',
  http: { method: 'PUT', path: '/v1/webhooks/:webhookId', success: 200 },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_UPDATE', category, object: { type: 'webhook', from: 'params.webhookId' } },
  params: WebhookParams,
  body: WebhookRequest,
  example: EXAMPLE,
  response: Webhook,
  errorStatuses: [400, 404],
});

export const deleteWebhook = defineOperation({
  name: 'webhooks.delete-webhook',
  summary: 'Delete a webhook',
  description: 'Cancels its pending delivery attempts.',
  http: { method: 'DELETE', path: '/v1/webhooks/:webhookId', success: 204 },
  access: requires('webhooks:delete'),
  analytics: { prefix: 'WEBHOOK_DELETE', category, object: { type: 'webhook', from: 'params.webhookId' } },
  params: WebhookParams,
  errorStatuses: [400, 404],
});

export const testWebhook = defineOperation({
  name: 'webhooks.test-webhook',
  summary: 'Send a test event to a webhook',
  description: 'Returns 409 if the webhook is disabled.',
  http: { method: 'POST', path: '/v1/webhooks/:webhookId/test', success: 202, body: 'none' },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_TEST', category, object: { type: 'webhook', from: 'params.webhookId' } },
  params: WebhookParams,
  response: WebhookDelivery,
  errorStatuses: [400, 404, 409],
});

export const listWebhookAttempts = defineOperation({
  name: 'webhooks.list-attempts',
  operationId: 'listWebhookAttempts',
  summary: 'Retrieve the delivery attempts of a webhook in the last 30 days, newest first',
  http: { method: 'GET', path: '/v1/webhooks/:webhookId/attempts', success: 200 },
  access: requires('webhooks:read'),
  analytics: { prefix: 'WEBHOOK_ATTEMPT_RETRIEVE_LIST', category },
  params: WebhookParams,
  query: PageQuery,
  response: [WebhookAttempt],
  errorStatuses: [400, 404],
});

export const redeliverWebhookAttempt = defineOperation({
  name: 'webhooks.redeliver-attempt',
  operationId: 'redeliverWebhookAttempt',
  summary: 'Redeliver the event of a delivery attempt',
  description:
    'Returns 409 while the event is still being delivered or the webhook is disabled, and 400 if the credential of the event is no longer stored.',
  http: {
    method: 'POST',
    path: '/v1/webhooks/:webhookId/attempts/:deliveryId/redeliver',
    success: 202,
    body: 'none',
  },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_ATTEMPT_REDELIVER', category, object: { type: 'webhook', from: 'params.webhookId' } },
  params: WebhookAttemptParams,
  response: WebhookDelivery,
  errorStatuses: [400, 404, 409],
});

export const rotateWebhookKeys = defineOperation({
  name: 'webhooks.rotate-keys',
  operationId: 'rotateWebhookKeys',
  summary: 'Rotate the key that signs webhooks',
  description: 'The previous key stays in the key set until `publishedUntil`.',
  http: { method: 'POST', path: '/v1/webhooks/jwks/rotate', success: 200, body: 'none' },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_KEY_ROTATE', category, object: { type: 'webhook-key', from: 'event.keyId' } },
  response: WebhookKeyRotation,
  errorStatuses: [404],
});

export const retrieveWebhookKeys = defineOperation({
  name: 'webhooks.retrieve-webhook-keys',
  summary: 'Retrieve the key set that verifies webhook signatures',
  http: { method: 'GET', path: '/v1/webhooks/jwks', success: 200, document: true, cacheControl: 'public, max-age=300' },
  access: publicAccess,
  response: WebhookKeySet,
});
