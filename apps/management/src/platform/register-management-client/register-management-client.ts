import type { Clock, Ids, Streams } from '@attestry/event-store';
import { PLATFORM, type Macs } from '@attestry/keys';
import { serviceContext } from '@attestry/service-kit';
import { newClientCredentials } from '../client-credentials/client-credentials.js';
import { configureClient, registerClient } from '../management-client/management-client.decisions.js';
import {
  isManagementClientId,
  managementClient,
  managementClientStream,
  MAX_MANAGEMENT_CLIENT_ID,
} from '../management-client/management-client.state.js';
import { secretDigest } from '../client-credentials/secret-digest.js';

export interface ManagementClientCredentials {
  clientId: string;
  clientSecret: string;
}

/** Source of the registration: a `request` for a new client, or the `configuration`, whose secret replaces an older one. */
export type RegistrationSource = 'request' | 'configuration';

/**
 * Registers a management client of which only the secret's digest is known.
 * @throws conflict when another client has the id and the source is a `request`; Error for an impossible id
 */
export const registerManagementClientDigest = async (
  streams: Streams,
  macs: Macs,
  ids: Ids,
  clock: Clock,
  client: { clientId: string; name: string; digest: string },
  source: RegistrationSource,
): Promise<void> => {
  const { clientId, name, digest } = client;
  if (!isManagementClientId(clientId))
    throw new Error(`the id of a management client must have 1 to ${MAX_MANAGEMENT_CLIENT_ID} well-formed characters`);
  const decide = source === 'configuration' ? configureClient : registerClient;
  await streams.runDecision(
    managementClient,
    managementClientStream(clientId),
    (state) =>
      decide(
        state,
        { clientId, name },
        {
          secretMac: macs.mac(digest, clientId),
          sameSecret: state.status === 'active' && macs.verifyMac(digest, state.secretMac, clientId),
          now: clock.now().toISOString(),
        },
      ),
    serviceContext('management.register-management-client', PLATFORM, ids.uuid()),
  );
};

/**
 * Registers a management client; id (32 characters) and secret (64) are generated where they are not given. A retry with the same id and
 * secret changes nothing.
 * @throws conflict when the id is registered with another secret
 */
export const registerManagementClient = async (
  streams: Streams,
  macs: Macs,
  ids: Ids,
  clock: Clock,
  { name, clientId, secret }: { name: string; clientId?: string; secret?: string },
): Promise<ManagementClientCredentials> => {
  const made = newClientCredentials();
  const credentials = { clientId: clientId ?? made.clientId, clientSecret: secret ?? made.clientSecret };
  const digest = secretDigest(credentials.clientSecret);
  await registerManagementClientDigest(
    streams,
    macs,
    ids,
    clock,
    { clientId: credentials.clientId, name, digest },
    'request',
  );
  return credentials;
};
