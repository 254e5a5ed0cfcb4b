import { onPostgres } from '@attestry/testing';

await onPostgres('authentication providers', () => import('./authentication-provider.int.spec.js'));
