import { onPostgres } from '@attestry/testing';

await onPostgres('forgotten tenants of issuance', () => import('./forgotten-tenants.int.spec.js'));
