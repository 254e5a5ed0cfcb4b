import type { SecretMac } from '@attestry/keys';

/** Machine callers of the management API. The MAC is over the secret's SHA-256 (base64url), bound to the client id. */
export type ManagementClientEvent =
  | {
      type: 'ManagementClientRegistered';
      data: { clientId: string; name: string; secretMac: SecretMac; registeredAt: string };
    }
  | { type: 'ManagementClientSecretReplaced'; data: { clientId: string; secretMac: SecretMac } };
