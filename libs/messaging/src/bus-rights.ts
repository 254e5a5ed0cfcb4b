import type { Subject } from './message-bus.js';

/** Whom a durable consumer or listener reads for. */
export interface Reading {
  name: string;
  subjects: readonly Subject[];
}

/** Everything one party does on the bus. What is not here it may not do, whichever adapter is behind. */
export interface BusRights {
  /** Lower-case words: who asks, as servers are told, and the user of a NATS server. */
  readonly name: string;
  readonly serves: readonly Subject[];
  /** Who may ask it, and so gets its answers. */
  readonly calledBy: readonly string[];
  readonly calls: readonly Subject[];
  readonly publishes: readonly Subject[];
  /** Durable consumers, named `<participant>.<what>`. */
  readonly consumes: readonly Reading[];
  readonly listens: readonly Reading[];
}
