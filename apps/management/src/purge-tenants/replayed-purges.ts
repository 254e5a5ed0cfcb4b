import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { EventStore, Leases, readEvent, type RecordedEvent } from '@attestry/event-store';
import { KeyCheckpoints, KeyVault } from '@attestry/keys';
import { Health, LOGGER, ReplayedDestructions, type Logger } from '@attestry/service-kit';
import { tenant } from '../tenant/tenant.state.js';

const NAME = 'management.purges';

/** Destroys the keys of purged tenants again. */
@Injectable()
export class ReplayedPurges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly replay: ReplayedDestructions;

  constructor(
    store: EventStore,
    leases: Leases,
    private readonly vault: KeyVault,
    checkpoints: KeyCheckpoints,
    health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.replay = new ReplayedDestructions(store, leases, checkpoints, health, logger, {
      name: NAME,
      categories: [tenant.category],
      destroy: (events) => this.destroy(events),
    });
  }

  onApplicationBootstrap(): void {
    this.replay.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.replay.close();
  }

  private async destroy(events: readonly RecordedEvent[]): Promise<boolean> {
    let destroyed = false;
    for (const stored of events) {
      const event = readEvent(tenant, stored);
      if (event.type !== 'TenantPurged') continue;
      await this.vault.destroyTenant(event.data.tenantId);
      destroyed = true;
    }
    return destroyed;
  }
}
