import type { ServiceDefinition } from '@attestry/service-kit';
import { attemptsProjection } from './webhook-lists/attempts.projection.js';
import { keysProjection } from './webhook-keys/keys.projection.js';
import { WebhooksModule } from './webhooks.module.js';
import { PUBLISHED } from './webhooks.reactions.js';
import { webhooksProjection } from './webhook-lists/webhooks.projection.js';

export const webhooksService: ServiceDefinition = {
  name: 'webhooks',
  needs: ['domain', 'keys'],
  publishes: PUBLISHED.map(({ category }) => category),
  module: WebhooksModule,
  projections: [
    { projection: webhooksProjection, follows: 'domain' },
    { projection: attemptsProjection, follows: 'domain' },
    { projection: keysProjection, follows: 'domain' },
  ],
};
