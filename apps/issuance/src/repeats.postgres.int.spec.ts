import { onPostgres } from '@attestry/testing';

await onPostgres('issuance repeats', () => import('./repeats.int.spec.js'));
