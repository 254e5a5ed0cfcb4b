import type { Streams } from '@attestry/event-store';
import { requireMember, type TenantCaller } from './tenant.decisions.js';
import { tenant, tenantStream, type ActiveTenant } from './tenant.state.js';

/** @throws AppError as `requireMember` */
export const loadTenant = async (streams: Streams, tenantId: string, caller: TenantCaller): Promise<ActiveTenant> =>
  requireMember((await streams.load(tenant, tenantStream(tenantId))).state, caller).tenant;
