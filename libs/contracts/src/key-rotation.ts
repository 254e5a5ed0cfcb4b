/**
 * Rotation of signing keys whose public keys third parties cache: a new key is published before it signs, and the previous
 * key stays published after its last signature. Times are RFC 3339, UTC, milliseconds.
 */
export interface PublishedKey {
  keyId: string;
  signsFrom: string;
  /** Absent for the newest. */
  publishedUntil?: string;
}

export interface RotationFacts {
  now: string;
  /** How long a new key is published before it signs: as long as a copy of the key set may be cached, seconds. */
  leadSeconds: number;
  /** How long a key is published after the last signature with it, seconds. */
  overlapSeconds: number;
}

/** Decision of a rotation about the previous key and the new one. */
export interface KeySuccession {
  previousKeyId: string;
  rotatedAt: string;
  signsFrom: string;
  overlapEndsAt: string;
}

/** The key that signs at a time. `keys` is never empty, and its first signs from the beginning. */
export const signingKeyAt = (keys: readonly PublishedKey[], now: string): PublishedKey =>
  keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0]!;

export const publishedAt = (keys: readonly PublishedKey[], now: string): PublishedKey[] =>
  keys.filter(({ publishedUntil }) => publishedUntil === undefined || now < publishedUntil);

const later = (time: string, seconds: number) => new Date(Date.parse(time) + seconds * 1000).toISOString();

/**
 * A new key after the newest. `undefined` while the newest does not sign yet: that rotation is in progress, and a retried request means the
 * same one.
 */
export const succeed = (
  keys: readonly PublishedKey[],
  { now, leadSeconds, overlapSeconds }: RotationFacts,
): KeySuccession | undefined => {
  const newest = keys.at(-1)!;
  if (newest.signsFrom > now) return undefined;
  const signsFrom = later(now, leadSeconds);
  return { previousKeyId: newest.keyId, rotatedAt: now, signsFrom, overlapEndsAt: later(signsFrom, overlapSeconds) };
};

/** Keys whose overlap is over. */
export const overdueKeys = (keys: readonly PublishedKey[], now: string): PublishedKey[] =>
  keys.filter(({ publishedUntil }) => publishedUntil !== undefined && publishedUntil <= now);

export const withSuccessor = (
  keys: readonly PublishedKey[],
  { keyId, previousKeyId, signsFrom, overlapEndsAt }: KeySuccession & { keyId: string },
): PublishedKey[] => [
  ...keys.map((key) => (key.keyId === previousKeyId ? { ...key, publishedUntil: overlapEndsAt } : key)),
  { keyId, signsFrom },
];

export const withoutKey = (keys: readonly PublishedKey[], keyId: string): PublishedKey[] =>
  keys.filter((key) => key.keyId !== keyId);
