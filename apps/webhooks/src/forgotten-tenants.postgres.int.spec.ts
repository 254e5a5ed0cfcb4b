import { onPostgres } from '@attestry/testing';

await onPostgres('forgotten tenants of webhooks', () => import('./forgotten-tenants.int.spec.js'));
