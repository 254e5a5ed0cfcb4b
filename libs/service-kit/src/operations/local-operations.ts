import type { Operation, OperationContext, OperationRequest } from '@attestry/contracts';
import { inTime, RequestFailed, type Reply, type Subject } from '@attestry/messaging';
import type { Metrics } from '../metrics/metrics.js';
import type { OperationHandler } from './operation-handler.js';

/**
 * The operations whose services run in this process, called by reference: request, context and reply are frozen objects, not text.
 * Rights, shape, deadline and errors are those of a call over the bus (architecture, Calls between services).
 */
export class LocalOperations {
  private readonly handlers = new Map<Subject, OperationHandler>();
  private running = 0;
  private idle: (() => void) | undefined;

  constructor(private readonly metrics: Metrics) {}

  serve(subject: Subject, handler: OperationHandler): void {
    this.handlers.set(subject, handler);
  }

  /**
   * `undefined` where the operation is not one of this process.
   * @throws RequestFailed when the deadline has passed, or passes before the reply
   */
  request(
    { subject }: Operation,
    request: OperationRequest,
    context: OperationContext,
    from: string,
    isChecked: boolean,
  ): Promise<Reply> | undefined {
    const handler = this.handlers.get(subject);
    if (!handler) return undefined;
    const late = () => {
      this.metrics.counter('busFailures').inc({ reason: 'timeout' });
      return new RequestFailed('timeout', subject);
    };
    const ms = context.deadline - Date.now();
    return ms > 0 ? inTime(this.handle(handler(request, context, from, isChecked)), ms, late) : Promise.reject(late());
  }

  /** Accepts no further calls and waits for those in progress, including those whose callers have gone. */
  async close(): Promise<void> {
    this.handlers.clear();
    if (this.running) await new Promise<void>((resolve) => (this.idle = resolve));
  }

  private async handle(reply: Promise<Reply>): Promise<Reply> {
    this.running++;
    try {
      return await reply;
    } finally {
      if (--this.running === 0) this.idle?.();
    }
  }
}
