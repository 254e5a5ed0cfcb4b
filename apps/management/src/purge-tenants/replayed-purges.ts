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
import { tenant } from '../tenant/tenant.state.js';

const NAME = 'management.purges';

/**
 * Destroys the keys of purged tenants once more, as issuance does those of deleted users: how far it came is kept in the key store
 * itself, so that a restored older copy has them destroyed again before the process is ready (decision 27).
 */
@Injectable()
export class ReplayedPurges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private subscription: CheckpointedSubscription | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly leases: Leases,
    private readonly vault: KeyVault,
    private readonly health: Health,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const checkpoints: Checkpoints = {
      read: (name) => this.known(name),
      write: (name, position) => this.vault.setCheckpoint(name, position),
    };
    const subscription = new CheckpointedSubscription({
      name: NAME,
      store: this.store,
      leases: this.leases,
      checkpoints,
      categories: [tenant.category],
      handle: (events) => this.destroy(events),
      onError: (error) => this.logger.error({ reaction: NAME, error: error.message }, 'reaction failed'),
    });
    this.subscription = subscription.start();
    this.health.follow(NAME, () => subscription.health);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.subscription?.close();
  }

  /** Keys that are younger than the events know of endings that these do not: then all of these are applied again. */
  private async known(name: string): Promise<string | undefined> {
    const position = await this.vault.checkpoint(name);
    const head = await this.store.head();
    const beyond = position !== undefined && (head === undefined || this.store.comparePositions(position, head) > 0);
    return beyond ? undefined : position;
  }

  private async destroy(events: readonly RecordedEvent[]): Promise<void> {
    for (const stored of events) {
      const event = readEvent(tenant, stored);
      if (event.type === 'TenantPurged') await this.vault.destroyTenant(event.data.tenantId);
    }
  }
}
