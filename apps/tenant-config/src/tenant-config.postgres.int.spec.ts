import { onPostgres } from '@attestry/testing';

await onPostgres('tenant-config', async () => {
  await import('./authentication-provider.int.spec.js');
  await import('./custom-domain.int.spec.js');
  await import('./sign-in.int.spec.js');
  await import('./repeats.int.spec.js');
});
