import { base62 } from '@attestry/keys';

/** A client id of 32 characters and a secret of 64, from the system's generator; the secret is shown once. */
export const newClientCredentials = (): { clientId: string; clientSecret: string } => ({
  clientId: base62(32),
  clientSecret: base62(64),
});
