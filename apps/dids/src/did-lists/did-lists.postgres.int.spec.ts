import { onPostgres } from '@attestry/testing';

await onPostgres('lists of DIDs', () => import('./did-lists.int.spec.js'));
