import type { Dependencies } from './dependencies.js';
import type { Routed } from './exchange.js';

/** The operation is known: metrics count it, and its span starts where requests are traced. */
export const startSpan = (exchange: Routed, { observe }: Pick<Dependencies, 'observe'>): void => {
  const { observed, plan, requestId, startedAt, traceparent, host } = exchange;
  observe.begin(observed, plan.operation, { requestId, startedAt, parent: traceparent, tenantId: host.tenant?.id });
};
