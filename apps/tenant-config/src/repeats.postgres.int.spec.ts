import { onPostgres } from '@attestry/testing';

await onPostgres('tenant-config repeats', () => import('./repeats.int.spec.js'));
