import { onPostgres } from '@attestry/testing';

if (onPostgres('configurations-and-users')) await import('./configurations-and-users.int.spec.js');
