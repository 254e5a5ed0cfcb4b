import { Inject, Injectable } from '@nestjs/common';
import { Leases, type Clock } from '@attestry/event-store';
import { ReadModels } from '@attestry/read-model';
import { CLOCK, Health, KeyRotation, LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import { clientKeysProjection } from './client-keys.projection.js';
import { ClientKeys } from './client-keys.js';

@Injectable()
export class KeepClientKeysFresh extends KeyRotation {
  constructor(
    readModels: ReadModels,
    leases: Leases,
    keys: ClientKeys,
    config: PlatformConfig,
    health: Health,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    const engines = { readModels, leases, config, health, clock, logger };
    super({ name: 'tenant-config.key-rotation', kind: 'client', keys, projection: clientKeysProjection, ...engines });
  }
}
