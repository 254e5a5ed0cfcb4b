import { onPostgres } from '@attestry/testing';

await onPostgres('management', async () => {
  await import('./management.int.spec.js');
  await import('./people.int.spec.js');
  await import('./purge-tenants.int.spec.js');
  await import('./repeats.int.spec.js');
});
