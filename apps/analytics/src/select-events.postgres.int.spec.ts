import { onPostgres } from '@attestry/testing';

await onPostgres('events by filter', () => import('./select-events.int.spec.js'));
