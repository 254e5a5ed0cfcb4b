import { CheckpointedSubscription, type EventStore, type Leases, type RecordedEvent } from '@attestry/event-store';
import type { KeyCheckpoints } from '@attestry/keys';
import type { Health } from './health.js';
import type { Logger } from './logger.js';

/** Batches that destroyed nothing cost the key store a write only so often; read again they do no harm. */
const WRITE_EVERY = 256;

export interface Destructions {
  /** Of the subscription, permanent. */
  name: string;
  categories: readonly string[];
  /** Destroys what the events say was destroyed. @returns whether they said so of anything */
  destroy: (events: readonly RecordedEvent[]) => Promise<boolean>;
}

/**
 * Destroys once more the keys that events say are gone. How far it came is kept in the key store itself: a restored older copy
 * brings its older position, and what was destroyed since then is destroyed again before the process is ready (ADR 0058).
 */
export class ReplayedDestructions {
  private subscription: CheckpointedSubscription | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly leases: Leases,
    private readonly checkpoints: KeyCheckpoints,
    private readonly health: Health,
    private readonly logger: Logger,
    private readonly of: Destructions,
  ) {}

  start(): void {
    const { store, leases, checkpoints, logger } = this;
    const { name, categories, destroy } = this.of;
    let unwritten = 0;
    const subscription = new CheckpointedSubscription({
      name,
      store,
      leases,
      checkpoints: {
        read: () => this.known(),
        write: async (_, position) => {
          if (unwritten++ % WRITE_EVERY === 0) await checkpoints.write(name, position);
        },
      },
      categories,
      handle: async (events) => {
        if (await destroy(events)) unwritten = 0;
      },
      onError: (error) => logger.error({ reaction: name, error: error.message }, 'reaction failed'),
    });
    this.subscription = subscription.start();
    this.health.follow(name, () => subscription.health);
  }

  async close(): Promise<void> {
    await this.subscription?.close();
  }

  /** Keys that are younger than the events know of endings that these do not: then all of these are applied again. */
  private async known(): Promise<string | undefined> {
    const position = await this.checkpoints.read(this.of.name);
    const head = await this.store.head();
    const beyond = position !== undefined && (head === undefined || this.store.comparePositions(position, head) > 0);
    return beyond ? undefined : position;
  }
}
