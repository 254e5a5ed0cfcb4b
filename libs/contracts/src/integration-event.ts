/**
 * An event that a service publishes for other services on the durable feed. Published from the store's subscription, never from a
 * handler; consumers dedupe by `id`. Members are only ever added; readers ignore unknown ones (ADR 0057).
 */
export interface IntegrationEventType<Data> {
  /** `<service>.<event>` */
  readonly name: string;
  /** `event.<service>.<event>` */
  readonly subject: string;
  /** Phantom: the data's type. */
  readonly data?: Data;
}

/** Keys that one process destroyed; every process with a key vault publishes and receives it. */
export const KEYS_DESTROYED_SUBJECT = 'event.keys.destroyed';

export const defineIntegrationEvent = <Data>(name: `${string}.${string}`): IntegrationEventType<Data> =>
  Object.freeze({ name, subject: `event.${name}` });
