import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import {
  CheckpointedSubscription,
  StaleEpoch,
  type EventStore,
  type Leases,
  type RecordedEvent,
} from '@attestry/event-store';
import type { KeyCheckpoints } from '@attestry/keys';
import type { Health } from '../process/health.js';
import type { Logger } from '../process/logger.js';

/**
 * Destroys again the keys that events name as destroyed. Its checkpoint is stored in the key store itself: a restored older copy contains
 * its older checkpoint, and keys destroyed since then are destroyed again before the process is ready (ADR 0058).
 */
export abstract class ReplayedDestructions implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private subscription: CheckpointedSubscription | undefined;

  /** @param name of the subscription, permanent */
  constructor(
    private readonly store: EventStore,
    private readonly leases: Leases,
    private readonly checkpoints: KeyCheckpoints,
    private readonly health: Health,
    private readonly logger: Logger,
    private readonly name: string,
    private readonly categories: readonly string[],
  ) {}

  onApplicationBootstrap(): void {
    const { store, leases, checkpoints, logger, name, categories } = this;
    let stored: string | undefined;
    const subscription = new CheckpointedSubscription({
      name,
      store,
      leases,
      checkpoints: {
        read: async () => this.known((stored = await checkpoints.read(name))),
        write: async (_, position) => {
          if (!(await checkpoints.write(name, position, stored)))
            throw new StaleEpoch(`the checkpoint of ${name} is no longer ${stored}`);
          stored = position;
        },
      },
      categories,
      handle: async (events) => {
        for (const event of events) await this.destroy(event);
      },
      onError: (error) => logger.error({ reaction: name, error: error.message }, 'reaction failed'),
    });
    this.subscription = subscription.start();
    this.health.follow(name, () => subscription.health);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.subscription?.close();
  }

  /** Destroys the keys that the event names, if any. */
  protected abstract destroy(stored: RecordedEvent): Promise<void>;

  /** Keys that are younger than the events know of destructions that these do not: then all of these are applied again. */
  private async known(position: string | undefined): Promise<string | undefined> {
    const head = await this.store.head();
    const beyond = position !== undefined && (head === undefined || this.store.comparePositions(position, head) > 0);
    return beyond ? undefined : position;
  }
}
