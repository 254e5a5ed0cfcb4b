import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { HeldLeases } from './held-leases.js';
import { Lag } from './lag.js';
import { observeMainThread } from './main-thread.js';
import { METRICS, type MetricDefinition, type MetricKey } from './metric-definitions.js';

type KeysOf<Type> = { [K in MetricKey]: (typeof METRICS)[K]['type'] extends Type ? K : never }[MetricKey];
export type LabelsOf<K extends MetricKey> = (typeof METRICS)[K]['labels'][number];

/** A value that is found out when somebody asks for the metrics, not before. */
export type Sample = () => void | Promise<void>;

/** Prometheus gives up after 10 s; what takes longer than this is left out. */
const SAMPLE_MS = 3000;

/**
 * The metrics of one process: one is made with the engines and travels by injection, so that several platforms in one
 * process (tests) do not count into each other.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly leases: HeldLeases;
  readonly lag: Lag;
  private readonly instruments: Record<MetricKey, Counter | Gauge | Histogram>;
  private readonly samples: Sample[] = [];

  /** @param runs what the process runs: a service's name, or `platform` */
  constructor(runs = 'platform') {
    const entries = Object.entries(METRICS).map(([key, definition]) => [key, this.instrument(definition)]);
    this.instruments = Object.fromEntries(entries) as Record<MetricKey, Counter | Gauge | Histogram>;
    this.gauge('info').set({ runs }, 1);
    this.leases = new HeldLeases(this);
    this.lag = new Lag(this);
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

  /** Runs at every scrape, before the values are read. One that fails or takes 3 s is counted and left out. */
  onScrape(sample: Sample): void {
    this.samples.push(sample);
  }

  /**
   * Adds the process's own (CPU, memory, garbage collection, event-loop delay) and observes its main thread. Called once by
   * what serves them: the observers live as long as the process.
   */
  observeProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    observeMainThread(this.histogram('mainThreadBlock'));
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Everything in the text format of Prometheus. */
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
