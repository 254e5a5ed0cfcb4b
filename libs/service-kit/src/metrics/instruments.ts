import { Counter, Gauge, Registry, type Metric } from '@prometheus-io/client';
import { Histogram, type Observe } from './histogram.js';
import { METRICS, type MetricDefinition, type MetricKey } from './metric-definitions.js';

type KeysOf<Type> = { [K in MetricKey]: (typeof METRICS)[K]['type'] extends Type ? K : never }[MetricKey];
type LabelsOf<K extends MetricKey> = (typeof METRICS)[K]['labels'][number];
type Labels<K extends MetricKey> = Readonly<Record<LabelsOf<K>, string>>;

/** Count of a counter's series since the last scrape, with bound labels; callers add to it. */
export interface BoundCount {
  since: number;
}

/** A value that is computed at a scrape, not before. */
type Sample = () => void | Promise<void>;

/** Prometheus times out after 10 s; slower values are omitted. */
const SAMPLE_MS = 3000;

/** The instruments of one registry, and the values sampled at a scrape. */
export class Instruments {
  readonly registry = new Registry();
  private readonly instruments: Record<MetricKey, Counter | Gauge | Histogram>;
  private readonly samples: Sample[] = [];
  /** Move what bound series counted to their counters. */
  private readonly moves: (() => void)[] = [];

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

  /** For what is counted with every request: its labels are not looked up each time. */
  bindCounter<K extends KeysOf<'counter'>>(key: K, labels: Labels<K>): BoundCount {
    const count: BoundCount = { since: 0 };
    this.moves.push(() => {
      if (count.since > 0) (this.instruments[key] as Counter<string>).inc(labels, count.since);
      count.since = 0;
    });
    return count;
  }

  bindHistogram<K extends KeysOf<'histogram'>>(key: K, labels: Labels<K>): Observe {
    return (this.instruments[key] as Histogram).bind(labels);
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
    for (const move of this.moves) move();
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

  private instrument({ name, type, help, labels, buckets = [] }: MetricDefinition): Counter | Gauge | Histogram {
    const options = { name, help, labelNames: [...labels], registers: [this.registry] };
    if (type === 'counter') return new Counter(options);
    if (type === 'gauge') return new Gauge(options);
    const histogram = new Histogram(name, help, buckets, labels);
    this.registry.registerMetric(histogram as unknown as Metric);
    return histogram;
  }
}
