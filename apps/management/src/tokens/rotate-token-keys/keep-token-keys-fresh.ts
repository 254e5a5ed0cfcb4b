import { Inject, Injectable } from '@nestjs/common';
import { Leases } from '@attestry/event-store';
import { Health, LOGGER, PeriodicWork, PlatformConfig, type Logger } from '@attestry/service-kit';
import { TokenKeys, type TokenKeyRotation } from '../token-keys/token-keys.js';
import { takeTokenKeyRequest } from './token-key-request.js';

const NAME = 'management.token-keys';
const LONGEST_PAUSE_MS = 60_000;
const SHORTEST_PAUSE_MS = 250;
const POLL_MS = 1000;

/** Replaces the key that signs tokens when it is old enough or when the operator requests it, and retires the keys before it. */
@Injectable()
export class KeepTokenKeysFresh extends PeriodicWork {
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;

  constructor(
    leases: Leases,
    private readonly keys: TokenKeys,
    private readonly config: PlatformConfig,
    health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    // Ten runs in the shortest relevant interval.
    const tenth = (config.tokenKeyLeadSeconds * 1000) / 10;
    super(leases, health, logger, {
      name: NAME,
      failure: 'rotating token keys failed',
      pauseMs: Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, tenth)),
    });
  }

  override onApplicationBootstrap(): void {
    super.onApplicationBootstrap();
    // A folder belongs to one process, so that a request needs no lease.
    if (this.config.hasDataFolder) this.timer = setInterval(() => void this.poll(), POLL_MS).unref();
  }

  override async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.polling;
    await super.beforeApplicationShutdown();
  }

  async runJob(): Promise<void> {
    const rotation = await this.keys.keepFresh();
    if (rotation) this.log(rotation, 'token key rotated by schedule');
  }

  private poll(): Promise<void> {
    this.polling ??= takeTokenKeyRequest(this.config.dataDir, async () => {
      const rotation = await this.keys.rotate();
      this.log(rotation, 'token key rotated on request');
      return rotation;
    })
      .catch((error: unknown) => this.logger.error({ error: String(error) }, 'rotating token keys failed'))
      .finally(() => (this.polling = undefined));
    return this.polling;
  }

  private log({ kid, signsFrom }: TokenKeyRotation, message: string): void {
    this.logger.info({ kid, signsFrom }, message);
  }
}
