import { checkPublicCalls, refuse } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Routed } from './exchange.js';

type Used = Pick<Dependencies, 'authenticate' | 'rates'>;

/**
 * Access token → client of the tenant, client of the management API, or user.
 * @throws AppError 401; 429 for an address over its public limit; 503 when the token cannot be checked
 */
export const identifyCaller = async (exchange: Routed, deps: Used): Promise<void> => {
  const { plan, host, request, deadline } = exchange;
  const { authorization } = request.headers;
  const beforeCheck = () => checkPublicCalls(exchange, deps);
  try {
    exchange.caller = await deps.authenticate.caller(plan.operation, host, authorization, deadline, beforeCheck);
  } catch (error) {
    // Unauthenticated callers are counted by address, so that guessing tokens is limited too.
    await refuse(exchange, deps, error);
  }
};
