import { onPostgres } from '@attestry/testing';

if (onPostgres('webhooks')) await import('./webhooks.int.spec.js');
