/** Keys by which a tenant authenticates at its authentication provider. The keys themselves are in the key vault. */
export type ClientKeysEvent =
  /** The first one; it signs at once, as no provider can have an older key set. */
  | { type: 'ClientKeyCreated'; data: { keyId: string; createdAt: string } }
  | {
      /** Published from now on and signing from `signsFrom`; the key before it stays published until `overlapEndsAt`. */
      type: 'ClientKeyRotated';
      data: { keyId: string; previousKeyId: string; rotatedAt: string; signsFrom: string; overlapEndsAt: string };
    }
  /** Its overlap is over: no longer published, and destroyed. */
  | { type: 'ClientKeyRetired'; data: { keyId: string } };
