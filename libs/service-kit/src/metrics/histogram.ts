import type { MetricValueWithName } from '@prometheus-io/client';

interface Series {
  labels: Readonly<Record<string, string>>;
  /** Numbers of values up to each bound, and beyond the last. */
  counts: number[];
  sum: number;
}

/** Adds a value to a series whose labels are bound. */
export type Observe = (value: number) => void;

/**
 * A histogram for the library's registry. Its series are bound to their labels once: the library's own looks both up, and makes an object,
 * with every value, which takes ten times as long.
 */
export class Histogram {
  readonly type = 'histogram';
  private readonly series = new Map<string, Series>();

  constructor(
    readonly name: string,
    readonly help: string,
    private readonly bounds: readonly number[],
    labelNames: readonly string[],
  ) {
    if (!labelNames.length) this.seriesOf({});
  }

  /** A series with labels is shown from its first value on. */
  bind(labels: Readonly<Record<string, string>>): Observe {
    const { bounds } = this;
    let series: Series | undefined;
    return (value) => {
      if (!Number.isFinite(value)) throw new TypeError(`${this.name}: ${value} is not a finite number`);
      series ??= this.seriesOf(labels);
      let at = 0;
      while (at < bounds.length && value > bounds[at]!) at++;
      series.counts[at]!++;
      series.sum += value;
    };
  }

  /** Values in the form that the registry reads. */
  async get(): Promise<Pick<Histogram, 'name' | 'help' | 'type'> & { values: MetricValueWithName<string>[] }> {
    const values: MetricValueWithName<string>[] = [];
    for (const { labels, counts, sum } of this.series.values()) {
      let count = 0;
      for (const [at, own] of counts.entries()) {
        count += own;
        const le = this.bounds[at] ?? '+Inf';
        values.push({ metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count });
      }
      values.push({ metricName: `${this.name}_sum`, labels, value: sum });
      values.push({ metricName: `${this.name}_count`, labels, value: count });
    }
    const { name, help, type } = this;
    return { name, help, type, values };
  }

  private seriesOf(labels: Readonly<Record<string, string>>): Series {
    const key = JSON.stringify(Object.entries(labels));
    const known = this.series.get(key);
    if (known) return known;
    const made: Series = { labels, counts: Array.from({ length: this.bounds.length + 1 }, () => 0), sum: 0 };
    this.series.set(key, made);
    return made;
  }
}
