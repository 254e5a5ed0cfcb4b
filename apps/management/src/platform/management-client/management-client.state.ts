import type { Aggregate } from '@attestry/event-store';
import type { SecretMac } from '@attestry/keys';
import type { ManagementClientEvent } from './management-client.events.js';

export type ManagementClientState =
  { status: 'absent' } | { status: 'active'; clientId: string; name: string; secretMac: SecretMac };

export const MAX_MANAGEMENT_CLIENT_ID = 128;

/** Configured ids may be any text, and callers send any: an impossible one names no stream. */
export const isManagementClientId = (value: string): boolean =>
  value.length >= 1 && value.length <= MAX_MANAGEMENT_CLIENT_ID && value.isWellFormed();

/** `clientId` as {@link isManagementClientId} allows it; characters beyond letters and digits are percent-encoded. */
export const managementClientStream = (clientId: string): string => `managementClient-${encodeURIComponent(clientId)}`;

const evolve = (state: ManagementClientState, event: ManagementClientEvent): ManagementClientState => {
  switch (event.type) {
    case 'ManagementClientRegistered': {
      const { clientId, name, secretMac } = event.data;
      return { status: 'active', clientId, name, secretMac };
    }
    case 'ManagementClientSecretReplaced':
      return state.status === 'active' ? { ...state, secretMac: event.data.secretMac } : state;
  }
};

export const managementClient: Aggregate<ManagementClientState, ManagementClientEvent> = {
  category: 'managementClient',
  initial: { status: 'absent' },
  types: { ManagementClientRegistered: 1, ManagementClientSecretReplaced: 1 },
  evolve,
};
