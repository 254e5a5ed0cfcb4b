import { Inject, Injectable } from '@nestjs/common';
import { Leases, type Clock } from '@attestry/event-store';
import { ReadModels } from '@attestry/read-model';
import { CLOCK, Health, KeyRotation, LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import { keysProjection } from '../webhook-keys/keys.projection.js';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';

@Injectable()
export class KeepKeysFresh extends KeyRotation {
  constructor(
    readModels: ReadModels,
    leases: Leases,
    keys: WebhookKeys,
    config: PlatformConfig,
    health: Health,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    const engines = { readModels, leases, config, health, clock, logger };
    super({ name: 'webhooks.key-rotation', kind: 'webhook', keys, projection: keysProjection, ...engines });
  }
}
