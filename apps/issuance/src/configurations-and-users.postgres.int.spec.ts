import { onPostgres } from '@attestry/testing';

await onPostgres('configurations-and-users', () => import('./configurations-and-users.int.spec.js'));
