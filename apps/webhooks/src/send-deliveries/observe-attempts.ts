import { Injectable } from '@nestjs/common';
import { EventStore } from '@attestry/event-store';
import { isSampled, Metrics, Tracing, type Span } from '@attestry/service-kit';
import type { AttemptOutcome } from '../webhook-delivery/webhook-delivery.decisions.js';

type Outcome = Omit<AttemptOutcome, 'deliveryId'>;

export interface QueueState {
  due: number;
  waiting: number;
  oldestDueSeconds: number;
}

/** One of a few words: a target's response must not become a label value. */
export const outcomeLabel = ({ status, error }: Outcome): string => {
  if (status !== undefined) {
    if (status < 300) return 'delivered';
    if (status < 400) return 'redirect';
    return status < 500 ? 'refused' : 'failed';
  }
  if (error === 'timeout' || error === 'target-refused') return error;
  return error === 'signing-key-missing' || error?.startsWith('credential-') ? 'key-missing' : 'unreachable';
};

/** Metrics and traces of the sender, which itself only reports what it is about to do. */
@Injectable()
export class ObserveAttempts {
  constructor(
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
    private readonly store: EventStore,
  ) {}

  /** Shows the queue while this process holds the lease of that name. */
  queue(lease: string, read: () => Promise<QueueState>): void {
    const deliveries = this.metrics.gauge('webhookQueue');
    const oldest = this.metrics.gauge('webhookOldestDue');
    this.metrics.onScrape(async () => {
      if (!this.metrics.leases.isHeld(lease)) {
        deliveries.reset();
        oldest.reset();
        return;
      }
      const { due, waiting, oldestDueSeconds } = await read();
      deliveries.set({ state: 'due' }, due);
      deliveries.set({ state: 'waiting' }, waiting);
      oldest.set(oldestDueSeconds);
    });
  }

  /** @param of the stream of the delivery, and the number of the attempt */
  async attempt(of: { stream: string; attempt: number }, send: () => Promise<Outcome>): Promise<Outcome> {
    const span = await this.span(of);
    const startedAt = performance.now();
    let label = 'interrupted';
    try {
      const outcome = await send();
      label = outcomeLabel(outcome);
      this.metrics.counter('webhookAttempts').inc({ outcome: label });
      return outcome;
    } finally {
      this.metrics.bindHistogram('webhookSeconds', {})((performance.now() - startedAt) / 1000);
      span?.end({
        attributes: { 'attestry.outcome': label, 'attestry.attempt': of.attempt },
        ...(label !== 'delivered' && { error: label }),
      });
    }
  }

  /**
   * Below the span that scheduled the delivery, which its first event names. The target gets no `traceparent`: the headers of a
   * delivery are fixed (ADR 0020). Neither its address nor its host is recorded.
   */
  private async span({ stream }: { stream: string }): Promise<Span | undefined> {
    if (!this.tracing.on) return undefined;
    const [scheduled] = await this.store.readStream(stream, { limit: 1 });
    const parent = scheduled?.metadata.traceparent;
    if (!isSampled(parent)) return undefined;
    return this.tracing.start('deliver webhook', { kind: 'client', parent });
  }
}
