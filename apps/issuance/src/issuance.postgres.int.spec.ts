import { onPostgres } from '@attestry/testing';

await onPostgres('issuance', async () => {
  await import('./configurations-and-users.int.spec.js');
  await import('./list-users/list-users.int.spec.js');
  await import('./protocol/wallet-flow.int.spec.js');
  await import('./protocol/authorization-code.int.spec.js');
  await import('./forgotten-tenants.int.spec.js');
  await import('./repeats.int.spec.js');
});
