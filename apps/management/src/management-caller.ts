import { forbidden, invalidBody, type OperationContext } from '@attestry/contracts';

/** The management client that calls. The gateway lets nobody else in; were that to change, this would be a 403. */
export const managementCaller = ({ caller }: OperationContext): string => {
  if (caller.kind !== 'management') throw forbidden();
  return caller.clientId;
};

/** Control characters do not belong in a name, and a lone surrogate has no UTF-8 form that could be stored. */
export const checkName = (name: string): void => {
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) throw invalidBody('name', 'Invalid value');
};
