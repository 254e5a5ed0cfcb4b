import { onPostgres } from '@attestry/testing';

await onPostgres('analytics', async () => {
  await import('./analytics.int.spec.js');
  await import('./select-events.int.spec.js');
});
