import { onPostgres } from '@attestry/testing';

await onPostgres('lists of users', () => import('./list-users.int.spec.js'));
