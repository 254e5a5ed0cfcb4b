import { NoTracing, type Tracing } from './tracing.js';

export interface TracingOptions {
  /** Base address of an OTLP/HTTP receiver; absent: no traces. */
  endpoint?: string | undefined;
  /** Share of new traces that are kept, 0 to 1. */
  ratio: number;
  /** `service.name` of every span. */
  service: string;
  /** Called when spans could not be sent; they are lost. */
  onError: (message: string) => void;
}

/** The OpenTelemetry SDK is loaded only where traces are wanted. */
export const openTracing = async ({ endpoint, ...options }: TracingOptions): Promise<Tracing> => {
  if (endpoint === undefined) return new NoTracing();
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing({ endpoint, ...options });
};
