/** Keys that sign a tenant's webhooks, with the end of their publication. The keys themselves are in the key vault. */
export type WebhookKeysEvent =
  /** The first one; it signs at once, as no receiver can have an older key set. */
  | { type: 'WebhookKeyCreated'; data: { keyId: string; createdAt: string } }
  | {
      /** Published from now on and signing from `signsFrom`; the key before it stays published until `overlapEndsAt`. */
      type: 'WebhookKeyRotated';
      data: { keyId: string; previousKeyId: string; rotatedAt: string; signsFrom: string; overlapEndsAt: string };
    }
  /** Its overlap is over: no longer published, and destroyed. */
  | { type: 'WebhookKeyRetired'; data: { keyId: string } }
  /** The tenant was deleted. */
  | { type: 'WebhookKeysEnded'; data: object };
