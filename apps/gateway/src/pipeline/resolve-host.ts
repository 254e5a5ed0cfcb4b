import { checkPublicCalls } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Exchange } from './exchange.js';

type Used = Pick<Dependencies, 'hosts' | 'routes' | 'rates'>;

/**
 * Which API the Host header names, and which tenant; neither where nothing is served.
 * @throws AppError 429 before a look-up for an address over its public limit; 503 when management cannot be reached
 */
export const resolveHost = async (exchange: Exchange, deps: Used): Promise<void> => {
  exchange.host = await deps.hosts.resolve(exchange.hostHeader, exchange.deadline, () => {
    exchange.shape = deps.routes.expectedShape(exchange);
    return checkPublicCalls(exchange, deps);
  });
};
