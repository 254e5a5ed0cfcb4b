import { onPostgres } from '@attestry/testing';

await onPostgres('dids', async () => {
  await import('./dids.int.spec.js');
  await import('./did-lists/did-lists.int.spec.js');
  await import('./forgotten-tenants.int.spec.js');
  await import('./repeats.int.spec.js');
});
