/** Keys that sign access tokens of clients, with the end of their publication. The keys themselves are in the key vault. */
export type TokenKeysEvent =
  /** The first one; it signs at once. */
  | { type: 'TokenKeyCreated'; data: { keyId: string; createdAt: string } }
  | {
      /** Published from now on and signing from `signsFrom`; the key before it stays published until `overlapEndsAt`. */
      type: 'TokenKeyRotated';
      data: { keyId: string; previousKeyId: string; rotatedAt: string; signsFrom: string; overlapEndsAt: string };
    }
  /** Every token signed with it has expired: no longer published, and destroyed. */
  | { type: 'TokenKeyRetired'; data: { keyId: string } };
