import { onPostgres } from '@attestry/testing';

await onPostgres('webhooks repeats', () => import('./repeats.int.spec.js'));
