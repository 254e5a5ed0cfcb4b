import { checkRequest } from '@attestry/service-kit';
import type { Admitted } from './exchange.js';
import { readRequest } from './read-request.js';

/** The request in the shape that its operation declares. @throws AppError 400, 413, 415 */
export const checkShape = (exchange: Admitted): void => {
  exchange.checked = checkRequest(exchange.plan.operation, exchange.sent ?? readRequest(exchange));
};
