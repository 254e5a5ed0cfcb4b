/**
 * Facts one service tells the others, over the durable feed. Published from the store's subscription, never from a
 * handler; consumers dedupe by `id`. Members are only ever added; readers ignore unknown ones, for releases that run side by side (ADR 0057).
 */
export interface IntegrationEventType<Data> {
  /** `<service>.<fact>` */
  readonly name: string;
  /** `event.<service>.<fact>` */
  readonly subject: string;
  /** Phantom: the data's type. */
  readonly data?: Data;
}

/** Headers of an integration event on the feed. */
export interface IntegrationHeaders {
  tenantId: string;
  requestId: string;
  occurredAt: string;
  traceparent?: string;
}

/** Keys that one process destroyed; every process with a key vault tells and hears it. */
export const KEYS_DESTROYED_SUBJECT = 'event.keys.destroyed';

export const defineIntegrationEvent = <Data>(name: `${string}.${string}`): IntegrationEventType<Data> =>
  Object.freeze({ name, subject: `event.${name}` });
