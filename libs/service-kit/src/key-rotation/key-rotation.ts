import type { EventContext } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import type { SelectiveProjection } from '@attestry/read-model';
import type { ServiceName } from '@attestry/contracts';
import type { PlatformConfig } from '../config/config.js';
import { serviceContext } from '../operations/event-context.js';
import { DueRowsJob, type DueRows, type DueRowsEngines } from '../followers/due-rows.js';
import type { PublishedKeyRow, PublishedKeyTables } from './published-keys.js';

const LONGEST_PAUSE_MS = 60_000;
const SHORTEST_PAUSE_MS = 250;
const DAY_MS = 86_400_000;

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

export interface KeyRotationOptions extends DueRowsEngines {
  /** Name of the lease and in readiness; permanent. */
  name: `${ServiceName}.${string}`;
  /** Kind of the keys, in the log. */
  kind: string;
  keys: RotatedKeys;
  /** With the one table of {@link publishedKeys}. */
  projection: SelectiveProjection<PublishedKeyTables>;
  config: Pick<PlatformConfig, 'tenantKeyDays' | 'tenantKeyLeadSeconds' | 'tenantKeyOverlapSeconds'>;
}

/** Replaces keys that are older than configured, and retires those whose overlap is over. */
export abstract class KeyRotation extends DueRowsJob<PublishedKeyTables> {
  constructor({ name, kind, keys, projection, config, ...engines }: KeyRotationOptions) {
    const table = projection.tables[0]!;
    const key = ['tenant_id', 'id'] as const;
    // Ten runs in the shortest relevant interval.
    const tenth = (Math.min(config.tenantKeyLeadSeconds, config.tenantKeyOverlapSeconds) * 1000) / 10;
    const ended: DueRows<PublishedKeyRow> = {
      table,
      key,
      order: 'published_until',
      dueUpTo: (now) => now,
      handle: async ({ tenant_id: tenantId }) => {
        await keys.retire(tenantId, serviceContext(name, tenantId));
        return 'keep';
      },
      failure: `${kind} key not retired`,
      recovery: `${kind} key no longer fails to be retired`,
    };
    const old: DueRows<PublishedKeyRow> = {
      table,
      key,
      order: 'signs_from',
      dueUpTo: (now) => (config.tenantKeyDays ? new Date(now.getTime() - config.tenantKeyDays * DAY_MS) : undefined),
      also: { column: 'published_until', is: 'null' },
      handle: async ({ tenant_id: tenantId }) => {
        try {
          const { kid, signsFrom } = await keys.rotate(tenantId, serviceContext(name, tenantId));
          engines.logger.info({ tenantId, kid, signsFrom }, `${kind} key rotated by schedule`);
        } catch (error) {
          // The tenant was deleted after the rows were read.
          if (!(error instanceof KeyNotFound)) throw error;
        }
        return 'keep';
      },
      failure: `${kind} key not rotated`,
      recovery: `${kind} key no longer fails to be rotated`,
    };
    super(engines, {
      name,
      failure: `rotating ${kind} keys failed`,
      pauseMs: Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, tenth)),
      projection,
      rows: [ended, old],
    });
  }
}
