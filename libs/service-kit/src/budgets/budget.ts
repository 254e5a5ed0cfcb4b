/** One use of a budget. */
export interface Use {
  /** A retried call uses its budget once. */
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
}

export type Admitted = { uses: Use[] } | { retryAfterSeconds: number };

/** Adds one use to those of the last `windowMs` milliseconds, when they are fewer than `limit`. */
export const addUse = (
  uses: readonly Use[],
  { id, now, limit, windowMs }: { id: string; now: number; limit: number; windowMs: number },
): Admitted => {
  const recent = uses.filter(({ at }) => at > now - windowMs).sort((a, b) => a.at - b.at);
  if (recent.some((use) => use.id === id)) return { uses: recent };
  if (recent.length < limit) return { uses: [...recent, { id, at: now }] };
  // When enough uses have left the window that one is free.
  const leaving = recent[recent.length - limit]!;
  return { retryAfterSeconds: Math.max(1, Math.ceil((leaving.at + windowMs - now) / 1000)) };
};
