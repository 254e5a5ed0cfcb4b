import type { OnModuleInit } from '@nestjs/common';
import type { Clock, EventContext, Leases, Term } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import type { ReadModels, RunningProjection, SelectiveProjection } from '@attestry/read-model';
import type { ServiceName } from '@attestry/contracts';
import type { PlatformConfig } from '../config/config.js';
import { serviceContext } from '../operations/event-context.js';
import type { Health } from '../process/health.js';
import type { Logger } from '../process/logger.js';
import { PeriodicWork } from '../followers/periodic-work.js';
import { startProjection } from '../followers/read-model.js';
import type { PublishedKeyTables } from './published-keys.projection.js';

const LONGEST_PAUSE_MS = 60_000;
const SHORTEST_PAUSE_MS = 250;
const DAY_MS = 86_400_000;
/** Tenants of one run; the next runs do the others. */
const MOST = 100;

/** Keys of tenants that third parties cache. */
export interface RotatedKeys {
  /**
   * A new key after the one that signs, published before it signs.
   * @returns the newest key
   * @throws KeyNotFound when the tenant's keys were destroyed
   */
  rotate(tenantId: string, context: EventContext): Promise<{ kid: string; signsFrom: string }>;
  /** Destroys the keys whose overlap is over. */
  retire(tenantId: string, context: EventContext): Promise<void>;
}

export interface KeyRotationOptions {
  /** Name of the lease and in readiness; permanent. */
  name: `${ServiceName}.${string}`;
  /** Kind of the keys, in the log. */
  kind: string;
  keys: RotatedKeys;
  /** Result of {@link publishedKeysProjection}, with its one table. */
  projection: SelectiveProjection<PublishedKeyTables>;
  readModels: ReadModels;
  leases: Leases;
  config: Pick<PlatformConfig, 'webhookKeyDays' | 'webhookKeyLeadSeconds' | 'webhookKeyOverlapSeconds'>;
  health: Health;
  clock: Clock;
  logger: Logger;
}

/** Replaces keys that are older than configured, and retires those whose overlap is over. */
export abstract class KeyRotation extends PeriodicWork implements OnModuleInit {
  private projected!: RunningProjection<PublishedKeyTables>;

  constructor(private readonly rotation: KeyRotationOptions) {
    const { name, kind, leases, health, logger, config } = rotation;
    // Ten runs in the shortest relevant interval.
    const tenth = (Math.min(config.webhookKeyLeadSeconds, config.webhookKeyOverlapSeconds) * 1000) / 10;
    super(leases, health, logger, {
      name,
      failure: `rotating ${kind} keys failed`,
      pauseMs: Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, tenth)),
    });
  }

  async onModuleInit(): Promise<void> {
    const { readModels, projection } = this.rotation;
    this.projected = await startProjection(readModels, this.health, projection);
  }

  async runJob(term: Term): Promise<void> {
    const { clock, config, keys, name } = this.rotation;
    const now = clock.now().toISOString();
    const over = await this.tenants((query) => query.where('published_until', '<=', now));
    for (const tenantId of over) if (term.isHeld) await keys.retire(tenantId, serviceContext(name, tenantId));
    if (!config.webhookKeyDays) return;
    const old = new Date(Date.parse(now) - config.webhookKeyDays * DAY_MS).toISOString();
    const stale = await this.tenants((query) =>
      query.where('published_until', 'is', null).where('signs_from', '<=', old),
    );
    for (const tenantId of stale) if (term.isHeld) await this.replace(tenantId);
  }

  private async replace(tenantId: string): Promise<void> {
    const { name, kind, keys } = this.rotation;
    try {
      const { kid, signsFrom } = await keys.rotate(tenantId, serviceContext(name, tenantId));
      this.logger.info({ tenantId, kid, signsFrom }, `${kind} key rotated by schedule`);
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
    const [table] = this.rotation.projection.tables;
    return this.projected.db.selectFrom(table!).select('tenant_id').limit(MOST);
  }
}
