import { onPostgres } from '@attestry/testing';

await onPostgres('wallet-flow', () => import('./wallet-flow.int.spec.js'));
