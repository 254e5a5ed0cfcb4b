import type { EventLog } from '@attestry/event-store';
import { ReadModels, type Projection, type ProjectionHealth, type RunningProjection } from '@attestry/read-model';
import type { Metrics } from '../metrics/metrics.js';
import { batchSpans } from '../tracing/batch-spans.js';
import type { Tracing } from '../tracing/tracing.js';

/** Any read models: each projection shows its lag, its batches are timed, counted and traced. */
export class ObservedReadModels extends ReadModels {
  /** @param store that the projections follow */
  constructor(
    private readonly inner: ReadModels,
    private readonly store: EventLog,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {
    super();
  }

  async start<Tables>(projection: Projection<Tables>): Promise<RunningProjection<Tables>> {
    const { name, categories } = projection;
    const labels = { projection: name };
    const seconds = this.metrics.bindHistogram('projectionBatchSeconds', labels);
    const events = this.metrics.bindCounter('projectedEvents', labels);
    const running = await this.inner.start<Tables>({
      ...projection,
      create: (db) => projection.create(db),
      project: async (trx, batch, to) => {
        const startedAt = performance.now();
        const end = batchSpans(this.tracing, `project ${name}`, batch);
        try {
          await projection.project(trx, batch, to);
        } catch (error) {
          end('error');
          throw error;
        }
        end();
        seconds((performance.now() - startedAt) / 1000);
        events.since += batch.length;
      },
    });
    this.metrics.lag.follow({
      kind: 'projection',
      name,
      store: this.store,
      categories,
      position: () => running.health.position,
    });
    return running;
  }

  health(): ProjectionHealth[] {
    return this.inner.health();
  }

  checkpoints(): Promise<{ name: string; position: string }[]> {
    return this.inner.checkpoints();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
