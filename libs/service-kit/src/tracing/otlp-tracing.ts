import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { isTraceparent, Tracing, type Span, type SpanEnd, type SpanStart } from './tracing.js';

export interface OtlpTracingOptions {
  /** Base address of an OTLP/HTTP receiver; `/v1/traces` is added. */
  endpoint: string;
  ratio: number;
  service: string;
  /** Called when spans could not be sent; they are lost. */
  onError: (message: string) => void;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
  consumer: SpanKind.CONSUMER,
} as const;

/** Milliseconds between two exports. */
const EXPORT_MS = 1000;
/** Longest wait of a stop for a receiver that does not respond. */
const EXPORT_TIMEOUT_MS = 3000;

const contextOf = (traceparent: string | undefined): Context => {
  if (!isTraceparent(traceparent)) return ROOT_CONTEXT;
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string];
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
};

/** Spans over OTLP (HTTP, protobuf). A separate provider, never the process-wide one, and no context manager. */
export class OtlpTracing extends Tracing {
  readonly on = true;
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;
  private readonly onError: (message: string) => void;

  constructor({ endpoint, ratio, service, onError }: OtlpTracingOptions) {
    super();
    this.onError = onError;
    // The one process-wide setting of OpenTelemetry. Without it an unreachable receiver goes unnoticed.
    const ignore = () => undefined;
    diag.setLogger(
      { error: onError, warn: onError, info: ignore, debug: ignore, verbose: ignore },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'attestry' }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanLimits: { attributeValueLengthLimit: 256 },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          scheduledDelayMillis: EXPORT_MS,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
          maxQueueSize: 8192,
        }),
      ],
    });
    this.tracer = this.provider.getTracer('attestry');
  }

  start(name: string, { kind, parent, startTime, attributes }: SpanStart): Span {
    const span = this.tracer.startSpan(
      name,
      { kind: KINDS[kind], ...(startTime !== undefined && { startTime }), ...(attributes && { attributes }) },
      contextOf(parent),
    );
    const { traceId, spanId, traceFlags } = span.spanContext();
    const flags = (traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
    return {
      traceparent: `00-${traceId}-${spanId}-${flags}`,
      end: ({ error, attributes: more }: SpanEnd = {}) => {
        if (more) span.setAttributes(more);
        if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
        span.end();
      },
    };
  }

  /** Unsent spans must not change the exit code of the process. */
  async close(): Promise<void> {
    try {
      await this.provider.shutdown();
    } catch (error) {
      this.onError(error instanceof Error ? error.message : String(error));
    }
  }
}
