import { invalid, notFound, MAX_CLAIMS_BYTES, type CreateUserRequest, type ErrorDetail } from '@attestry/contracts';
import type { UserEvent } from './user.events.js';
import type { UserState } from './user.state.js';

export type ActiveUser = Extract<UserState, { status: 'active' }>;

/** @throws AppError 400; details never contain claim values. `claimsBytes`: length of `claims` as JSON, UTF-8 */
export const checkUser = (request: CreateUserRequest, claimsBytes: number): void => {
  const details: ErrorDetail[] = [];
  if (claimsBytes > MAX_CLAIMS_BYTES)
    details.push({ msg: 'must be at most 384 KiB of JSON', param: 'claims', location: 'body' });
  if (request.authenticationProvider !== undefined && request.authenticationProvider !== null)
    details.push({
      msg: 'is read-only; it is set when the user signs in with the provider',
      param: 'authenticationProvider',
      location: 'body',
    });
  if (details.length) throw invalid(...details);
};

export const createUser = (
  state: UserState,
  command: { userId: string; sealedClaims?: string; createdAt: Date },
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
  ];
};

export interface SignIn {
  userId: string;
  /** Only what is new for the user. */
  sealedLink?: string;
  sealedClaims?: string;
  signedInAt: Date;
}

/** A person signs in at the tenant's authentication provider: an unknown one becomes a user. No events for a deleted user. */
export const signIn = (state: UserState, { userId, sealedLink, sealedClaims, signedInAt }: SignIn): UserEvent[] => {
  if (state.status === 'deleted' || state.status === 'expired') return [];
  const linked: UserEvent[] = sealedLink === undefined ? [] : [{ type: 'UserLinked', data: { sealedLink } }];
  const claims = sealedClaims === undefined ? {} : { sealedClaims };
  if (state.status === 'absent') return [...createUser(state, { userId, ...claims, createdAt: signedInAt }), ...linked];
  return [...linked, ...(sealedClaims === undefined ? [] : replaceUserClaims(state, { sealedClaims }))];
};

export const activeUser = (state: UserState): ActiveUser => {
  if (state.status !== 'active') throw notFound();
  return state;
};

/** The events before the first change of a user who began with an offer. */
const beginStream = ({ fromOffer, id: userId, createdAt }: ActiveUser): UserEvent[] =>
  fromOffer ? [{ type: 'UserCreated', data: { userId, createdAt } }] : [];

/** Another offer names the user, who therefore no longer ends with the offer that they began with. */
export const keepUser = (state: UserState): UserEvent[] => beginStream(activeUser(state));

/** `sealedClaims` are all claims that the user has from now on. */
export const replaceUserClaims = (state: UserState, command: { sealedClaims: string }): UserEvent[] => [
  ...beginStream(activeUser(state)),
  { type: 'UserClaimsReplaced', data: { sealedClaims: command.sealedClaims } },
];

/** The keys are destroyed already (ADR 0058); the event names them, so that they are destroyed again after a restore of the key store. */
export const deleteUser = (state: UserState, command: { destroyedKeys: string[] }): UserEvent[] => {
  const known = activeUser(state);
  return [
    ...beginStream(known),
    { type: 'UserDeleted', data: { userId: known.id, destroyedKeys: command.destroyedKeys } },
  ];
};

/** The offer that the user began with ended unclaimed. A user with events of their own stays. */
export const expireUser = (state: UserState, userId: string): UserEvent[] =>
  state.status === 'absent' ? [{ type: 'UserExpired', data: { userId } }] : [];
