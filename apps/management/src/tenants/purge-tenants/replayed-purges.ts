import { Inject, Injectable } from '@nestjs/common';
import { EventStore, Leases, readEvent, type RecordedEvent } from '@attestry/event-store';
import { KeyCheckpoints, KeyVault } from '@attestry/keys';
import { Health, LOGGER, ReplayedDestructions, type Logger } from '@attestry/service-kit';
import { tenant } from '../tenant/tenant.state.js';

/** Destroys the keys of purged tenants again. */
@Injectable()
export class ReplayedPurges extends ReplayedDestructions {
  constructor(
    store: EventStore,
    leases: Leases,
    private readonly vault: KeyVault,
    checkpoints: KeyCheckpoints,
    health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(store, leases, checkpoints, health, logger, 'management.purges', [tenant.category]);
  }

  protected async destroy(stored: RecordedEvent): Promise<void> {
    const event = readEvent(tenant, stored);
    if (event.type === 'TenantPurged') await this.vault.destroyTenant(event.data.tenantId);
  }
}
