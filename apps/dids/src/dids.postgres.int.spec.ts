import { onPostgres } from '@attestry/testing';

if (onPostgres('dids')) await import('./dids.int.spec.js');
