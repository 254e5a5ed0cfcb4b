import type { RecordedEvent } from '@attestry/event-store';
import { isSampled, type Tracing } from './tracing.js';

/**
 * A batch belongs to many traces: a span in each of them, once for each cause, below the one that stored the events.
 * @returns a function that ends them
 */
export const batchSpans = (
  tracing: Tracing,
  name: string,
  events: readonly RecordedEvent[],
): ((error?: string) => void) => {
  if (!tracing.on) return () => undefined;
  const parents = new Set(events.map(({ metadata }) => metadata.traceparent).filter(isSampled));
  const attributes = { 'attestry.batch': events.length };
  const spans = [...parents].map((parent) => tracing.start(name, { kind: 'internal', parent, attributes }));
  return (error) => {
    for (const span of spans) span.end(error === undefined ? {} : { error });
  };
};
