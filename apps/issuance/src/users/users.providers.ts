import { KnownUsers } from './known-users/known-users.js';
import { OfferedUsers } from './offered-users/offered-users.js';
import { UserSearchReadModel } from './user-search/user-search.read-model.js';
import { Erasures } from './user/erasures.js';
import { SignedInUsers } from './user/signed-in-users.js';
import { UserClaims } from './user/user-claims.js';
import { UsersReadModel } from './user/users.read-model.js';

export const usersProviders = [
  KnownUsers,
  UserClaims,
  UsersReadModel,
  UserSearchReadModel,
  Erasures,
  SignedInUsers,
  OfferedUsers,
];
