import type { Reply } from '@attestry/messaging';
import type { Metrics } from '../metrics/metrics.js';
import type { OperationHandler } from '../operations/operation-handler.js';
import { isSampled, type Tracing } from '../tracing/tracing.js';

/** Kinds of error that are failures of the platform; the others are responses. */
const FAULTS: ReadonlySet<string> = new Set(['internal', 'unavailable']);

/** A service handler, counted and timed; in a trace, its span is the parent of what it causes. */
export const observedOperation = (
  operation: string,
  handle: OperationHandler,
  metrics: Metrics,
  tracing: Tracing,
): OperationHandler => {
  const succeeded = metrics.bindCounter('operations', { operation, outcome: 'ok' });
  const seconds = metrics.bindHistogram('operationSeconds', { operation });
  const counted: OperationHandler = async (request, context, from, isChecked) => {
    const startedAt = performance.now();
    metrics.operationsInFlight++;
    let reply: Reply;
    try {
      reply = await handle(request, context, from, isChecked);
    } finally {
      metrics.operationsInFlight--;
    }
    seconds((performance.now() - startedAt) / 1000);
    if (reply.ok) succeeded.since++;
    else metrics.counter('operations').inc({ operation, outcome: reply.error.kind });
    return reply;
  };
  if (!tracing.on) return counted;
  return async (request, context, from, isChecked) => {
    const { traceparent: parent, requestId } = context;
    if (!isSampled(parent)) return counted(request, context, from, isChecked);
    const span = tracing.start(operation, {
      kind: 'server',
      parent,
      attributes: { 'attestry.operation': operation, 'attestry.request_id': requestId },
    });
    const reply = await counted(request, { ...context, traceparent: span.traceparent }, from, isChecked);
    if (reply.ok) span.end();
    else {
      const { kind, code } = reply.error;
      span.end({ attributes: { 'attestry.error': code }, ...(FAULTS.has(kind) && { error: kind }) });
    }
    return reply;
  };
};
