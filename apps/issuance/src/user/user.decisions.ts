import { invalid, notFound, MAX_CLAIMS_BYTES, type CreateUserRequest, type ErrorDetail } from '@attestry/contracts';
import type { UserEvent } from './user.events.js';
import type { UserState } from './user.state.js';

export type ActiveUser = Extract<UserState, { status: 'active' }>;

/** @throws AppError 400; claim values are never in the details. `claimsBytes`: length of `claims` as JSON, UTF-8 */
export const checkUser = (request: CreateUserRequest, claimsBytes: number): void => {
  const details: ErrorDetail[] = [];
  if (claimsBytes > MAX_CLAIMS_BYTES)
    details.push({ msg: 'must be at most 64 KiB of JSON', param: 'claims', location: 'body' });
  if (request.authenticationProvider !== undefined && request.authenticationProvider !== null)
    details.push({ msg: 'is set by signing in there alone', param: 'authenticationProvider', location: 'body' });
  if (details.length) throw invalid(...details);
};

export const createUser = (
  state: UserState,
  command: { userId: string; sealedClaims?: string; sealedLink?: string; createdAt: Date },
): UserEvent[] => {
  if (state.status !== 'absent') throw new Error(`user ${command.userId} exists already`);
  return [
    {
      type: 'UserCreated',
      data: {
        userId: command.userId,
        ...(command.sealedClaims !== undefined && { sealedClaims: command.sealedClaims }),
        createdAt: command.createdAt.toISOString(),
      },
    },
    ...(command.sealedLink === undefined ? [] : [linked(command.sealedLink)]),
  ];
};

const linked = (sealedLink: string): UserEvent => ({ type: 'UserLinked', data: { sealedLink } });

/** What a sign-in tells anew of somebody who is known: what of it changed. */
export const signIn = (state: UserState, changed: { sealedClaims?: string; sealedLink?: string }): UserEvent[] => {
  activeUser(state);
  return [
    ...(changed.sealedLink === undefined ? [] : [linked(changed.sealedLink)]),
    ...(changed.sealedClaims === undefined ? [] : replaceUserClaims(state, { sealedClaims: changed.sealedClaims })),
  ];
};

export const activeUser = (state: UserState): ActiveUser => {
  if (state.status !== 'active') throw notFound();
  return state;
};

/** `sealedClaims` are all claims the user has from now on. */
export const replaceUserClaims = (state: UserState, command: { sealedClaims: string }): UserEvent[] => {
  activeUser(state);
  return [{ type: 'UserClaimsReplaced', data: { sealedClaims: command.sealedClaims } }];
};

/** The keys are destroyed already (decision 27); the event tells which, so that a restored key store loses them again. */
export const deleteUser = (state: UserState, command: { destroyedKeys: string[] }): UserEvent[] => {
  const { id } = activeUser(state);
  return [{ type: 'UserDeleted', data: { userId: id, destroyedKeys: command.destroyedKeys } }];
};
