/**
 * People of a tenant. One who began with an offer that keeps nothing has no event until something changes (ADR 0071). Claims are sealed JSON under the user's own data key (purpose `user`, key id = user id); a user
 * without claims has no key yet (ADR 0058).
 */
export type UserEvent =
  | {
      type: 'UserCreated';
      data: {
        userId: string;
        sealedClaims?: string;
        createdAt: string;
      };
    }
  /** The person at the tenant's authentication provider: JSON of a `UserLink`, sealed like claims. */
  | { type: 'UserLinked'; data: { sealedLink: string } }
  | { type: 'UserClaimsReplaced'; data: { sealedClaims: string } }
  /** `destroyedKeys`: ids of the data keys destroyed with the user, the user's own and those of their sessions. */
  | { type: 'UserDeleted'; data: { userId: string; destroyedKeys: string[] } }
  /** The offer that the user began with ended before a credential was issued. */
  | { type: 'UserExpired'; data: { userId: string } };
