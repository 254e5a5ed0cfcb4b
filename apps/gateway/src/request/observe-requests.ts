import { Injectable } from '@nestjs/common';
import type { Operation } from '@attestry/contracts';
import { Metrics, Tracing, type Span } from '@attestry/service-kit';
import { isTokenCallFailure } from './rate-limits.js';

/** What is known of a request for metrics and traces. */
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

/** Counts, times and traces responses. */
@Injectable()
export class ObserveRequests {
  private readonly requests;
  private readonly seconds;
  private readonly limited;
  private readonly tokenFailures;

  constructor(
    metrics: Metrics,
    private readonly tracing: Tracing,
  ) {
    this.requests = metrics.counter('httpRequests');
    this.seconds = metrics.histogram('httpSeconds');
    this.limited = metrics.counter('rateLimited');
    this.tokenFailures = metrics.counter('clientTokenFailures');
  }

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
    const name = operation?.name ?? 'none';
    this.requests.inc({ operation: name, status: String(status) });
    this.seconds.observe({ operation: name }, elapsedMs / 1000);
    if (operation?.rate === 'client-token' && isTokenCallFailure(status))
      this.tokenFailures.inc({ status: String(status) });
    if (status === 429) this.limited.inc({ class: operation?.rate ?? 'public' });
    span?.end({
      attributes: { 'http.response.status_code': status },
      ...(status >= 500 && { error: String(status) }),
    });
  }
}
