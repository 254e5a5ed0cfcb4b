import { checkPublicCalls } from './apply-rate.js';
import type { Exchange } from './exchange.js';
import type { Services } from './services.js';

type Used = Pick<Services, 'hosts' | 'routes' | 'rates'>;

/**
 * Which API the Host header names, and which tenant; neither where nothing is served.
 * @throws AppError 429 before a look-up for an address over its public limit; 503 when management cannot be reached
 */
export const resolveHost = async (exchange: Exchange, services: Used): Promise<void> => {
  exchange.host = await services.hosts.resolve(exchange.hostHeader, exchange.deadline, () => {
    exchange.shape = services.routes.expectedShape(exchange);
    return checkPublicCalls(exchange, services);
  });
};
