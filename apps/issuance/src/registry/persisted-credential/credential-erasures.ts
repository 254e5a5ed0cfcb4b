import { Inject, Injectable } from '@nestjs/common';
import { EventStore, Leases, readEvent, type RecordedEvent } from '@attestry/event-store';
import { KeyCheckpoints, Sealing } from '@attestry/keys';
import { Health, LOGGER, ReplayedDestructions, type Logger } from '@attestry/service-kit';
import { persistedCredential } from './persisted-credential.state.js';

/** Destroys the keys of deleted credentials again. */
@Injectable()
export class CredentialErasures extends ReplayedDestructions {
  constructor(
    store: EventStore,
    leases: Leases,
    checkpoints: KeyCheckpoints,
    private readonly sealing: Sealing,
    health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(store, leases, checkpoints, health, logger, 'issuance.credential-erasures', [persistedCredential.category]);
  }

  protected async destroy(stored: RecordedEvent): Promise<void> {
    const event = readEvent(persistedCredential, stored);
    if (event.type === 'PersistedCredentialErased')
      await this.sealing.destroyDataKeys(stored.metadata.tenantId, event.data.destroyedKeys);
  }
}
