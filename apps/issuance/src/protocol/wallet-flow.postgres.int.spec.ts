import { onPostgres } from '@attestry/testing';

if (onPostgres('wallet-flow')) await import('./wallet-flow.int.spec.js');
