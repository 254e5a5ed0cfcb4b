import { Inject, Injectable, Optional, type BeforeApplicationShutdown } from '@nestjs/common';
import { subjectsReadBy, type IntegrationEventType, type ServiceName } from '@attestry/contracts';
import {
  checkKnown,
  CheckpointedSubscription,
  EventStore,
  Leases,
  type Checkpoints,
  type Lease,
  type RecordedEvent,
  type Vocabulary,
} from '@attestry/event-store';
import {
  MessageBus,
  type Consumer,
  type ConsumerOptions,
  type FeedMessage,
  type ListenerOptions,
  type OutgoingMessage,
} from '@attestry/messaging';
import { Health } from '../process/health.js';
import type { Logger } from '../process/logger.js';
import { Metrics } from '../metrics/metrics.js';
import { batchSpans } from '../tracing/batch-spans.js';
import { Tracing } from '../tracing/tracing.js';
import { CHECKPOINTS, LOGGER } from '../config/tokens.js';

/** An integration event that derives from a stored event. */
export interface Fact {
  type: IntegrationEventType<unknown>;
  data: object;
}

/** Types an integration event: `fact(tenantCreated, {...})`. */
export const fact = <Data extends object>(type: IntegrationEventType<Data>, data: Data): Fact => ({ type, data });

export interface Reaction {
  /** Permanent: names the checkpoint and the lease. `<service>.<purpose>` */
  name: string;
  /** Aggregates whose streams it handles. A type that none of them lists was written by a newer release, which is waited for (ADR 0057). */
  of: readonly Vocabulary[];
  onEvents(events: readonly RecordedEvent[], lease: Lease): Promise<void>;
  /** Store of the checkpoint; default beside the events. */
  checkpoints?: Checkpoints;
  /** Pause after a batch that was not full, milliseconds. Default 10. */
  restMs?: number;
}

/** Subjects are declared once, with the rights on the bus; a test has its own. */
type Reading<Options extends ListenerOptions> = Omit<Options, 'subjects'> & Partial<Pick<Options, 'subjects'>>;
const withSubjects = <Options extends ListenerOptions>(options: Reading<Options>) => ({
  ...options,
  subjects: options.subjects ?? subjectsReadBy(options.name),
});

/** Name of the reaction that publishes a service's integration events. */
export const publisherOf = (service: ServiceName): string => `${service}.publisher`;

/**
 * Everything that is caused by stored events: named, checkpointed subscriptions and durable consumers that retry with back-off, show in
 * readiness, and stop with the process.
 */
@Injectable()
export class Reactions implements BeforeApplicationShutdown {
  private readonly running: { close(): Promise<void> }[] = [];

  constructor(
    private readonly bus: MessageBus,
    private readonly health: Health,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
    @Inject(LOGGER) private readonly logger: Logger,
    // A process without domain events only consumes.
    @Optional() private readonly store?: EventStore,
    @Optional() private readonly leases?: Leases,
    @Optional() @Inject(CHECKPOINTS) private readonly checkpoints?: Checkpoints,
  ) {}

  /** Runs a handler over the stored events of some categories, in order, at least once. */
  start(reaction: Reaction): CheckpointedSubscription {
    const { store, leases } = this;
    const checkpoints = reaction.checkpoints ?? this.checkpoints;
    if (!store || !leases || !checkpoints) throw new Error(`${reaction.name}: this process has no domain events`);
    const categories = reaction.of.map(({ category }) => category);
    const subscription = new CheckpointedSubscription({
      name: reaction.name,
      store,
      leases,
      checkpoints,
      categories,
      restMs: reaction.restMs,
      handle: (events, lease) => {
        checkKnown(reaction.of, events);
        return this.traced(reaction, events, lease);
      },
      onError: (error) => {
        this.metrics.counter('reactionFailures').inc({ reaction: reaction.name });
        this.logger.error({ reaction: reaction.name, error: error.message }, 'reaction failed');
      },
    });
    subscription.start();
    this.running.push(subscription);
    this.metrics.lag.follow({
      kind: 'reaction',
      name: reaction.name,
      store,
      categories,
      position: () => subscription.health.position,
    });
    this.health.follow(reaction.name, () => subscription.health);
    return subscription;
  }

  /**
   * Publishes what derives from a service's stored events: its integration events (message id = event id). The only place that publishes:
   * never a handler.
   * @param restMs see {@link Reaction}; longer than the default only where no event ends access
   */
  publishFacts(
    service: ServiceName,
    of: readonly Vocabulary[],
    factsOf: (event: RecordedEvent) => readonly Fact[],
    restMs?: number,
  ): CheckpointedSubscription {
    return this.start({
      name: publisherOf(service),
      of,
      restMs,
      onEvents: async (events) => {
        const messages: OutgoingMessage[] = [];
        for (const event of events) {
          const { tenantId, requestId, occurredAt, traceparent } = event.metadata;
          factsOf(event).forEach(({ type, data }, index) =>
            messages.push({
              id: `${event.id}${index === 0 ? '' : `.${index}`}`,
              subject: type.subject,
              headers: { tenantId, requestId, occurredAt, ...(traceparent && { traceparent }) },
              data,
            }),
          );
        }
        if (messages.length) await this.bus.publish(messages);
      },
    });
  }

  /** Runs a durable consumer of the feed and shows it in readiness. */
  consume(options: Reading<ConsumerOptions>, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    return this.shown(options.name, this.bus.consume(withSubjects(options), handler));
  }

  /** {@link consume}, one message after the other. */
  consumeEach(name: string, handle: (message: FeedMessage) => Promise<void>): Consumer {
    return this.consume({ name }, async (messages) => {
      for (const message of messages) await handle(message);
    });
  }

  /** Delivers the feed from now on, in each process, and shows the listener in readiness. */
  listen(options: Reading<ListenerOptions>, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    return this.shown(options.name, this.bus.listen(withSubjects(options), handler));
  }

  private shown(name: string, consumer: Consumer): Consumer {
    this.running.push(consumer);
    this.health.register(name, () => [
      {
        name,
        healthy: consumer.health.healthy,
        ...(consumer.health.error !== undefined && { error: consumer.health.error }),
      },
    ]);
    return consumer;
  }

  private async traced(reaction: Reaction, events: readonly RecordedEvent[], lease: Lease): Promise<void> {
    const end = batchSpans(this.tracing, `react ${reaction.name}`, events);
    try {
      await reaction.onEvents(events, lease);
    } catch (error) {
      end('error');
      throw error;
    }
    end();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.running.map((reaction) => reaction.close()));
  }
}
