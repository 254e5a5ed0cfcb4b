import { CheckpointedSubscription, type EventStore, type Leases, type RecordedEvent } from '@attestry/event-store';
import type { KeyCheckpoints } from '@attestry/keys';
import type { Health } from './health.js';
import type { Logger } from './logger.js';

/** Positions of batches without destructions are stored only at intervals; reading them again does no harm. */
const WRITE_EVERY = 256;

export interface Destructions {
  /** Name of the subscription, permanent. */
  name: string;
  categories: readonly string[];
  /** Destroys the keys that the events name. @returns whether they named any */
  destroy: (events: readonly RecordedEvent[]) => Promise<boolean>;
}

/**
 * Destroys again the keys that events name as destroyed. Its checkpoint is stored in the key store itself: a restored older copy contains
 * its older checkpoint, and keys destroyed since then are destroyed again before the process is ready (ADR 0058).
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

  /** Keys that are younger than the events know of destructions that these do not: then all of these are applied again. */
  private async known(): Promise<string | undefined> {
    const position = await this.checkpoints.read(this.of.name);
    const head = await this.store.head();
    const beyond = position !== undefined && (head === undefined || this.store.comparePositions(position, head) > 0);
    return beyond ? undefined : position;
  }
}
