import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsBoolean, IsIn, IsString, MaxLength } from 'class-validator';
import { defineOperation, publicAccess, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Normalize, Optional, Unique, Uuid } from '../validators.js';
import { TOLD_EVENTS, type ToldEventName } from './told-events.js';

export const CREDENTIAL_EVENTS = ['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary'] as const;
export type CredentialEvent = (typeof CREDENTIAL_EVENTS)[number];
export const isCredentialEvent = (name: WebhookEventType): name is CredentialEvent =>
  (CREDENTIAL_EVENTS as readonly string[]).includes(name);

export type WebhookEvent = CredentialEvent | ToldEventName;
export const WEBHOOK_EVENTS: readonly WebhookEvent[] = [
  ...CREDENTIAL_EVENTS,
  ...(Object.keys(TOLD_EVENTS) as ToldEventName[]),
];
/** Sent when somebody asks for it, to a webhook whatever it subscribed to. */
export const TEST_EVENT = 'WebhookTested';
export type WebhookEventType = WebhookEvent | typeof TEST_EVENT;

export class WebhookRequest {
  @IsArray({ message: 'must be an array' })
  @ArrayNotEmpty({ message: 'must not be empty' })
  @ArrayMaxSize(WEBHOOK_EVENTS.length, { message: `must have at most ${WEBHOOK_EVENTS.length} entries` })
  @Unique({ message: 'must not repeat an event' })
  @IsIn(WEBHOOK_EVENTS, { each: true, message: `must be known events: ${WEBHOOK_EVENTS.join(', ')}` })
  events: WebhookEvent[];

  /** https, no IP literal, no query or fragment; the rule is decided in the service. */
  @IsString({ message: 'must be a string' })
  @MaxLength(2048, { message: 'must have at most 2048 characters' })
  url: string;

  /** Default false; on update absent, or null, keeps the current value. */
  @Normalize((value) => value ?? undefined)
  @Optional()
  @IsBoolean({ message: 'must be a boolean' })
  disabled?: boolean;
}

export class Webhook {
  id: string;
  events: WebhookEvent[];
  url: string;
  disabled: boolean;
}

export class WebhookParams {
  @Uuid() webhookId: string;
}

/** What a delivery tells of: `event` in its body, without the payload. */
export class WebhookEventReference {
  /** Constant over all deliveries of the event. */
  id: string;
  type: WebhookEventType;
  timestamp: string;
}

export class WebhookDelivery {
  webhookId: string;
  event: WebhookEventReference;
}

/** A request that went to a webhook's URL. */
export class WebhookAttempt extends WebhookDelivery {
  /** As in the body of the delivery. */
  deliveryId: string;
  /** From 1; begins again when the event is redelivered. */
  attempt: number;
  status: 'Started' | 'Delivered' | 'Failed';
  /** What the target answered, if it did. */
  httpStatus?: number;
  /** Why there was no answer, in one word: `timeout`, `ECONNREFUSED`, `target-refused`, `interrupted` and so on. */
  error?: string;
  startedAt: string;
  endedAt?: string;
  /** Absent when there will be none. */
  nextAttemptAt?: string;
  /** Why the attempt that was to follow never came. */
  cancelled?: 'webhook-disabled' | 'webhook-deleted' | 'credential-erased' | 'user-deleted';
}

export class WebhookAttemptParams extends WebhookParams {
  @Uuid() deliveryId: string;
}

export class WebhookKeySet {
  /** `kty` OKP, `crv` Ed25519, `use` sig, `kid`, `x`. */
  keys: Record<string, unknown>[];
}

export class PreviousWebhookKey {
  kid: string;
  /** In the key set until then; its last signature is much older. */
  publishedUntil: string;
}

export class WebhookKeyRotation {
  /** Of the new key, in the key set from now on. */
  kid: string;
  signsFrom: string;
  previous: PreviousWebhookKey;
}

const errors = 'tenant' as const;
const category = 'webhook';

export const createWebhook = defineOperation({
  name: 'webhooks.create-webhook',
  summary: 'Subscribe a URL to events',
  http: { method: 'POST', path: '/v1/webhooks', success: 201 },
  access: requires('webhooks:create'),
  analytics: { prefix: 'WEBHOOK_CREATE', category },
  errors,
  body: WebhookRequest,
  response: Webhook,
  errorStatuses: [400, 401, 403],
  idempotent: true,
});

