import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { EventStore, Leases, readEvent, type RecordedEvent } from '@attestry/event-store';
import { KeyCheckpoints, Sealing } from '@attestry/keys';
import { Health, LOGGER, ReplayedDestructions, type Logger } from '@attestry/service-kit';
import { user } from './user.state.js';

const NAME = 'issuance.erasures';

/** Destroys the keys of deleted users again. */
@Injectable()
export class Erasures implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly replay: ReplayedDestructions;

  constructor(
    store: EventStore,
    leases: Leases,
    checkpoints: KeyCheckpoints,
    private readonly sealing: Sealing,
    health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.replay = new ReplayedDestructions(store, leases, checkpoints, health, logger, {
      name: NAME,
      categories: [user.category],
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
      const event = readEvent(user, stored);
      if (event.type !== 'UserDeleted') continue;
      await this.sealing.destroyDataKeys(stored.metadata.tenantId, event.data.destroyedKeys);
      destroyed = true;
    }
    return destroyed;
  }
}
