import { forbidden, type ManagementContext } from '@attestry/contracts';
import type { Principal } from '../tenant/tenant.decisions.js';

export const managementCaller = ({ caller }: ManagementContext): Principal =>
  caller.kind === 'management' ? { kind: 'client', clientId: caller.clientId } : caller;

/** The calling person. @throws 403 for machine clients */
export const callingUser = (context: ManagementContext): string => {
  const { caller } = context;
  if (caller.kind !== 'user') throw forbidden('The operation is for users; the caller is a client');
  return caller.userId;
};
