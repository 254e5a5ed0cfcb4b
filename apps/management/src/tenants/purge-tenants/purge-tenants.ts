import { Inject, Injectable } from '@nestjs/common';
import { Leases, Streams, type Clock } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { ReadModels } from '@attestry/read-model';
import {
  CLOCK,
  DueRowsJob,
  Health,
  LOGGER,
  PlatformConfig,
  serviceContext,
  type DueRows,
  type Logger,
} from '@attestry/service-kit';
import { purgedUpTo, purgeTenant } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';
import { deletedTenants, type DeletedTenantTables } from './deleted-tenants.projection.js';

const NAME = 'management.purge';
const PAUSE_MS = 60_000;

/**
 * Purges tenants that were deleted `TENANT_PURGE_DAYS` ago. The keys are destroyed first: everything sealed becomes unreadable, in events,
 * read models and copies of them alike. Then `TenantPurged` is appended, and the other services delete their rows. After a crash between
 * the two the run is repeated: destroying a destroyed key is no error. A process that was paused and has lost the lease does no harm: the
 * stream refuses its event at the expected revision.
 */
@Injectable()
export class PurgeTenants extends DueRowsJob<DeletedTenantTables> {
  constructor(
    readModels: ReadModels,
    leases: Leases,
    streams: Streams,
    vault: KeyVault,
    config: PlatformConfig,
    health: Health,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    const deleted: DueRows<DeletedTenantTables['deleted_tenant']> = {
      table: 'deleted_tenant',
      key: ['id'],
      order: 'deleted_at',
      dueUpTo: (now) => new Date(purgedUpTo(now, config.tenantPurgeDays)),
      async handle({ id: tenantId }) {
        const { state } = await streams.load(tenant, tenantStream(tenantId));
        // The list may lag; keys of a tenant that is not deleted are never destroyed.
        if (state.status !== 'deleted') return 'keep';
        await vault.destroyTenant(tenantId);
        await streams.runDecision(
          tenant,
          tenantStream(tenantId),
          (current) => purgeTenant(current, { tenantId }, { now: clock.now().toISOString() }),
          serviceContext(NAME, tenantId),
        );
        logger.info({ tenantId }, 'tenant purged');
        return 'keep';
      },
      failure: 'tenant not purged',
      recovery: 'tenant no longer fails to be purged',
    };
    super(
      { readModels, leases, health, clock, logger },
      {
        name: NAME,
        failure: 'purging tenants failed',
        pauseMs: PAUSE_MS,
        projection: deletedTenants,
        rows: [deleted],
      },
    );
  }
}
