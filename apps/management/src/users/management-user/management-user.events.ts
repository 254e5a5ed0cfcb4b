/**
 * People of the management API. E-mail and name are sealed under the person's own data key (owner `platform`, purpose
 * `user`, key id = user id; ADR 0058).
 */
export type ManagementUserEvent =
  /** Known only by e-mail, from an invitation. */
  | { type: 'ManagementUserInvited'; data: { userId: string; sealedEmail: string; invitedAt: string } }
  /** `identity`: MAC of issuer and subject, see user-identity.claim.ts. */
  | {
      type: 'ManagementUserRegistered';
      data: { userId: string; identity: string; sealedEmail?: string; sealedName?: string; registeredAt: string };
    }
  /** A provider has verified another e-mail. */
  | { type: 'ManagementUserEmailChanged'; data: { userId: string; sealedEmail: string } }
  | { type: 'ManagementUserNamed'; data: { userId: string; sealedName: string } };
