import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Leases, type Clock, type Term } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { ReadModels, type RunningProjection } from '@attestry/read-model';
import {
  CLOCK,
  Health,
  LOGGER,
  PeriodicWork,
  PlatformConfig,
  serviceContext,
  startProjection,
  type Logger,
} from '@attestry/service-kit';
import { keysProjection, type KeyTables } from '../webhook-keys/keys.projection.js';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';

const NAME = 'webhooks.key-rotation';
const LONGEST_PAUSE_MS = 60_000;
const SHORTEST_PAUSE_MS = 250;
const DAY_MS = 86_400_000;
/** Tenants of one run; the next runs do the others. */
const MOST = 100;

/** Replaces keys that are older than configured, and retires those whose overlap is over. */
@Injectable()
export class KeepKeysFresh extends PeriodicWork implements OnModuleInit {
  private projected!: RunningProjection<KeyTables>;

  constructor(
    private readonly readModels: ReadModels,
    leases: Leases,
    private readonly keys: WebhookKeys,
    private readonly config: PlatformConfig,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    // Ten runs in the shortest relevant interval.
    const { webhookKeyLeadSeconds, webhookKeyOverlapSeconds } = config;
    const tenth = (Math.min(webhookKeyLeadSeconds, webhookKeyOverlapSeconds) * 1000) / 10;
    super(leases, health, logger, {
      name: NAME,
      failure: 'rotating webhook keys failed',
      pauseMs: Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, tenth)),
    });
  }

  async onModuleInit(): Promise<void> {
    this.projected = await startProjection(this.readModels, this.health, keysProjection);
  }

  async runJob(term: Term): Promise<void> {
    const now = this.clock.now().toISOString();
    const over = await this.tenants((query) => query.where('published_until', '<=', now));
    for (const tenantId of over) if (term.isHeld) await this.keys.retire(tenantId, serviceContext(NAME, tenantId));
    const { webhookKeyDays } = this.config;
    if (!webhookKeyDays) return;
    const old = new Date(Date.parse(now) - webhookKeyDays * DAY_MS).toISOString();
    const stale = await this.tenants((query) =>
      query.where('published_until', 'is', null).where('signs_from', '<=', old),
    );
    for (const tenantId of stale) if (term.isHeld) await this.replace(tenantId);
  }

  private async replace(tenantId: string): Promise<void> {
    try {
      const { kid, signsFrom } = await this.keys.rotate(tenantId, serviceContext(NAME, tenantId));
      this.logger.info({ tenantId, kid, signsFrom }, 'webhook key rotated by schedule');
    } catch (error) {
      // The tenant was deleted after the rows were read.
      if (error instanceof KeyNotFound) return;
      throw error;
    }
  }

  private async tenants(
    where: (query: ReturnType<typeof this.rows>) => ReturnType<typeof this.rows>,
  ): Promise<string[]> {
    const rows = await where(this.rows()).execute();
    return [...new Set(rows.map(({ tenant_id: tenantId }) => tenantId))];
  }

  private rows() {
    return this.projected.db.selectFrom('webhook_key').select('tenant_id').limit(MOST);
  }
}
