import { onPostgres } from '@attestry/testing';

await onPostgres('repeats and forgotten tenants of webhooks', async () => {
  await import('./forgotten-tenants.int.spec.js');
  await import('./repeats.int.spec.js');
});
