import { onPostgres } from '@attestry/testing';

await onPostgres('webhooks', () => import('./webhooks.int.spec.js'));
