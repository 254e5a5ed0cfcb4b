import { onPostgres } from '@attestry/testing';

await onPostgres('management repeats', () => import('./repeats.int.spec.js'));
