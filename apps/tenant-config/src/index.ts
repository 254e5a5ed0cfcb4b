import type { ServiceDefinition } from '@attestry/service-kit';
import { clientKeysProjection } from './client-keys/client-keys.projection.js';
import { TenantConfigModule } from './tenant-config.module.js';
import { PUBLISHED } from './tenant-config.reactions.js';

export const tenantConfigService: ServiceDefinition = {
  name: 'tenant-config',
  needs: ['domain', 'keys'],
  publishes: PUBLISHED.map(({ category }) => category),
  module: TenantConfigModule,
  projections: [{ projection: clientKeysProjection, follows: 'domain' }],
};
