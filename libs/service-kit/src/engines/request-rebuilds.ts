import { join } from 'node:path';
import { requestRebuild } from '@attestry/read-model';
import type { PlatformConfig } from '../config/config.js';
import type { ServiceProjection } from '../process/service-definition.js';
import { databases } from './databases.js';

/** Store of the read models over either kind of events. */
const NAMES = { domain: 'read-models', operations: 'analytics' } as const;

/** Requests the rebuild of projections in the configured store of read models; see `requestRebuild`. */
export const requestRebuilds = async (
  config: PlatformConfig,
  projections: readonly ServiceProjection[],
): Promise<void> => {
  for (const follows of ['domain', 'operations'] as const) {
    const own = projections.filter((it) => it.follows === follows).map(({ projection }) => projection);
    const name = NAMES[follows];
    const database = databases(config)?.[name] ?? { file: join(config.dataDir, `${name}.db`) };
    if (own.length) await requestRebuild(database, own);
  }
};
