import { onPostgres } from '@attestry/testing';

if (onPostgres('management')) await import('./management.int.spec.js');
