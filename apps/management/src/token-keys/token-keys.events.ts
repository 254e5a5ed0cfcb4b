/** Which keys sign the access tokens of clients, and until when they are published. The keys themselves are in the vault. */
export type TokenKeysEvent =
  /** The first one; it signs at once. */
  | { type: 'TokenKeyChosen'; data: { keyId: string; chosenAt: string } }
  | {
      /** Published from now on and signing from `signsFrom`; the key before it stays published until `overlapEndsAt`. */
      type: 'TokenKeyRotated';
      data: { keyId: string; previousKeyId: string; rotatedAt: string; signsFrom: string; overlapEndsAt: string };
    }
  /** Every token signed with it has expired: no longer published, and destroyed. */
  | { type: 'TokenKeyRetired'; data: { keyId: string } };
