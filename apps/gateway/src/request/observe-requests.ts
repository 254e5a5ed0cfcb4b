import { Injectable } from '@nestjs/common';
import type { Operation } from '@attestry/contracts';
import { Metrics, Tracing, type BoundCount, type Observe, type Span } from '@attestry/service-kit';
import { isTokenCallFailure } from './rate-limits.js';

/** Data of a request for metrics and traces. */
export interface ObservedRequest {
  operation?: Operation;
  span?: Span;
  /** Trace context for what the request causes: the span's, else that of a trusted proxy. */
  traceparent?: string;
  /** Health checks would distort the metrics of calls. */
  uncounted?: boolean;
}

interface Begun {
  requestId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  parent: string | undefined;
  tenantId: string | undefined;
}

/** Series of an operation, or of requests without one. */
interface BoundSeries {
  /** By status. */
  counts: Record<number, BoundCount>;
  seconds: Observe;
}

/** Counts, times and traces responses. */
@Injectable()
export class ObserveRequests {
  private readonly bound = new Map<Operation | undefined, BoundSeries>();

  constructor(
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {}

  /** The operation is known: a span begins, in a new trace unless a trusted proxy named one. */
  begin(observed: ObservedRequest, operation: Operation, { requestId, startedAt, parent, tenantId }: Begun): void {
    observed.operation = operation;
    if (!this.tracing.on) {
      if (parent !== undefined) observed.traceparent = parent;
      return;
    }
    const { method, path } = operation.http!;
    observed.span = this.tracing.start(`${method} ${path}`, {
      kind: 'server',
      parent,
      startTime: startedAt,
      attributes: {
        'http.request.method': method,
        'http.route': path,
        'attestry.operation': operation.name,
        'attestry.request_id': requestId,
        ...(tenantId !== undefined && { 'attestry.tenant_id': tenantId }),
      },
    });
    observed.traceparent = observed.span.traceparent;
  }

  /** @param elapsedMs since the request arrived */
  end({ operation, span, uncounted }: ObservedRequest, status: number, elapsedMs: number): void {
    if (uncounted) return;
    const { counts, seconds } = this.bound.get(operation) ?? this.bindSeries(operation);
    (counts[status] ??= this.bindCount(operation, status)).since++;
    seconds(elapsedMs / 1000);
    if (operation?.rate === 'client-token' && isTokenCallFailure(status))
      this.metrics.counter('clientTokenFailures').inc({ status: String(status) });
    if (status === 429) this.metrics.counter('rateLimited').inc({ class: operation?.rate ?? 'public' });
    span?.end({
      attributes: { 'http.response.status_code': status },
      ...(status >= 500 && { error: String(status) }),
    });
  }

  private bindSeries(operation: Operation | undefined): BoundSeries {
    const seconds = this.metrics.bindHistogram('httpSeconds', { operation: nameOf(operation) });
    const bound: BoundSeries = { counts: {}, seconds };
    this.bound.set(operation, bound);
    return bound;
  }

  private bindCount(operation: Operation | undefined, status: number): BoundCount {
    return this.metrics.bindCounter('httpRequests', { operation: nameOf(operation), status: String(status) });
  }
}

const nameOf = (operation: Operation | undefined): string => operation?.name ?? 'none';
