import { onPostgres } from '@attestry/testing';

if (onPostgres('analytics')) await import('./analytics.int.spec.js');
