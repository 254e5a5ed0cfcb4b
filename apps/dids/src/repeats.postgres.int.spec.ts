import { onPostgres } from '@attestry/testing';

await onPostgres('dids repeats', () => import('./repeats.int.spec.js'));
