import { forbidden, type OperationContext } from '@attestry/contracts';
import type { Principal } from '../tenant/tenant.decisions.js';

/** Who calls the management API. The gateway lets nobody else in; were that to change, this would be a 403. */
export const managementCaller = ({ caller }: OperationContext): Principal => {
  switch (caller.kind) {
    case 'management':
      return { kind: 'client', clientId: caller.clientId };
    case 'user':
      return { kind: 'user', userId: caller.userId };
    case 'client':
    case 'holder':
    case 'public':
    case 'service':
      throw forbidden();
  }
};

/** The person who calls. @throws 403 for machine clients */
export const callingUser = (context: OperationContext): string => {
  const caller = managementCaller(context);
  if (caller.kind !== 'user') throw forbidden();
  return caller.userId;
};
