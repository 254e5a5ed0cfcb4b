import type { ManagementContext } from '@attestry/contracts';
import type { Streams } from '@attestry/event-store';
import { managementCaller } from '../caller/management-caller.js';
import { requireAdmin } from './tenant.decisions.js';
import { tenant, tenantStream, type ActiveTenant } from './tenant.state.js';

/** @throws AppError for a caller who may not administer the tenant */
export const loadAdministeredTenant = async (
  streams: Streams,
  tenantId: string,
  context: ManagementContext,
): Promise<ActiveTenant> =>
  requireAdmin((await streams.load(tenant, tenantStream(tenantId))).state, managementCaller(context));