export const listWebhooks = defineOperation({
  name: 'webhooks.list-webhooks',
  summary: 'Retrieve webhooks',
  http: { method: 'GET', path: '/v1/webhooks', success: 200 },
  access: requires('webhooks:read'),
  analytics: { prefix: 'WEBHOOK_RETRIEVE_LIST', category },
  errors,
  query: PageQuery,
  response: [Webhook],
  errorStatuses: [400, 401, 403],
});

export const retrieveWebhook = defineOperation({
  name: 'webhooks.retrieve-webhook',
  summary: 'Retrieve a webhook',
  http: { method: 'GET', path: '/v1/webhooks/:webhookId', success: 200 },
  access: requires('webhooks:read'),
  analytics: { prefix: 'WEBHOOK_RETRIEVE', category },
  errors,
  params: WebhookParams,
  response: Webhook,
  errorStatuses: [400, 401, 403, 404],
});

export const updateWebhook = defineOperation({
  name: 'webhooks.update-webhook',
  summary: 'Replace a webhook',
  http: { method: 'PUT', path: '/v1/webhooks/:webhookId', success: 200 },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_UPDATE', category },
  errors,
  params: WebhookParams,
  body: WebhookRequest,
  response: Webhook,
  errorStatuses: [400, 401, 403, 404],
});

export const deleteWebhook = defineOperation({
  name: 'webhooks.delete-webhook',
  summary: 'Delete a webhook; pending attempts are cancelled',
  http: { method: 'DELETE', path: '/v1/webhooks/:webhookId', success: 204 },
  access: requires('webhooks:delete'),
  analytics: { prefix: 'WEBHOOK_DELETE', category },
  errors,
  params: WebhookParams,
  errorStatuses: [400, 401, 403, 404],
});

export const testWebhook = defineOperation({
  name: 'webhooks.test-webhook',
  summary: 'Send a test event to a webhook',
  http: { method: 'POST', path: '/v1/webhooks/:webhookId/test', success: 202, body: 'none' },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_TEST', category },
  errors,
  params: WebhookParams,
  response: WebhookDelivery,
  errorStatuses: [400, 401, 403, 404, 409],
});

export const listWebhookAttempts = defineOperation({
  name: 'webhooks.list-attempts',
  summary: 'Retrieve the attempts of the last 30 days to deliver to a webhook, newest first',
  http: { method: 'GET', path: '/v1/webhooks/:webhookId/attempts', success: 200 },
  access: requires('webhooks:read'),
  analytics: { prefix: 'WEBHOOK_ATTEMPT_RETRIEVE_LIST', category },
  errors,
  params: WebhookParams,
  query: PageQuery,
  response: [WebhookAttempt],
  errorStatuses: [400, 401, 403, 404],
});

export const redeliverWebhookAttempt = defineOperation({
  name: 'webhooks.redeliver-attempt',
  summary: 'Deliver the event of an attempt again, while its body is kept',
  http: {
    method: 'POST',
    path: '/v1/webhooks/:webhookId/attempts/:deliveryId/redeliver',
    success: 202,
    body: 'none',
  },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_ATTEMPT_REDELIVER', category },
  errors,
  params: WebhookAttemptParams,
  response: WebhookDelivery,
  errorStatuses: [400, 401, 403, 404, 409],
});

export const rotateWebhookKeys = defineOperation({
  name: 'webhooks.rotate-keys',
  summary: 'Replace the key that signs webhooks; the old one stays published for its overlap',
  http: { method: 'POST', path: '/v1/webhooks/jwks/rotate', success: 200, body: 'none' },
  access: requires('webhooks:update'),
  analytics: { prefix: 'WEBHOOK_KEY_ROTATE', category },
  errors,
  response: WebhookKeyRotation,
  errorStatuses: [401, 403, 404],
});

export const retrieveWebhookKeys = defineOperation({
  name: 'webhooks.retrieve-webhook-keys',
  summary: 'Key set that verifies webhook signatures',
  http: { method: 'GET', path: '/v1/webhooks/jwks', success: 200, cacheControl: 'public, max-age=300' },
  access: publicAccess,
  errors,
  response: WebhookKeySet,
});
