import { onPostgres } from '@attestry/testing';

await onPostgres('purged tenants', () => import('./purge-tenants.int.spec.js'));
