import { randomUUIDv7 } from 'node:crypto';

/** Where time comes from; decisions get it as an argument. */
export interface Clock {
  now(): Date;
}

/** Where ids come from. */
export interface Ids {
  /**
   * A version 7 UUID, lower case (RFC 9562 §5.7): ids made one after the other sort so, and their index entries lie on
   * the same pages. It tells when it was made and is no secret.
   */
  uuid(): string;
}

export const systemClock: Clock = { now: () => new Date() };
export const randomIds: Ids = { uuid: () => randomUUIDv7() };
