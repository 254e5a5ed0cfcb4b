import type { OperationContext } from '@attestry/contracts';
import { base62 } from '@attestry/keys';
import { bytesFor } from '@attestry/service-kit';

/** A client id of 32 characters and a secret of 64, random but the same when the call is retried; the secret is shown once. */
export const newClientCredentials = (
  context: Pick<OperationContext, 'idempotentCall'> = {},
): { clientId: string; clientSecret: string } => ({
  clientId: base62(32, bytesFor(context, 'client id')),
  clientSecret: base62(64, bytesFor(context, 'client secret')),
});
