import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { METRICS, type MetricDefinition, type MetricKey } from './metric-definitions.js';

type KeysOf<Type> = { [K in MetricKey]: (typeof METRICS)[K]['type'] extends Type ? K : never }[MetricKey];
type LabelsOf<K extends MetricKey> = (typeof METRICS)[K]['labels'][number];

/** A value that is computed at a scrape, not before. */
type Sample = () => void | Promise<void>;

/** Prometheus times out after 10 s; slower values are omitted. */
const SAMPLE_MS = 3000;

/** The instruments of one registry, and the values sampled at a scrape. */
export class Instruments {
  readonly registry = new Registry();
  private readonly instruments: Record<MetricKey, Counter | Gauge | Histogram>;
  private readonly samples: Sample[] = [];

  constructor() {
    const entries = Object.entries(METRICS).map(([key, definition]) => [key, this.instrument(definition)]);
    this.instruments = Object.fromEntries(entries) as Record<MetricKey, Counter | Gauge | Histogram>;
  }

  counter<K extends KeysOf<'counter'>>(key: K): Counter<LabelsOf<K>> {
    return this.instruments[key] as unknown as Counter<LabelsOf<K>>;
  }

  gauge<K extends KeysOf<'gauge'>>(key: K): Gauge<LabelsOf<K>> {
    return this.instruments[key] as unknown as Gauge<LabelsOf<K>>;
  }

  histogram<K extends KeysOf<'histogram'>>(key: K): Histogram<LabelsOf<K>> {
    return this.instruments[key] as unknown as Histogram<LabelsOf<K>>;
  }

  /** Runs at every scrape, before the values are read. One that fails or takes 3 s is counted and omitted. */
  onScrape(sample: Sample): void {
    this.samples.push(sample);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    await Promise.all(this.samples.map((sample) => this.sampled(sample)));
    return this.registry.metrics();
  }

  private async sampled(sample: Sample): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('too slow')), SAMPLE_MS);
    });
    try {
      await Promise.race([sample(), late]);
    } catch {
      this.counter('scrapeFailures').inc();
    } finally {
      clearTimeout(timer);
    }
  }

  private instrument({ name, type, help, labels, buckets }: MetricDefinition): Counter | Gauge | Histogram {
    const options = { name, help, labelNames: [...labels], registers: [this.registry] };
    switch (type) {
      case 'counter':
        return new Counter(options);
      case 'gauge':
        return new Gauge(options);
      case 'histogram':
        return new Histogram({ ...options, ...(buckets && { buckets: [...buckets] }) });
    }
  }
}
