import { forbidden, type OperationContext } from '@attestry/contracts';

/** The management client that calls. The gateway lets nobody else in; were that to change, this would be a 403. */
export const managementCaller = ({ caller }: OperationContext): string => {
  if (caller.kind !== 'management') throw forbidden();
  return caller.clientId;
};
