import { conflict } from '@attestry/contracts';
import type { SecretMac } from '@attestry/keys';
import type { ManagementClientEvent } from './management-client.events.js';
import type { ManagementClientState } from './management-client.state.js';

export interface RegisterCommand {
  clientId: string;
  name: string;
}
export interface RegisterFacts {
  secretMac: SecretMac;
  /** The given secret is the one already registered. */
  sameSecret: boolean;
  now: string;
}

/** Registers a new client. A retry changes nothing; another secret for a known id is a conflict. */
export const registerClient = (
  state: ManagementClientState,
  { clientId, name }: RegisterCommand,
  { secretMac, sameSecret, now }: RegisterFacts,
): ManagementClientEvent[] => {
  if (state.status === 'absent')
    return [{ type: 'ManagementClientRegistered', data: { clientId, name, secretMac, registeredAt: now } }];
  if (!sameSecret) throw conflict('A management client with this id already exists');
  return [];
};

/** Registers the client that the operator configures: there a new secret replaces the old one, unlike in {@link registerClient}. */
export const configureClient = (
  state: ManagementClientState,
  command: RegisterCommand,
  facts: RegisterFacts,
): ManagementClientEvent[] =>
  state.status === 'active' && !facts.sameSecret
    ? [{ type: 'ManagementClientSecretReplaced', data: { clientId: command.clientId, secretMac: facts.secretMac } }]
    : registerClient(state, command, facts);
