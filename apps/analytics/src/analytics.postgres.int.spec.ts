import { onPostgres } from '@attestry/testing';

await onPostgres('analytics', () => import('./analytics.int.spec.js'));
