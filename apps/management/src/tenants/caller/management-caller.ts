import type { ManagementContext, MemberAccess } from '@attestry/contracts';
import type { Principal, TenantCaller } from '../tenant/tenant.decisions.js';

export const managementCaller = ({ caller }: ManagementContext): Principal =>
  caller.kind === 'management' ? { kind: 'client', clientId: caller.clientId } : caller;

/** The caller, with the access that the operation declares. */
export const tenantCaller = (context: ManagementContext, { access }: { access: MemberAccess }): TenantCaller => ({
  ...managementCaller(context),
  access,
});
