import { onPostgres } from '@attestry/testing';

await onPostgres('custom domain', () => import('./custom-domain.int.spec.js'));
