import { conflict, forbidden } from '@attestry/contracts';
import type { ManagementUserEvent } from './management-user.events.js';
import type { ManagementUserState, RegisteredUser } from './management-user.state.js';

/** No events for a known user, invited or registered. */
export const inviteUser = (
  state: ManagementUserState,
  command: { userId: string; sealedEmail: string },
  { now }: { now: string },
): ManagementUserEvent[] =>
  state.status === 'absent' ? [{ type: 'ManagementUserInvited', data: { ...command, invitedAt: now } }] : [];

export interface RegisterCommand {
  userId: string;
  identity: string;
  sealedEmail?: string;
  sealedName?: string;
}

/** Once; a retry changes nothing. @throws conflict for the user of another identity */
export const registerUser = (
  state: ManagementUserState,
  command: RegisterCommand,
  { now }: { now: string },
): ManagementUserEvent[] => {
  if (state.status !== 'registered')
    return [{ type: 'ManagementUserRegistered', data: { ...command, registeredAt: now } }];
  if (state.identity !== command.identity) throw conflict('The user has another identity');
  return [];
};

/** The gateway admits only registered users; otherwise this would be a 403. */
export const registered = (state: ManagementUserState): RegisteredUser => {
  if (state.status !== 'registered') throw forbidden('The caller is not a registered user');
  return state;
};

export const takeEmail = (state: ManagementUserState, command: { sealedEmail: string }): ManagementUserEvent[] => [
  { type: 'ManagementUserEmailChanged', data: { userId: registered(state).id, ...command } },
];

export const nameUser = (state: ManagementUserState, command: { sealedName: string }): ManagementUserEvent[] => [
  { type: 'ManagementUserNamed', data: { userId: registered(state).id, ...command } },
];
