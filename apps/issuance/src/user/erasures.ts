import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  CheckpointedSubscription,
  EventStore,
  Leases,
  readEvent,
  type Checkpoints,
  type RecordedEvent,
} from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { Health, LOGGER, type Logger } from '@attestry/service-kit';
import { user } from './user.state.js';

const NAME = 'issuance.erasures';
/** Batches without a deletion cost the key store a write only so often; read again they do no harm. */
const WRITE_EVERY = 256;

/**
 * Destroys the keys of deleted users once more. How far it came is kept in the key store itself: a restored older copy
 * brings its older position, and the deletions since then are replayed before the process is ready (decision 27).
 */
@Injectable()
export class Erasures implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private subscription: CheckpointedSubscription | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly leases: Leases,
    private readonly vault: KeyVault,
    private readonly health: Health,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    let unwritten = 0;
    const checkpoints: Checkpoints = {
      read: (name) => this.known(name),
      write: async (name, position) => {
        if (unwritten++ % WRITE_EVERY === 0) await this.vault.setCheckpoint(name, position);
      },
    };
    const subscription = new CheckpointedSubscription({
      name: NAME,
      store: this.store,
      leases: this.leases,
      checkpoints,
      categories: [user.category],
      handle: async (events) => {
        if (await this.erase(events)) unwritten = 0;
      },
      onError: (error) => this.logger.error({ reaction: NAME, error: error.message }, 'reaction failed'),
    });
    this.subscription = subscription.start();
    this.health.follow(NAME, () => subscription.health);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.subscription?.close();
  }

  /** Keys that are younger than the events know of erasures that these do not: then all of these are applied again. */
  private async known(name: string): Promise<string | undefined> {
    const position = await this.vault.checkpoint(name);
    const head = await this.store.head();
    const beyond = position !== undefined && (head === undefined || this.store.comparePositions(position, head) > 0);
    return beyond ? undefined : position;
  }

  private async erase(events: readonly RecordedEvent[]): Promise<boolean> {
    let erased = false;
    for (const stored of events) {
      const event = readEvent(user, stored);
      if (event.type !== 'UserDeleted') continue;
      await this.vault.destroy(stored.metadata.tenantId, event.data.destroyedKeys);
      erased = true;
    }
    return erased;
  }
}
