import { ArrayNotEmpty, ArrayUnique, IsArray, IsBoolean, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { defineOperation, publicAccess, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Uuid } from '../validators.js';

export const WEBHOOK_EVENTS = ['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export class WebhookRequest {
  @IsArray({ message: 'must be an array' })
  @ArrayNotEmpty({ message: 'must not be empty' })
  @ArrayUnique({ message: 'must not repeat an event' })
  @IsIn(WEBHOOK_EVENTS, { each: true, message: `must be known events: ${WEBHOOK_EVENTS.join(', ')}` })
  events: WebhookEvent[];

  /** https, no IP literal, no query or fragment; the rule is decided in the service. */
  @IsString({ message: 'must be a string' })
  @MaxLength(2048, { message: 'must have at most 2048 characters' })
  url: string;

  /** Default false; on update absent keeps the current value. */
  @IsOptional() @IsBoolean({ message: 'must be a boolean' }) disabled?: boolean;
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

export class WebhookKeySet {
  /** `kty` OKP, `crv` Ed25519, `use` sig, `kid`, `x`. */
  keys: Record<string, unknown>[];
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

export const retrieveWebhookKeys = defineOperation({
  name: 'webhooks.retrieve-webhook-keys',
  summary: 'Key set that verifies webhook signatures',
  http: { method: 'GET', path: '/v1/webhooks/jwks', success: 200, cacheControl: 'public, max-age=300' },
  access: publicAccess,
  errors,
  response: WebhookKeySet,
});
