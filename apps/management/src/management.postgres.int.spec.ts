import { onPostgres } from '@attestry/testing';

await onPostgres('management', () => import('./management.int.spec.js'));
