import type { Subject } from './message-bus.js';

/** Subjects that a durable consumer or listener reads. */
export interface Reading {
  name: string;
  subjects: readonly Subject[];
}

/** All rights of one participant of the bus. Everything else is denied, with every adapter. */
export interface BusRights {
  /** Lower-case words: the sender of requests, and the user of a NATS server. */
  readonly name: string;
  readonly serves: readonly Subject[];
  /** Participants that may send requests to it, and so get its replies. */
  readonly calledBy: readonly string[];
  readonly calls: readonly Subject[];
  readonly publishes: readonly Subject[];
  /** Durable consumers, named `<participant>.<purpose>`. */
  readonly consumes: readonly Reading[];
  readonly listens: readonly Reading[];
  /** Subjects that processes of the previous release read: permitted by the servers, not by this release's bus. */
  readonly formerReads?: readonly (readonly Subject[])[];
}
