import { onPostgres } from '@attestry/testing';

await onPostgres('people', () => import('./people.int.spec.js'));
