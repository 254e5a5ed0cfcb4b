import {
  createWebhook,
  deleteWebhook,
  listWebhookAttempts,
  listWebhooks,
  redeliverWebhookAttempt,
  retrieveWebhook,
  retrieveWebhookKeys,
  rotateWebhookKeys,
  testWebhook,
  updateWebhook,
} from '@attestry/contracts';
import { command, query } from '@attestry/service-kit';
import { CreateWebhook } from './create-webhook/create-webhook.js';
import { DeleteWebhook } from './delete-webhook/delete-webhook.js';
import { ListAttempts } from './list-attempts/list-attempts.js';
import { ListWebhooks } from './list-webhooks/list-webhooks.js';
import { RedeliverAttempt } from './redeliver-attempt/redeliver-attempt.js';
import { RetrieveWebhookKeys } from './retrieve-webhook-keys/retrieve-webhook-keys.js';
import { RetrieveWebhook } from './retrieve-webhook/retrieve-webhook.js';
import { RotateKeys } from './rotate-keys/rotate-keys.js';
import { TestWebhook } from './test-webhook/test-webhook.js';
import { UpdateWebhook } from './update-webhook/update-webhook.js';

export const webhooksEndpoints = [
  command(createWebhook, CreateWebhook),
  query(listWebhooks, ListWebhooks),
  query(retrieveWebhook, RetrieveWebhook),
  command(updateWebhook, UpdateWebhook),
  command(deleteWebhook, DeleteWebhook),
  command(testWebhook, TestWebhook),
  query(listWebhookAttempts, ListAttempts),
  command(redeliverWebhookAttempt, RedeliverAttempt),
  query(retrieveWebhookKeys, RetrieveWebhookKeys),
  command(rotateWebhookKeys, RotateKeys),
];
