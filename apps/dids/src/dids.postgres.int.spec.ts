import { onPostgres } from '@attestry/testing';

await onPostgres('dids', () => import('./dids.int.spec.js'));
