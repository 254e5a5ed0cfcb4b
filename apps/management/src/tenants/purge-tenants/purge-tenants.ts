import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Leases, Streams, type Clock, type Term } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
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
import { purgedUpTo, purgeTenant } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';
import { deletedTenants, type DeletedTenantTables } from './deleted-tenants.projection.js';

const NAME = 'management.purge';
const PAUSE_MS = 60_000;
/** Tenants of one run; the next runs do the others. */
const MOST = 100;

/**
 * Purges tenants that were deleted `TENANT_PURGE_DAYS` ago. The keys are destroyed first: everything sealed becomes unreadable, in events,
 * read models and copies of them alike. Then `TenantPurged` is appended, and the other services delete their rows. After a crash between
 * the two the run is repeated: destroying a destroyed key is no error. A process that was paused and has lost the lease does no harm: the
 * stream refuses its event at the expected revision.
 */
@Injectable()
export class PurgeTenants extends PeriodicWork implements OnModuleInit {
  private projected!: RunningProjection<DeletedTenantTables>;

  constructor(
    private readonly readModels: ReadModels,
    leases: Leases,
    private readonly streams: Streams,
    private readonly vault: KeyVault,
    private readonly config: PlatformConfig,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(leases, health, logger, {
      name: NAME,
      failure: 'purging tenants failed',
      pauseMs: PAUSE_MS,
    });
  }

  async onModuleInit(): Promise<void> {
    this.projected = await startProjection(this.readModels, this.health, deletedTenants);
  }

  async runJob(term: Term): Promise<void> {
    const due = await this.projected.db
      .selectFrom('deleted_tenant')
      .select('id')
      .where('deleted_at', '<=', purgedUpTo(this.clock.now(), this.config.tenantPurgeDays))
      .orderBy('deleted_at')
      .limit(MOST)
      .execute();
    for (const { id } of due) if (term.isHeld) await this.purge(id);
  }

  private async purge(tenantId: string): Promise<void> {
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    // The list may lag; keys of a tenant that is not deleted are never destroyed.
    if (state.status !== 'deleted') return;
    await this.vault.destroyTenant(tenantId);
    await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (current) => purgeTenant(current, { tenantId }, { now: this.clock.now().toISOString() }),
      serviceContext(NAME, tenantId),
    );
    this.logger.info({ tenantId }, 'tenant purged');
  }
}
