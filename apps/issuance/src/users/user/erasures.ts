import { Inject, Injectable } from '@nestjs/common';
import { EventStore, Leases, readEvent, type RecordedEvent } from '@attestry/event-store';
import { KeyCheckpoints, Sealing } from '@attestry/keys';
import { Health, LOGGER, ReplayedDestructions, type Logger } from '@attestry/service-kit';
import { user } from './user.state.js';

/** Destroys the keys of deleted users again. */
@Injectable()
export class Erasures extends ReplayedDestructions {
  constructor(
    store: EventStore,
    leases: Leases,
    checkpoints: KeyCheckpoints,
    private readonly sealing: Sealing,
    health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(store, leases, checkpoints, health, logger, 'issuance.erasures', [user.category]);
  }

  protected async destroy(stored: RecordedEvent): Promise<void> {
    const event = readEvent(user, stored);
    if (event.type === 'UserDeleted')
      await this.sealing.destroyDataKeys(stored.metadata.tenantId, event.data.destroyedKeys);
  }
}
