import { randomUUID } from 'node:crypto';

/** Where time comes from; decisions get it as an argument. */
export interface Clock {
  now(): Date;
}

/** Where ids come from. */
export interface Ids {
  /** A version 4 UUID, lower case. */
  uuid(): string;
}

export const systemClock: Clock = { now: () => new Date() };
export const randomIds: Ids = { uuid: () => randomUUID() };
