import { randomUUIDv7 } from 'node:crypto';

/** Source of time; decisions get it as an argument. */
export interface Clock {
  now(): Date;
}

/** Source of ids. */
export interface Ids {
  /**
   * A version 7 UUID, lower case (RFC 9562 §5.7): ids created one after the other sort that way, and their index entries are on the same
   * pages. It reveals its creation time and is no secret.
   */
  uuid(): string;
}

export const systemClock: Clock = { now: () => new Date() };
export const randomIds: Ids = { uuid: randomUUIDv7 };
