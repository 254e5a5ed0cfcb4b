import type { Dependencies } from './dependencies.js';
import type { Identified } from './exchange.js';

/** The caller has one of the roles that the operation requires. @throws AppError 403; 503 when the roles are not known by the deadline */
export const authorize = (
  { plan, host, caller, deadline }: Identified,
  { authenticate }: Pick<Dependencies, 'authenticate'>,
): Promise<void> => authenticate.authorize(plan.operation, host, caller, deadline);
