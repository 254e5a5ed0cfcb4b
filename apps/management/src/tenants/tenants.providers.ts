import { TenantDirectory } from './directory/tenant-directory.js';
import { PurgeTenants } from './purge-tenants/purge-tenants.js';
import { ReplayedPurges } from './purge-tenants/replayed-purges.js';
import { TenantChanges } from './tenant-changes/tenant-changes.js';
import { TenantListsReadModel } from './tenant-lists/tenant-lists.read-model.js';

export const tenantsProviders = [TenantDirectory, TenantListsReadModel, TenantChanges, PurgeTenants, ReplayedPurges];
