import { onPostgres } from '@attestry/testing';

await onPostgres('forgotten tenants of dids', () => import('./forgotten-tenants.int.spec.js'));
