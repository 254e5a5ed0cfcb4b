/** When a list needs no further token. */
export interface ListEnd {
  /**
   * From when on no credential of the list is valid, at the latest a day after an index was claimed; ISO 8601, rounded up to a day so that it
   * changes once a day. `NO_END`: a credential has no end.
   */
  endsAt: string;
  /** All indexes are claimed. */
  isFull: boolean;
}

/** After each date in ISO 8601. */
export const NO_END = '9999';
const LAST_DATE = Date.parse('9999-01-01');
const DAY_MS = 86_400_000;
/** Processes use the indexes that they claimed within seconds while they issue; a list ends again after one that was used later. */
const CLAIM_MS = DAY_MS;
/** Without a further index, for a list that is not full: its configuration was deleted, or is not used. */
const UNUSED_MS = 30 * DAY_MS;

const roundUp = (time: number): string =>
  time < LAST_DATE ? new Date(Math.ceil(time / DAY_MS) * DAY_MS).toISOString() : NO_END;

export const endOfCredential = (validUntil: string | undefined): string =>
  validUntil === undefined ? NO_END : roundUp(Date.parse(validUntil));

/** End of the list when it is opened, or when indexes were claimed. */
export const endOfClaim = (claimedAt: string): string => roundUp(Date.parse(claimedAt) + CLAIM_MS);

/** End of a list that is not full and has ended: `endsAt` at the latest. */
export const latestEnded = (now: Date): string => new Date(now.getTime() - UNUSED_MS).toISOString();

export const hasEnded = ({ endsAt, isFull }: ListEnd, now: Date): boolean =>
  endsAt !== NO_END && now.getTime() >= Date.parse(endsAt) + (isFull ? 0 : UNUSED_MS);
