import { onPostgres } from '@attestry/testing';

await onPostgres('authorization-code', () => import('./authorization-code.int.spec.js'));
