import { checkPublicCalls, refuse } from './apply-rate.js';
import type { Routed } from './exchange.js';
import type { Services } from './services.js';

type Used = Pick<Services, 'authenticate' | 'rates'>;

/**
 * Access token → client of the tenant, client of the management API, or user.
 * @throws AppError 401; 429 for an address over its public limit; 503 when the token cannot be checked
 */
export const identifyCaller = async (exchange: Routed, services: Used): Promise<void> => {
  const { plan, host, request, deadline } = exchange;
  const { authorization } = request.headers;
  const beforeCheck = () => checkPublicCalls(exchange, services);
  try {
    exchange.caller = await services.authenticate.caller(plan.operation, host, authorization, deadline, beforeCheck);
  } catch (error) {
    // Unauthenticated callers are counted by address, so that guessing tokens is limited too.
    await refuse(exchange, services, error);
  }
};
